// RUN: graph-opt %s -split-input-file -verify-diagnostics

// Regions of elements that no kernel knows are refused, and not computed in
// others. C7

func.func @float_of_6_bits(%x: tensor<4xf6E2M3FN>) -> tensor<4xf6E2M3FN> {
  // expected-error@below {{'tarpon.fused' op expects elements that kernels know: i1, i2, i4, i8 to i64, f4E2M1FN, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, f16, bf16, f32, f64 or quantised ones of 8 bits, got 'tensor<4xf6E2M3FN>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf6E2M3FN>) -> tensor<4xf6E2M3FN> {
    %1 = tarpon.relu %a : (tensor<4xf6E2M3FN>) -> tensor<4xf6E2M3FN>
    tarpon.yield %1 : tensor<4xf6E2M3FN>
  }
  return %0 : tensor<4xf6E2M3FN>
}

// -----

func.func @result_of_6_bits(%x: tensor<4xf32>) -> tensor<4xf6E3M2FN> {
  // expected-error@below {{got 'tensor<4xf6E3M2FN>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf6E3M2FN> {
    %1 = tarpon.convert %a : tensor<4xf32> -> tensor<4xf6E3M2FN>
    tarpon.yield %1 : tensor<4xf6E3M2FN>
  }
  return %0 : tensor<4xf6E3M2FN>
}

// -----

func.func @between(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{got 'tensor<4xf80>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.convert %a : tensor<4xf32> -> tensor<4xf80>
    %2 = tarpon.relu %1 : (tensor<4xf80>) -> tensor<4xf80>
    %3 = tarpon.convert %2 : tensor<4xf80> -> tensor<4xf32>
    tarpon.yield %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @integer_of_3_bits(%x: tensor<2x4xi3>) -> tensor<4x2xi3> {
  // expected-error@below {{got 'tensor<2x4xi3>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<2x4xi3>) -> tensor<4x2xi3> {
    %1 = tarpon.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x4xi3>) -> tensor<4x2xi3>
    tarpon.yield %1 : tensor<4x2xi3>
  }
  return %0 : tensor<4x2xi3>
}

// -----

func.func @quantised_to_16_bits(%x: tensor<4x!quant.uniform<i16:f32, 0.5>>) -> tensor<4xf32> {
  // expected-error@below {{got 'tensor<4x!quant.uniform<i16:f32, 5.000000e-01>>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<4x!quant.uniform<i16:f32, 0.5>>) -> tensor<4xf32> {
    %1 = tarpon.convert %a : tensor<4x!quant.uniform<i16:f32, 0.5>> -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
