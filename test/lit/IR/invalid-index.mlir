// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of where, gather, scatter and top_k, and of operations on
// bits, by their numbers.

// where C1: condition
func.func @where_c1(%c: tensor<2xi8>, %x: tensor<2xf32>) {
  // expected-error@below {{'tarpon.where' op expects a condition of i1, got 'i8'}}
  %y = tarpon.where %c, %x, %x : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// where C2: element type
func.func @where_c2(%c: tensor<2xi1>, %x: tensor<2xf32>, %z: tensor<2xf16>) {
  // expected-error@below {{'tarpon.where' op expects operands of the same element type, got 'f32' and 'f16'}}
  %y = tarpon.where %c, %x, %z : (tensor<2xi1>, tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

// where C3: shapes
func.func @where_c3(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@below {{'tarpon.where' op expects shapes that broadcast, got 'tensor<3xi1>', 'tensor<2xf32>' and 'tensor<2xf32>'}}
  %y = tarpon.where %c, %x, %x : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// where C4: layout
func.func @where_c4(%c: tensor<1x2x3xi1>, %x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.where' op expects lhs to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.where %c, %x, %x : (tensor<1x2x3xi1>, tensor<1x2x3xf32, #tarpon.layout<nhwc>>, tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xf32>
  return
}

// -----

// gather C1: axis
func.func @gather_c1(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error@below {{'tarpon.gather' op expects an axis from 0 to below the rank 2, got 2}}
  %y = tarpon.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return
}

// -----

// gather C2: no empty dimension
func.func @gather_c2(%x: tensor<0x3xf32>, %i: tensor<4xi64>) {
  // expected-error@below {{'tarpon.gather' op expects a dimension that is not empty, got 'tensor<0x3xf32>'}}
  %y = tarpon.gather %x, %i {axis = 0 : i64} : (tensor<0x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return
}

// -----

// gather C3: type of the indices
func.func @gather_c3(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error@below {{'tarpon.gather' op expects indices of i64, got 'i32'}}
  %y = tarpon.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>
  return
}

// -----

// gather C4: layout
func.func @gather_c4(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>, %i: tensor<4xi64>) {
  // expected-error@below {{'tarpon.gather' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.gather %x, %i {axis = 0 : i64} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>, tensor<4xi64>) -> tensor<4x2x3xf32>
  return
}

// -----

// scatter C1: rank
func.func @scatter_c1(%x: tensor<f32>, %i: tensor<4xi64>) {
  // expected-error@below {{'tarpon.scatter' op expects an input of rank 1 or more, got 'tensor<f32>'}}
  %y = tarpon.scatter %x, %i, %x {mode = 0 : i32} : (tensor<f32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

// scatter C2: rank of the indices
func.func @scatter_c2(%x: tensor<2xf32>, %i: tensor<1x2xi64>) {
  // expected-error@below {{'tarpon.scatter' op expects indices of rank 1, got 'tensor<1x2xi64>'}}
  %y = tarpon.scatter %x, %i, %x {mode = 0 : i32} : (tensor<2xf32>, tensor<1x2xi64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// scatter C3: updates
func.func @scatter_c3(%x: tensor<5x3xf32>, %i: tensor<2xi64>, %u: tensor<2x2xf32>) {
  // expected-error@below {{'tarpon.scatter' op expects updates of type 'tensor<2x3xf32>', got 'tensor<2x2xf32>'}}
  %y = tarpon.scatter %x, %i, %u {mode = 0 : i32} : (tensor<5x3xf32>, tensor<2xi64>, tensor<2x2xf32>) -> tensor<5x3xf32>
  return
}

// -----

// scatter C4: numbers
func.func @scatter_c4(%x: tensor<5xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  // expected-error@below {{'tarpon.scatter' op expects floats or integers of 8 bits or more, got 'i1'}}
  %y = tarpon.scatter %x, %i, %u {mode = 1 : i32} : (tensor<5xi1>, tensor<2xi64>, tensor<2xi1>) -> tensor<5xi1>
  return
}

// -----

// bit_and C4: integers
func.func @bit_and_c4(%x: tensor<5xf32>) {
  // expected-error@below {{'tarpon.bit_and' op expects integer elements, got 'f32'}}
  %y = tarpon.bit_and %x, %x : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

// top_k C1: axis
func.func @top_k_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.top_k' op expects an axis from 0 to below the rank 2, got -1}}
  %y = tarpon.top_k %x {axis = -1 : i64, k = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return
}

// -----

// top_k C2: k
func.func @top_k_c2(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.top_k' op expects k from 1 to the size 3 of the dimension, got 4}}
  %y = tarpon.top_k %x {axis = 1 : i64, k = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x4xi64>
  return
}

// -----

// top_k C3: numbers
func.func @top_k_c3(%x: tensor<2x3xi1>) {
  // expected-error@below {{'tarpon.top_k' op expects floats or integers of 8 bits or more, got 'i1'}}
  %y = tarpon.top_k %x {axis = 1 : i64, k = 1 : i64} : (tensor<2x3xi1>) -> tensor<2x1xi64>
  return
}

// -----

// top_k C4: layout
func.func @top_k_c4(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.top_k' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.top_k %x {axis = 1 : i64, k = 1 : i64} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x1x3xi64>
  return
}
