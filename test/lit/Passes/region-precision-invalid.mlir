// RUN: graph-opt %s -tarpon-quantize -split-input-file -verify-diagnostics -mlir-print-op-on-diagnostic=false
// RUN: graph-opt %s -tarpon-assign-dtype -split-input-file -verify-diagnostics -mlir-print-op-on-diagnostic=false

func.func @unknown_name(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{'tarpon.fused' op expects tarpon.precision to be fp32, fp16, bf16 or int8, got "fp8"}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> attributes {tarpon.precision = "fp8"} {
    %1 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @no_name(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{'tarpon.fused' op expects tarpon.precision to be fp32, fp16, bf16 or int8, got 8 : i64}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> attributes {tarpon.precision = 8 : i64} {
    %1 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
