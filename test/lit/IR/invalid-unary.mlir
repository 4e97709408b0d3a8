// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of the ops of TarponUnaryOps.td by their numbers.

// tanh C1
func.func @tanh_c1(%x: tensor<4xi32>) {
  // expected-error@below {{'tarpon.tanh' op expects float elements, got 'i32'}}
  %y = tarpon.tanh %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// abs C1
func.func @abs_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.abs' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.abs %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// pow C1
func.func @pow_c1(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{'tarpon.pow' op expects shapes that broadcast, got 'tensor<4xf32>' and 'tensor<3xf32>'}}
  %z = tarpon.pow %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

// pow C4
func.func @pow_c4(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error@below {{'tarpon.pow' op expects float elements, got 'i32'}}
  %z = tarpon.pow %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// fmod C4
func.func @fmod_c4(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error@below {{'tarpon.fmod' op expects float elements, got 'i32'}}
  %z = tarpon.fmod %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// atan C1
func.func @atan_c1(%x: tensor<4xi32>) {
  // expected-error@below {{'tarpon.atan' op expects float elements, got 'i32'}}
  %y = tarpon.atan %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}
