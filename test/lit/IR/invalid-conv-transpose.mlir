// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of tarpon.conv_transpose by their numbers.

// static: dimensions may not be dynamic
func.func @static(%x: tensor<?x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op operand #0 must be statically shaped tensor of any type values, but got 'tensor<?x4x8x8xf32>'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<?x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C1: both have one rank
func.func @c1(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects input and filter of the same rank, 3 to 5, got 4 and 3}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C1: which is 3 or more
func.func @c1_2(%x: tensor<1x4xf32>, %w: tensor<4x6xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects input and filter of the same rank, 3 to 5, got 2 and 2}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, output_padding = array<i64>}
       : (tensor<1x4xf32>, tensor<4x6xf32>) -> tensor<1x6xf32>
  return
}

// -----

// C1: and 5 or less
func.func @c1_3(%x: tensor<1x4x1x1x1x1xf32>, %w: tensor<4x6x1x1x1x1xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects input and filter of the same rank, 3 to 5, got 6 and 6}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x1x1x1x1xf32>, tensor<4x6x1x1x1x1xf32>) -> tensor<1x6x1x1x1x1xf32>
  return
}

// -----

// C2: strides
func.func @c2(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects 2 entries in strides, got 1}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C2: dilations
func.func @c2_2(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects 2 entries in dilations, got 3}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C2: pads
func.func @c2_3(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects 4 entries in pads, got 2}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C2: output_padding
func.func @c2_4(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects 2 entries in output_padding, got 1}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C3: positive strides
func.func @c3(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects entries of at least 1 in strides, got 0}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C3: positive dilations
func.func @c3_2(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects entries of at least 1 in dilations, got -1}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: -1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C3: a kernel of something
func.func @c3_3(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x0xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects entries of at least 1 in kernel, got 0}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x0xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C3: pads are not negative
func.func @c3_4(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects entries of at least 0 in pads, got -2}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, -2, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C3: output_padding is not negative
func.func @c3_5(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects entries of at least 0 in output_padding, got -1}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, -1>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C4: a positive group
func.func @c4(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects a positive group that divides 4 input channels, got 0}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 0 : i64}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C4: that divides the input channels
func.func @c4_2(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects a positive group that divides 4 input channels, got 3}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 3 : i64}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C5: the channels of the filter
func.func @c5(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects a filter with 4 input channels, got 6}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C6: no place left
func.func @c6(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects a result of at least one place and of 63 bits in spatial dimension 1, got pads of 5 and 5}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 5, 0, 5>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C6: more places than can be counted
func.func @c6_2(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects a result of at least one place and of 63 bits in spatial dimension 0, got pads of 0 and 0}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 9223372036854775807, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C7: one element type
func.func @c7(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf16>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects operands of the same element type or both quantised, got 'f32' and 'f16'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf16>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C8: which is a float
func.func @c8(%x: tensor<1x4x8x8xi32>, %w: tensor<4x6x3x3xi32>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects float or quantised elements, got 'i32'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xi32>, tensor<4x6x3x3xi32>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C9: the filter has no layout
func.func @c9(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects filter to be row-major, got 'tensor<4x6x3x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x10x10xf32>
  return
}

// -----

// C10: scales of the filter along the result channels
!act = !quant.uniform<i8:f32, 5.000000e-01>
!rows = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>
func.func @c10(%x: tensor<1x2x8x8x!act>, %w: tensor<2x2x3x3x!rows>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects the scales of the filter along dimension 1, got 0}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x2x8x8x!act>, tensor<2x2x3x3x!rows>) -> tensor<1x2x10x10xf32>
  return
}

// -----

// C10: one scale of the input
!channels = !quant.uniform<i8:f32:1, {5.000000e-01, 2.500000e-01}>
!weight = !quant.uniform<i8:f32, 5.000000e-01>
func.func @c10_2(%x: tensor<1x2x8x8x!channels>, %w: tensor<2x2x3x3x!weight>) {
  // expected-error@below {{'tarpon.conv_transpose' op expects one scale for all of the first operand, got '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
       : (tensor<1x2x8x8x!channels>, tensor<2x2x3x3x!weight>) -> tensor<1x2x10x10xf32>
  return
}

// -----

// The result type is inferred.
func.func @result(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@below {{'tarpon.conv_transpose' op inferred type(s) 'tensor<1x6x17x18xf32>' are incompatible with return type(s) of operation 'tensor<1x6x17x17xf32>'}}
  %y = tarpon.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 1>}
       : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x17x17xf32>
  return
}
