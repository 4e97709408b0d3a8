// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of constants and data movement by their numbers.

// constant C1: no sparse values
func.func @constant_c1() {
  // expected-error@below {{'tarpon.constant' op expects a dense row-major tensor of a static shape, got 'tensor<4xf32>'}}
  %0 = tarpon.constant {value = sparse<[[1]], [2.0]> : tensor<4xf32>} : tensor<4xf32>
  return
}

// -----

// constant C1: no vectors
func.func @constant_c1_2() {
  // expected-error@below {{'tarpon.constant' op expects a dense row-major tensor of a static shape, got 'vector<4xf32>'}}
  %0 = tarpon.constant {value = dense<1.0> : vector<4xf32>} : tensor<4xf32>
  return
}

// -----

// constant C1: no layout
func.func @constant_c1_3() {
  // expected-error@below {{'tarpon.constant' op expects a dense row-major tensor of a static shape, got 'tensor<1x2x2xf32, #tarpon.layout<nhwc>>'}}
  %0 = tarpon.constant {value = dense<1.0> : tensor<1x2x2xf32, #tarpon.layout<nhwc>>} : tensor<1x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// constant C2
func.func @constant_c2() {
  // expected-error@below {{'tarpon.constant' op expects elements of type i1, i2, i4, i8, i16, i32, i64, f4E2M1FN, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, f16, bf16, f32 or f64, got 'i3'}}
  %0 = tarpon.constant {value = dense<1> : tensor<4xi3>} : tensor<4xi3>
  return
}

// -----

// constant C3: too few bytes
func.func @constant_c3() {
  // expected-error@below {{'tarpon.constant' op expects a resource of 16 bytes, got 4}}
  %0 = tarpon.constant {value = dense_resource<short> : tensor<4xf32>} : tensor<4xf32>
  return
}

{-#
  dialect_resources: { builtin: { short: "0x0400000001020304" } }
#-}

// -----

// constant C3: no such resource
func.func @constant_c3_2() {
  // expected-error@below {{'tarpon.constant' op expects a resource of 16 bytes, got 0}}
  %0 = tarpon.constant {value = dense_resource<missing> : tensor<4xf32>} : tensor<4xf32>
  return
}

// -----

// constant C4: a quantised tensor
func.func @constant_c4() {
  // expected-error@below {{'tarpon.constant' op expects quantized_type to be a row-major tensor of the value's shape and storage type, 'tensor<2xi8>', got 'tensor<2xf32>'}}
  %0 = tarpon.constant {value = dense<1> : tensor<2xi8>, quantized_type = tensor<2xf32>} : tensor<2xf32>
  return
}

// -----

// constant C4: of the value's shape
func.func @constant_c4_2() {
  // expected-error@below {{'tarpon.constant' op expects quantized_type to be a row-major tensor of the value's shape and storage type, 'tensor<2xi8>', got 'tensor<3x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = tarpon.constant {value = dense<1> : tensor<2xi8>, quantized_type = tensor<3x!quant.uniform<i8:f32, 0.5>>} : tensor<3x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// constant C4: and storage type
func.func @constant_c4_3() {
  // expected-error@below {{'tarpon.constant' op expects quantized_type to be a row-major tensor of the value's shape and storage type, 'tensor<2xi32>', got 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = tarpon.constant {value = dense<1> : tensor<2xi32>, quantized_type = tensor<2x!quant.uniform<i8:f32, 0.5>>} : tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// constant result
func.func @constant_result() {
  // expected-error@below {{'tarpon.constant' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<2xi64>'}}
  %0 = tarpon.constant {value = dense<1> : tensor<2xi32>} : tensor<2xi64>
  return
}

// -----

// concat C1
func.func @concat_c1() {
  // expected-error@below {{'tarpon.concat' op expects at least one operand}}
  %0 = "tarpon.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

// concat C2: axis below the rank
func.func @concat_c2(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.concat' op expects an axis from 0 to below the rank 2, got 2}}
  %0 = tarpon.concat %a {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// concat C2: axis not negative
func.func @concat_c2_2(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.concat' op expects an axis from 0 to below the rank 2, got -1}}
  %0 = tarpon.concat %a {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// concat C3: element type
func.func @concat_c3(%a: tensor<2x3xf32>, %b: tensor<2x3xf16>) {
  // expected-error@below {{'tarpon.concat' op expects operands that differ along axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2x3xf16>'}}
  %0 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

// concat C3: rank
func.func @concat_c3_2(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@below {{'tarpon.concat' op expects operands that differ along axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %0 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

// concat C3: other sizes
func.func @concat_c3_3(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.concat' op expects operands that differ along axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %0 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// concat C3: layout
func.func @concat_c3_4(%a: tensor<1x4x2xf32>, %b: tensor<1x4x2xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.concat' op expects operands that differ along axis 1 only, got 'tensor<1x4x2xf32>' and 'tensor<1x4x2xf32, #tarpon.layout<nhwc>>'}}
  %0 = tarpon.concat %a, %b {axis = 1 : i64} : (tensor<1x4x2xf32>, tensor<1x4x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x2xf32>
  return
}

// -----

// concat C4
func.func @concat_c4(%a: tensor<1x6x2xf32, #tarpon.layout<nchw4c>>) {
  // expected-error@below {{'tarpon.concat' op expects channels to be multiples of the block 4, got operands of types 'tensor<1x6x2xf32, #tarpon.layout<nchw4c>>', 'tensor<1x6x2xf32, #tarpon.layout<nchw4c>>'}}
  %0 = tarpon.concat %a, %a {axis = 1 : i64}
       : (tensor<1x6x2xf32, #tarpon.layout<nchw4c>>, tensor<1x6x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x12x2xf32, #tarpon.layout<nchw4c>>
  return
}

// -----

// shuffle_channels C1
func.func @shuffle_channels_c1(%a: tensor<4xf32>) {
  // expected-error@below {{'tarpon.shuffle_channels' op expects an input of rank 2 or more, got rank 1}}
  %0 = tarpon.shuffle_channels %a {group = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// shuffle_channels C2
func.func @shuffle_channels_c2(%a: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.shuffle_channels' op expects a group that divides 4 channels, got 3}}
  %0 = tarpon.shuffle_channels %a {group = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

// shuffle_channels C3
func.func @shuffle_channels_c3(%a: tensor<1x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error@below {{'tarpon.shuffle_channels' op expects elements that are not quantised per channel, got '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>'}}
  %0 = tarpon.shuffle_channels %a {group = 2 : i64} : (tensor<1x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<1x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

// join C1
func.func @join_c1() {
  // expected-error@below {{'tarpon.join' op expects at least one operand}}
  %0 = tarpon.join : () -> tensor<1x4x2xf32>
  return
}

// -----

// join C2: rank
func.func @join_c2(%a: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.join' op expects a result of rank 3 or more, got 'tensor<1x4xf32>'}}
  %0 = tarpon.join %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

// join C2: element type
func.func @join_c2_2(%a: tensor<1x4x2xf16>) {
  // expected-error@below {{'tarpon.join' op expects operands of the result's rank and element type, got 'tensor<1x4x2xf16>' and 'tensor<1x4x2xf32>'}}
  %0 = tarpon.join %a : (tensor<1x4x2xf16>) -> tensor<1x4x2xf32>
  return
}

// -----

// join C2: other sizes
func.func @join_c2_3(%a: tensor<1x4x3xf32>) {
  // expected-error@below {{'tarpon.join' op expects operands that differ from the result in their channels only, got 'tensor<1x4x3xf32>' and 'tensor<1x4x2xf32>'}}
  %0 = tarpon.join %a : (tensor<1x4x3xf32>) -> tensor<1x4x2xf32>
  return
}

// -----

// join C2: channels
func.func @join_c2_4(%a: tensor<1x4x2xf32>) {
  // expected-error@below {{'tarpon.join' op expects as many channels in the result as in the operands, got 8 and 4}}
  %0 = tarpon.join %a : (tensor<1x4x2xf32>) -> tensor<1x8x2xf32>
  return
}

// -----

// join C2: scales per channel
func.func @join_c2_5(%a: tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error@below {{'tarpon.join' op expects elements that are not quantised per channel, got '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>'}}
  %0 = tarpon.join %a : (tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

// join C3: layout
func.func @join_c3(%a: tensor<1x4x2xf32, #tarpon.layout<nhwc>>, %b: tensor<1x4x2xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.join' op expects operands in the layout #tarpon.layout<nhwc, pitch = 8>, got 'tensor<1x4x2xf32, #tarpon.layout<nhwc>>'}}
  %0 = tarpon.join %a, %b : (tensor<1x4x2xf32, #tarpon.layout<nhwc>>, tensor<1x4x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// join C3: one image
func.func @join_c3_2(%a: tensor<2x4x2xf32>) {
  // expected-error@below {{'tarpon.join' op expects one image in the layout nchw, got 2}}
  %0 = tarpon.join %a : (tensor<2x4x2xf32>) -> tensor<2x4x2xf32>
  return
}

// -----

// join C3: blocks
func.func @join_c3_3(%a: tensor<1x6x2xf32, #tarpon.layout<nchw4c>>, %b: tensor<1x6x2xf32, #tarpon.layout<nchw4c>>) {
  // expected-error@below {{'tarpon.join' op expects channels to be multiples of the block 4}}
  %0 = tarpon.join %a, %b : (tensor<1x6x2xf32, #tarpon.layout<nchw4c>>, tensor<1x6x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x12x2xf32, #tarpon.layout<nchw4c>>
  return
}

// -----

// join C4: memory of its own
func.func @join_c4(%a: tensor<1x4x2xf32>) {
  // expected-error@below {{'tarpon.join' op expects operands that have memory of their own, got an argument}}
  %0 = tarpon.join %a : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  return
}

// -----

// join C4: once
func.func @join_c4_2(%a: tensor<1x4x2xf32>) {
  %0 = tarpon.relu %a : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  // expected-error@below {{'tarpon.join' op expects operands that are joined once}}
  %1 = tarpon.join %0, %0 : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x8x2xf32>
  return
}

// -----

// slice C1: rank
func.func @slice_c1(%a: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.slice' op expects a result of rank 3 or more, got 'tensor<1x2xf32>'}}
  %0 = tarpon.slice %a {offset = 0 : i64} : (tensor<1x4xf32>) -> tensor<1x2xf32>
  return
}

// -----

// slice C1: scales per channel
func.func @slice_c1_2(%a: tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error@below {{'tarpon.slice' op expects elements that are not quantised per channel, got '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>'}}
  %0 = tarpon.slice %a {offset = 0 : i64} : (tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<1x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

// slice C1: element type
func.func @slice_c1_3(%a: tensor<1x4x2xf16>) {
  // expected-error@below {{'tarpon.slice' op expects a result of the input's rank and element type, got 'tensor<1x2x2xf32>' and 'tensor<1x4x2xf16>'}}
  %0 = tarpon.slice %a {offset = 0 : i64} : (tensor<1x4x2xf16>) -> tensor<1x2x2xf32>
  return
}

// -----

// slice C1: other sizes
func.func @slice_c1_4(%a: tensor<1x4x3xf32>) {
  // expected-error@below {{'tarpon.slice' op expects a result that differs from the input in its channels only, got 'tensor<1x2x2xf32>' and 'tensor<1x4x3xf32>'}}
  %0 = tarpon.slice %a {offset = 0 : i64} : (tensor<1x4x3xf32>) -> tensor<1x2x2xf32>
  return
}

// -----

// slice C2
func.func @slice_c2(%a: tensor<1x4x2xf32>) {
  // expected-error@below {{'tarpon.slice' op expects channels of the input, got 2 from 3 on, of 4}}
  %0 = tarpon.slice %a {offset = 3 : i64} : (tensor<1x4x2xf32>) -> tensor<1x2x2xf32>
  return
}

// -----

// slice C3: layout
func.func @slice_c3(%a: tensor<1x4x2xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.slice' op expects a result in the layout #tarpon.layout<nhwc, pitch = 4>, got 'tensor<1x2x2xf32, #tarpon.layout<nhwc>>'}}
  %0 = tarpon.slice %a {offset = 1 : i64} : (tensor<1x4x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// slice C3: one image
func.func @slice_c3_2(%a: tensor<2x4x2xf32>) {
  // expected-error@below {{'tarpon.slice' op expects one image in the layout nchw, got 2}}
  %0 = tarpon.slice %a {offset = 1 : i64} : (tensor<2x4x2xf32>) -> tensor<2x2x2xf32>
  return
}

// -----

// slice C3: blocks
func.func @slice_c3_3(%a: tensor<1x8x2xf32, #tarpon.layout<nchw4c>>) {
  // expected-error@below {{'tarpon.slice' op expects offset and channels to be multiples of the block 4}}
  %0 = tarpon.slice %a {offset = 2 : i64} : (tensor<1x8x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x4x2xf32, #tarpon.layout<nchw4c>>
  return
}

// -----

// bitcast C1: shape
func.func @bitcast_c1(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.bitcast' op expects row-major input and result of the same shape, got 'tensor<2x3xf32>' and 'tensor<6xi32>'}}
  %0 = tarpon.bitcast %a : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

// bitcast C1: layout
func.func @bitcast_c1_2(%a: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.bitcast' op expects row-major input and result of the same shape, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>' and 'tensor<1x2x3xi32>'}}
  %0 = tarpon.bitcast %a : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xi32>
  return
}

// -----

// bitcast C2: bool
func.func @bitcast_c2(%a: tensor<4xi1>) {
  // expected-error@below {{'tarpon.bitcast' op expects elements that are floats, unsigned integers or integers of 8 bits or more, got 'i1'}}
  %0 = tarpon.bitcast %a : (tensor<4xi1>) -> tensor<4xui8>
  return
}

// -----

// bitcast C2: signs in the bytes
func.func @bitcast_c2_2(%a: tensor<4xf4E2M1FN>) {
  // expected-error@below {{'tarpon.bitcast' op expects elements that are floats, unsigned integers or integers of 8 bits or more, got 'i4'}}
  %0 = tarpon.bitcast %a : (tensor<4xf4E2M1FN>) -> tensor<4xi4>
  return
}

// -----

// bitcast C3
func.func @bitcast_c3(%a: tensor<4xf32>) {
  // expected-error@below {{'tarpon.bitcast' op expects elements of as many bits in the result as in the input, got 'i16' and 'f32'}}
  %0 = tarpon.bitcast %a : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

// reshape C1: element type
func.func @reshape_c1(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.reshape' op expects input and result of the same element type, got 'f32' and 'f16'}}
  %0 = tarpon.reshape %a : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

// reshape C1: number of elements
func.func @reshape_c1_2(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.reshape' op expects as many elements in the result as in the input, got 5 and 6}}
  %0 = tarpon.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

// reshape C2: input
func.func @reshape_c2(%a: tensor<1x4x2x1xf32, #tarpon.layout<nhwc, pitch = 8>>) {
  // expected-error@below {{'tarpon.reshape' op expects tensors without blocks or a pitch, got 'tensor<1x4x2x1xf32, #tarpon.layout<nhwc, pitch = 8>>'}}
  %0 = tarpon.reshape %a : (tensor<1x4x2x1xf32, #tarpon.layout<nhwc, pitch = 8>>) -> tensor<8xf32>
  return
}

// -----

// reshape C2: result
func.func @reshape_c2_2(%a: tensor<8xf32>) {
  // expected-error@below {{'tarpon.reshape' op expects tensors without blocks or a pitch, got 'tensor<1x8x1xf32, #tarpon.layout<nchw8c>>'}}
  %0 = tarpon.reshape %a : (tensor<8xf32>) -> tensor<1x8x1xf32, #tarpon.layout<nchw8c>>
  return
}

// -----

// transpose C1: all dimensions
func.func @transpose_c1(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.transpose' op expects a permutation of rank 2, got [0]}}
  %0 = tarpon.transpose %a {permutation = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// transpose C1: each once
func.func @transpose_c1_2(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.transpose' op expects a permutation of rank 2, got [1, 1]}}
  %0 = tarpon.transpose %a {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// transpose C1: existing ones
func.func @transpose_c1_3(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.transpose' op expects a permutation of rank 2, got [1, 2]}}
  %0 = tarpon.transpose %a {permutation = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// transpose C2
func.func @transpose_c2(%a: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.transpose' op expects input to be row-major, got 'tensor<1x2x3xf32, #tarpon.layout<nhwc>>'}}
  %0 = tarpon.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x3x2xf32>
  return
}

// -----

// transpose result
func.func @transpose_result(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.transpose' op inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %0 = tarpon.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// pad C1
func.func @pad_c1(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.pad' op expects 4 entries in pads, got 2}}
  %0 = tarpon.pad %a {pads = array<i64: 1, 1>, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

// pad C2
func.func @pad_c2(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.pad' op expects positive result dimensions, got 0 in dimension 1}}
  %0 = tarpon.pad %a {pads = array<i64: 0, -2, 0, -1>, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x0xf32>
  return
}

// -----

// pad C3: ends too
func.func @pad_c3(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.pad' op expects pads smaller than the dimension in reflect mode, got 2 and 2}}
  %0 = tarpon.pad %a {pads = array<i64: 0, 0, 2, 0>, value = 0.0 : f64, mode = 2 : i32} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// pad C4
func.func @pad_c4(%a: tensor<1x4x3xf32, #tarpon.layout<nchw4c>>) {
  // expected-error@below {{'tarpon.pad' op expects no pads of channels in a blocked layout, got 1 and 0}}
  %0 = tarpon.pad %a {pads = array<i64: 0, 1, 1, 0, 0, 1>, value = 0.0 : f64} : (tensor<1x4x3xf32, #tarpon.layout<nchw4c>>) -> tensor<1x5x5xf32, #tarpon.layout<nchw4c>>
  return
}

// -----

// pad C5
func.func @pad_c5(%a: tensor<0x3xf32>) {
  // expected-error@below {{'tarpon.pad' op expects no pads of an empty dimension in edge mode, got 1}}
  %0 = tarpon.pad %a {pads = array<i64: 1, 0, 0, 0>, value = 0.0 : f64, mode = 1 : i32} : (tensor<0x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

// convert C1
func.func @convert_c1(%a: tensor<2x3xf32>) {
  // expected-error@below {{'tarpon.convert' op expects input and result of the same shape, got 'tensor<2x3xf32>' and 'tensor<3x2xf16>'}}
  %0 = tarpon.convert %a : tensor<2x3xf32> -> tensor<3x2xf16>
  return
}

// -----

// convert C2: input
func.func @convert_c2(%a: tensor<2xindex>) {
  // expected-error@below {{'tarpon.convert' op expects float, integer or quantised elements, got 'index'}}
  %0 = tarpon.convert %a : tensor<2xindex> -> tensor<2xi64>
  return
}

// -----

// convert C2: result
func.func @convert_c2_2(%a: tensor<2xf32>) {
  // expected-error@below {{'tarpon.convert' op expects float, integer or quantised elements, got 'complex<f32>'}}
  %0 = tarpon.convert %a : tensor<2xf32> -> tensor<2xcomplex<f32>>
  return
}

// -----

// convert C3
func.func @convert_c3(%a: tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:1}>>) {
  // expected-error@below {{'tarpon.convert' op expects zero points of 0 where there is one per index, got 1}}
  %0 = tarpon.convert %a : tensor<2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:1}>> -> tensor<2xf32>
  return
}
