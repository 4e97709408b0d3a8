// RUN: graph-opt %s -split-input-file -verify-diagnostics

// Elements that no kernel knows are refused by every op, whatever else it takes.

func.func @float_of_8_bits(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error@below {{'tarpon.relu' op expects elements that kernels know: i1, i8 to i64, f16, bf16, f32, f64 or quantised ones of 8 bits, got 'f8E4M3FN'}}
  %0 = tarpon.relu %x : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @integer_of_4_bits(%x: tensor<1x4x4xi4>) -> tensor<1x4x4xi4> {
  // expected-error@below {{got 'i4'}}
  %0 = tarpon.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x4xi4>) -> tensor<1x4x4xi4>
  return %0 : tensor<1x4x4xi4>
}

// -----

func.func @quantised_to_16_bits(%x: tensor<4x!quant.uniform<i16:f32, 0.5>>) -> tensor<4xf32> {
  // expected-error@below {{got '!quant.uniform<i16:f32, 5.000000e-01>'}}
  %0 = tarpon.convert %x : (tensor<4x!quant.uniform<i16:f32, 0.5>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @converted_to_8_bits(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {
  // expected-error@below {{got 'f8E5M2'}}
  %0 = tarpon.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
