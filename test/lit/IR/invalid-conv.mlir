// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of tarpon.conv by their numbers.

// static: dimensions may not be dynamic
func.func @static(%x: tensor<?x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op operand #0 must be statically shaped tensor of any type values, but got 'tensor<?x4x8x8xf32>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<?x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C1: both have one rank
func.func @c1(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects input and filter of the same rank, 3 to 5, got 4 and 3}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C1: which is 3 or more
func.func @c1_2(%x: tensor<1x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error@below {{'tarpon.conv' op expects input and filter of the same rank, 3 to 5, got 2 and 2}}
  %y = tarpon.conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>}
       : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32>
  return
}

// -----

// C1: and 5 or less
func.func @c1_3(%x: tensor<1x4x1x1x1x1xf32>, %w: tensor<6x4x1x1x1x1xf32>) {
  // expected-error@below {{'tarpon.conv' op expects input and filter of the same rank, 3 to 5, got 6 and 6}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x1x1x1x1xf32>, tensor<6x4x1x1x1x1xf32>) -> tensor<1x6x1x1x1x1xf32>
  return
}

// -----

// C2: strides
func.func @c2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects 2 entries in strides, got 1}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C2: dilations
func.func @c2_2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects 2 entries in dilations, got 3}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C2: pads
func.func @c2_3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects 4 entries in pads, got 2}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C3: positive strides
func.func @c3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects entries of at least 1 in strides, got 0}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C3: positive dilations
func.func @c3_2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects entries of at least 1 in dilations, got -1}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: -1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C3: a kernel of something
func.func @c3_3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x0xf32>) {
  // expected-error@below {{'tarpon.conv' op expects entries of at least 1 in kernel, got 0}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x0xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C3: pads are not negative
func.func @c3_4(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects entries of at least 0 in pads, got -2}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, -2, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C4: a positive group
func.func @c4(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects a positive group that divides 4 input and 6 output channels, got 0}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 0 : i64}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C4: that divides the input channels
func.func @c4_2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects a positive group that divides 4 input and 6 output channels, got 3}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C4: that divides the output channels
func.func @c4_3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x1x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects a positive group that divides 4 input and 6 output channels, got 4}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64}
       : (tensor<1x4x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C5: channels of the filter
func.func @c5(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects a filter with 2 input channels, got 4}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C6: the kernel fits
func.func @c6(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects the dilated kernel to fit into the padded input, got 9 and 8 in spatial dimension 1}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 4>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C6: absurd dilations do not wrap around
func.func @c6_2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x4x3xf32>) {
  // expected-error@below {{'tarpon.conv' op expects the dilated kernel to fit into the padded input, got 18446744073709551615 and 8 in spatial dimension 0}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 9223372036854775807, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x4x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C7: one element type
func.func @c7(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf16>) {
  // expected-error@below {{'tarpon.conv' op expects operands of the same element type or both quantised, got 'f32' and 'f16'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf16>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C7: or both quantised
func.func @c7_2(%x: tensor<1x4x8x8x!quant.uniform<i8:f32, 0.5>>, %w: tensor<6x4x3x3xi8>) {
  // expected-error@below {{'tarpon.conv' op expects operands of the same element type or both quantised, got '!quant.uniform<i8:f32, 5.000000e-01>' and 'i8'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8x!quant.uniform<i8:f32, 0.5>>, tensor<6x4x3x3xi8>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C8: no integers
func.func @c8(%x: tensor<1x4x8x8xi8>, %w: tensor<6x4x3x3xi8>) {
  // expected-error@below {{'tarpon.conv' op expects float or quantised elements, got 'i8'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xi8>, tensor<6x4x3x3xi8>) -> tensor<1x6x6x6xi32>
  return
}

// -----

// C9: the filter is row-major
func.func @c9(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.conv' op expects filter to be row-major, got 'tensor<6x4x3x3xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// C10: a filter has no zero points per channel
func.func @c10(%x: tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, %w: tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5, 0.25:3}>>) {
  // expected-error@below {{'tarpon.conv' op expects zero points of 0 where there is one per index, got 3}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.5, 0.25:3}>>) -> tensor<1x2x4x4xf32>
  return
}

// -----

// C10: its scales are along its channels
func.func @c10_2(%x: tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, %w: tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error@below {{'tarpon.conv' op expects the scales of the filter along dimension 0, got 1}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x1x1x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<1x2x4x4xf32>
  return
}

// -----

// C10: an input has one scale
func.func @c10_3(%x: tensor<1x2x4x4x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, %w: tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.conv' op expects one scale for all of the first operand, got '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x2x4x4x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x4x4xf32>
  return
}

// -----

// result: its shape is inferred
func.func @result(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op inferred type(s) 'tensor<1x6x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x6x5x6xf32>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x5x6xf32>
  return
}

// -----

// result: its layout is the input's
func.func @result_2(%x: tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@below {{'tarpon.conv' op inferred type(s) 'tensor<1x6x6x6xf32, #tarpon.layout<nhwc>>' are incompatible with return type(s) of operation 'tensor<1x6x6x6xf32>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

// result: small types give f32
func.func @result_3(%x: tensor<1x4x8x8xf16>, %w: tensor<6x4x3x3xf16>) {
  // expected-error@below {{'tarpon.conv' op inferred type(s) 'tensor<1x6x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x6x6x6xf16>'}}
  %y = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf16>, tensor<6x4x3x3xf16>) -> tensor<1x6x6x6xf16>
  return
}
