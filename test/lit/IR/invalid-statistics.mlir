// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of layer_norm, group_norm and log_softmax by their numbers.

// layer_norm C1: axis
func.func @layer_norm_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.layer_norm' op expects an axis from 0 to below the rank 2, got 2}}
  %y = tarpon.layer_norm %x {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// layer_norm C2: number of parameters
func.func @layer_norm_c2(%x: tensor<2x3xf32>, %p: tensor<3xf32>) {
  // expected-error@below {{'tarpon.layer_norm' op expects at most a scale and a bias, got 3 parameters}}
  %y = tarpon.layer_norm %x, %p, %p, %p {axis = 1 : i64, epsilon = 1.0e-5 : f32}
       : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// layer_norm C2: shape of the parameters
func.func @layer_norm_c2_2(%x: tensor<2x3xf32>, %p: tensor<2xf32>) {
  // expected-error@below {{'tarpon.layer_norm' op expects parameters that broadcast to the dimensions from 1 on of 'tensor<2x3xf32>', got 'tensor<2xf32>'}}
  %y = tarpon.layer_norm %x, %p {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// layer_norm C3: epsilon
func.func @layer_norm_c3(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.layer_norm' op expects epsilon not to be negative, got -1.000000e+00}}
  %y = tarpon.layer_norm %x {axis = 1 : i64, epsilon = -1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// layer_norm C4: floats
func.func @layer_norm_c4(%x: tensor<2x3xi32>) {
  // expected-error@below {{'tarpon.layer_norm' op expects input to hold floats, got 'tensor<2x3xi32>'}}
  %y = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// layer_norm C5: row-major
func.func @layer_norm_c5(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.layer_norm' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// group_norm C1: rank
func.func @group_norm_c1(%x: tensor<3xf32>) {
  // expected-error@below {{'tarpon.group_norm' op expects an input of rank 2 or more, got 1}}
  %y = tarpon.group_norm %x {groups = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// group_norm C2: groups
func.func @group_norm_c2(%x: tensor<1x3x2xf32>) {
  // expected-error@below {{'tarpon.group_norm' op expects a positive number of groups that divides 3 channels, got 2}}
  %y = tarpon.group_norm %x {groups = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return
}

// -----

// group_norm C3: parameters
func.func @group_norm_c3(%x: tensor<1x4x2xf32>, %p: tensor<2xf32>) {
  // expected-error@below {{'tarpon.group_norm' op expects parameters to be vectors of 4 elements, got 'tensor<2xf32>'}}
  %y = tarpon.group_norm %x, %p {groups = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x2xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>
  return
}

// -----

// group_norm C4: epsilon
func.func @group_norm_c4(%x: tensor<1x4x2xf32>) {
  // expected-error@below {{'tarpon.group_norm' op expects epsilon not to be negative, got -1.000000e+00}}
  %y = tarpon.group_norm %x {groups = 2 : i64, epsilon = -1.0 : f32} : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  return
}

// -----

// group_norm C5: floats
func.func @group_norm_c5(%x: tensor<1x4x2xi8>) {
  // expected-error@below {{'tarpon.group_norm' op expects input to hold floats, got 'tensor<1x4x2xi8>'}}
  %y = tarpon.group_norm %x {groups = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<1x4x2xi8>) -> tensor<1x4x2xi8>
  return
}

// -----

// log_softmax C1: axis
func.func @log_softmax_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.log_softmax' op expects an axis from 0 to below the rank 2, got -1}}
  %y = tarpon.log_softmax %x {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// log_softmax C2: floats
func.func @log_softmax_c2(%x: tensor<2x3xi32>) {
  // expected-error@below {{'tarpon.log_softmax' op expects input to hold floats, got 'tensor<2x3xi32>'}}
  %y = tarpon.log_softmax %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// log_softmax C3: row-major
func.func @log_softmax_c3(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.log_softmax' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.log_softmax %x {axis = 1 : i64} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// layer_norm: statistics are more results
func.func @layer_norm_results(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.layer_norm' op inferred type(s) 'tensor<2x3xf32>', 'tensor<2x1xf32>', 'tensor<2x1xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %y = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f32, statistics} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// batch_norm_training C1: rank
func.func @batch_norm_training_c1(%x: tensor<4xf32>, %p: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects an input of rank 2 or more, got 1}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = 0.25 : f32, factor = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// batch_norm_training C2: parameters
func.func @batch_norm_training_c2(%x: tensor<2x3xf32>, %p: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects parameters of the shape [3], got 'tensor<4xf32>'}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = 0.25 : f32, factor = 0.5 : f32} : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// batch_norm_training C2_2: parameters per activation
func.func @batch_norm_training_c2_2(%x: tensor<2x4x3xf32>, %p: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects parameters of the shape [1, 4, 3], got 'tensor<4xf32>'}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = 0.25 : f32, factor = 0.5 : f32, spatial = false} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// batch_norm_training C3: epsilon
func.func @batch_norm_training_c3(%x: tensor<2x4xf32>, %p: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects epsilon not to be negative, got -1.000000e+00}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = -1.0 : f32, factor = 0.5 : f32} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// batch_norm_training C4: floats
func.func @batch_norm_training_c4(%x: tensor<2x4xi8>, %p: tensor<4xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects input to hold floats, got 'tensor<2x4xi8>'}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = 0.25 : f32, factor = 0.5 : f32} : (tensor<2x4xi8>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xi8>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// batch_norm_training C5: row-major
func.func @batch_norm_training_c5(%x: tensor<2x4x3xf32, #tarpon.layout<nhwc>>, %p: tensor<1x4x3xf32>) {
  // expected-error@below {{'tarpon.batch_norm_training' op expects input to be row-major, got 'tensor<2x4x3xf32, #tarpon.layout<nhwc>>'}}
  %y:5 = tarpon.batch_norm_training %x, %p, %p, %p, %p {epsilon = 0.25 : f32, factor = 0.5 : f32, spatial = false} : (tensor<2x4x3xf32, #tarpon.layout<nhwc>>, tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> (tensor<2x4x3xf32, #tarpon.layout<nhwc>>, tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>)
  return
}
