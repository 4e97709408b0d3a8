// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of batch_norm, softmax and lrn by their numbers.

// batch_norm C1: rank
func.func @batch_norm_c1(%x: tensor<3xf32>, %p: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error@below {{'tarpon.batch_norm' op expects an input of rank 2 or more, got 1}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = 1.0e-5 : f32}
       : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// batch_norm C2: size of the parameters
func.func @batch_norm_c2(%x: tensor<1x3x2xf32>, %p: tensor<3xf32>, %v: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm' op expects parameters to be vectors of 3 elements, got 'tensor<4xf32>'}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = 1.0e-5 : f32}
       : (tensor<1x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<1x3x2xf32>
  return
}

// -----

// batch_norm C2: rank of the parameters
func.func @batch_norm_c2_2(%x: tensor<1x3x2xf32>, %p: tensor<1x3xf32>, %v: tensor<1x3xf32>) {
  // expected-error@below {{'tarpon.batch_norm' op expects parameters to be vectors of 3 elements, got 'tensor<1x3xf32>'}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = 1.0e-5 : f32}
       : (tensor<1x3x2xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3x2xf32>
  return
}

// -----

// batch_norm C3: epsilon
func.func @batch_norm_c3(%x: tensor<1x3x2xf32>, %p: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error@below {{'tarpon.batch_norm' op expects epsilon not to be negative, got -1.000000e+00}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = -1.0 : f32}
       : (tensor<1x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2xf32>
  return
}

// -----

// batch_norm C4: float input
func.func @batch_norm_c4(%x: tensor<1x3x2xi32>, %p: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error@below {{'tarpon.batch_norm' op expects input to hold floats, got 'tensor<1x3x2xi32>'}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = 1.0e-5 : f32}
       : (tensor<1x3x2xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2xi32>
  return
}

// -----

// batch_norm C4: float parameters
func.func @batch_norm_c4_2(%x: tensor<1x3x2xf32>, %p: tensor<3xf32>, %v: tensor<3xi8>) {
  // expected-error@below {{'tarpon.batch_norm' op expects parameters to hold floats, got 'tensor<3xi8>'}}
  %y = tarpon.batch_norm %x, %p, %p, %p, %v {epsilon = 1.0e-5 : f32}
       : (tensor<1x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<1x3x2xf32>
  return
}

// -----

// softmax C1: axis below the rank
func.func @softmax_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.softmax' op expects an axis from 0 to below the rank 2, got 2}}
  %y = tarpon.softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// softmax C1: axis not negative
func.func @softmax_c1_2(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.softmax' op expects an axis from 0 to below the rank 2, got -1}}
  %y = tarpon.softmax %x {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// softmax C2: floats
func.func @softmax_c2(%x: tensor<2x3xi32>) {
  // expected-error@below {{'tarpon.softmax' op expects input to hold floats, got 'tensor<2x3xi32>'}}
  %y = tarpon.softmax %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// softmax C3: row-major
func.func @softmax_c3(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.softmax' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.softmax %x {axis = 1 : i64} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// lrn C1: rank
func.func @lrn_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.lrn' op expects an input of rank 3 or more, got 2}}
  %y = tarpon.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// lrn C2: size
func.func @lrn_c2(%x: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.lrn' op expects a positive size, got 0}}
  %y = tarpon.lrn %x {size = 0 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

// lrn C3: floats
func.func @lrn_c3(%x: tensor<1x2x3xi8>) {
  // expected-error@below {{'tarpon.lrn' op expects input to hold floats, got 'tensor<1x2x3xi8>'}}
  %y = tarpon.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32} : (tensor<1x2x3xi8>) -> tensor<1x2x3xi8>
  return
}
