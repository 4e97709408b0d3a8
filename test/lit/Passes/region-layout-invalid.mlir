// RUN: graph-opt %s -tarpon-assign-layout -split-input-file -verify-diagnostics -mlir-print-op-on-diagnostic=false
// RUN: graph-opt %s -tarpon-split-transposes -split-input-file -verify-diagnostics -mlir-print-op-on-diagnostic=false

func.func @unknown_name(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{'tarpon.fused' op expects tarpon.layout to be nchw, nhwc or blocked as nchw16c, got "chwn"}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> attributes {tarpon.layout = "chwn"} {
    %1 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @no_name(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{'tarpon.fused' op expects tarpon.layout to be nchw, nhwc or blocked as nchw16c, got 8 : i64}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> attributes {tarpon.layout = 8 : i64} {
    %1 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
