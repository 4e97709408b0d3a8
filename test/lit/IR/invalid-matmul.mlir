// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of tarpon.matmul by their numbers.

// C1: rank 2 or more
func.func @c1(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@below {{'tarpon.matmul' op expects operands of rank 2 or more, got 1 and 2}}
  %y = tarpon.matmul %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

// C2: contracted dimensions
func.func @c2(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@below {{'tarpon.matmul' op expects equal contracted dimensions, got 3 and 4}}
  %y = tarpon.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

// C2: as transposed
func.func @c2_2(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error@below {{'tarpon.matmul' op expects equal contracted dimensions, got 2 and 4}}
  %y = tarpon.matmul %a, %b {transpose_lhs = true, transpose_rhs = true} : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  return
}

// -----

// C3: batch dimensions
func.func @c3(%a: tensor<2x2x3xf32>, %b: tensor<3x3x5xf32>) {
  // expected-error@below {{'tarpon.matmul' op expects batch dimensions that broadcast, got 'tensor<2x2x3xf32>' and 'tensor<3x3x5xf32>'}}
  %y = tarpon.matmul %a, %b : (tensor<2x2x3xf32>, tensor<3x3x5xf32>) -> tensor<2x2x5xf32>
  return
}

// -----

// C4: one element type
func.func @c4(%a: tensor<2x3xf16>, %b: tensor<3x5xbf16>) {
  // expected-error@below {{'tarpon.matmul' op expects operands of the same element type or both quantised, got 'f16' and 'bf16'}}
  %y = tarpon.matmul %a, %b : (tensor<2x3xf16>, tensor<3x5xbf16>) -> tensor<2x5xf32>
  return
}

// -----

// C5: no integers
func.func @c5(%a: tensor<2x3xi32>, %b: tensor<3x5xi32>) {
  // expected-error@below {{'tarpon.matmul' op expects float or quantised elements, got 'i32'}}
  %y = tarpon.matmul %a, %b : (tensor<2x3xi32>, tensor<3x5xi32>) -> tensor<2x5xi32>
  return
}

// -----

// C6: lhs is row-major
func.func @c6(%a: tensor<1x2x3xf32, #tarpon.layout<nhwc>>, %b: tensor<3x5xf32>) {
  // expected-error@below {{'tarpon.matmul' op expects lhs to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.matmul %a, %b : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>, tensor<3x5xf32>) -> tensor<1x2x5xf32>
  return
}

// -----

// C6: rhs is row-major
func.func @c6_2(%a: tensor<2x3xf32>, %b: tensor<1x3x5xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.matmul' op expects rhs to be row-major, got 'tensor<1x3x5xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.matmul %a, %b : (tensor<2x3xf32>, tensor<1x3x5xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x5xf32>
  return
}

// -----

// C7: rhs has no zero points per column
func.func @c7(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:-1}>>) {
  // expected-error@below {{'tarpon.matmul' op expects zero points of 0 where there is one per index, got -1}}
  %y = tarpon.matmul %a, %b : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:-1}>>) -> tensor<2x2xf32>
  return
}

// -----

// C7: the scales of rhs are along its columns
func.func @c7_2(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>) {
  // expected-error@below {{'tarpon.matmul' op expects the scales of the filter along dimension 0, got 1}}
  %y = tarpon.matmul %a, %b {transpose_rhs = true} : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<2x2xf32>
  return
}

// -----

// C7: lhs has one scale
func.func @c7_3(%a: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, %b: tensor<3x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.matmul' op expects one scale for all of the first operand, got '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>'}}
  %y = tarpon.matmul %a, %b : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  return
}

// -----

// result
func.func @result(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@below {{'tarpon.matmul' op inferred type(s) 'tensor<2x5xf32>' are incompatible with return type(s) of operation 'tensor<5x2xf32>'}}
  %y = tarpon.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>
  return
}
