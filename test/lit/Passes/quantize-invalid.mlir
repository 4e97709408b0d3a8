// RUN: graph-opt %s -tarpon-quantize -split-input-file -verify-diagnostics -mlir-print-op-on-diagnostic=false

func.func @region_without_range(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{'tarpon.fused' op result needs an attribute tarpon.range of two numbers, the lower one first}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    %2 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %2 : tensor<2xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<2xf32>) -> tensor<2xf32> {
    %2 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %2 : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}

// -----

func.func @region_with_reversed_range(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{result needs an attribute tarpon.range of two numbers, the lower one first}}
  %0 = tarpon.fused(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> attributes {tarpon.range = array<f32: 1.0, -1.0>} {
    %2 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %2 : tensor<2xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<2xf32>) -> tensor<2xf32> {
    %2 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %2 : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}

// -----

// expected-error@below {{argument 0 needs an attribute tarpon.range of two numbers, the lower one first}}
func.func @argument_without_range(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
    %2 = tarpon.global_max_pool %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    tarpon.yield %2 : tensor<1x2x1x1xf32>
  }
  return %0 : tensor<1x2x1x1xf32>
}

// -----

func.func @means_of_other_channels(%x: tensor<4x2xf32> {tarpon.range = array<f32: 0.0, 1.0>}) -> tensor<4x1xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x1xf32>} : tensor<2x1xf32>
  // expected-error@below {{has means of 3 channels for a filter that reads 2}}
  %0 = tarpon.fused(%a = %x, %aw = %w) : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32> attributes {tarpon.input_means = array<f32: 1.0, 1.0>, tarpon.stored_means = array<f32: 1.0, 1.0, 1.0>} {
    %2 = tarpon.matmul %a, %aw : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
    tarpon.yield %2 : tensor<4x1xf32>
  }
  return %0 : tensor<4x1xf32>
}
