// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of the reductions, arg_max and arg_min by their numbers.

// reduce C1: at least one axis
func.func @reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.reduce_sum' op expects axes that ascend and are dimensions of 'tensor<2x3xf32>', got []}}
  %y = tarpon.reduce_sum %x {axes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// reduce C1: dimensions
func.func @reduce_c1_2(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.reduce_max' op expects axes that ascend and are dimensions of 'tensor<2x3xf32>', got [2]}}
  %y = tarpon.reduce_max %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// reduce C1: ascending
func.func @reduce_c1_3(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.reduce_l1' op expects axes that ascend and are dimensions of 'tensor<2x3xf32>', got [1, 1]}}
  %y = tarpon.reduce_l1 %x {axes = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

// reduce C2: no empty dimension
func.func @reduce_c2(%x: tensor<2x0xf32>) {
  // expected-error@below {{'tarpon.reduce_min' op expects dimension 1 not to be empty, got 'tensor<2x0xf32>'}}
  %y = tarpon.reduce_min %x {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2x1xf32>
  return
}

// -----

// reduce C3: numbers
func.func @reduce_c3(%x: tensor<2x3xi1>) {
  // expected-error@below {{'tarpon.reduce_prod' op expects input to hold floats or integers of 8 bits or more, got 'tensor<2x3xi1>'}}
  %y = tarpon.reduce_prod %x {axes = array<i64: 1>} : (tensor<2x3xi1>) -> tensor<2x1xi1>
  return
}

// -----

// reduce C3: floats where the result is real
func.func @reduce_c3_2(%x: tensor<2x3xi32>) {
  // expected-error@below {{'tarpon.reduce_l2' op expects input to hold floats, got 'tensor<2x3xi32>'}}
  %y = tarpon.reduce_l2 %x {axes = array<i64: 1>} : (tensor<2x3xi32>) -> tensor<2x1xi32>
  return
}

// -----

// reduce C4: layouts
func.func @reduce_c4(%x: tensor<1x4x2xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.reduce_sum' op expects an input that is row-major, or in nhwc and keeps its dimensions, got 'tensor<1x4x2xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.reduce_sum %x {axes = array<i64: 2>, keepdims = false} : (tensor<1x4x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x4xf32>
  return
}

// -----

// reduce C4: blocked layouts
func.func @reduce_c4_2(%x: tensor<1x4x2xf32, #tarpon.layout<nchw4c>>) {
  // expected-error@below {{'tarpon.reduce_sum' op expects an input that is row-major, or in nhwc and keeps its dimensions, got 'tensor<1x4x2xf32, #tarpon.layout<nchw4c>>'}}
  %y = tarpon.reduce_sum %x {axes = array<i64: 2>} : (tensor<1x4x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x4x1xf32, #tarpon.layout<nchw4c>>
  return
}

// -----

// arg C1: axis
func.func @arg_c1(%x: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.arg_max' op expects an axis from 0 to below the rank 2, got 2}}
  %y = tarpon.arg_max %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return
}

// -----

// arg C2: no empty dimension
func.func @arg_c2(%x: tensor<2x0xf32>) {
  // expected-error@below {{'tarpon.arg_min' op expects dimension 1 not to be empty, got 'tensor<2x0xf32>'}}
  %y = tarpon.arg_min %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x1xi64>
  return
}

// -----

// arg C3: numbers
func.func @arg_c3(%x: tensor<2x3xi1>) {
  // expected-error@below {{'tarpon.arg_min' op expects input to hold floats or integers of 8 bits or more, got 'tensor<2x3xi1>'}}
  %y = tarpon.arg_min %x {axis = 1 : i64} : (tensor<2x3xi1>) -> tensor<2x1xi64>
  return
}

// -----

// arg C4: layouts
func.func @arg_c4(%x: tensor<1x4x2xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.arg_max' op expects an input that is row-major, or in nhwc and keeps its dimensions, got 'tensor<1x4x2xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<1x4x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x2xi64>
  return
}
