// RUN: graph-opt %s -tarpon-crop-filters -split-input-file | FileCheck %s

// Only the centre reads input: the window of one tap needs no dilation.

// CHECK-LABEL: func @centre(
// CHECK:         %[[W:.+]] = tarpon.constant {value = dense<5.000000e+00> : tensor<1x1x1x1xf32>}
// CHECK-NEXT:    tarpon.conv %{{.+}}, %[[W]] {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:    (tensor<1x1x7x7xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x7x7xf32>
func.func @centre(%x: tensor<1x1x7x7xf32>) -> tensor<1x1x7x7xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>} : tensor<1x1x3x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 7, 7, 7, 7>, dilations = array<i64: 7, 7>} : (tensor<1x1x7x7xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32>
  return %0 : tensor<1x1x7x7xf32>
}

// -----

// At a dilation of one less, a corner reads input.

// CHECK-LABEL: func @all_taps_read(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 6, 6>, pads = array<i64: 6, 6, 6, 6>,
// CHECK-SAME:    tensor<1x1x3x3xf32>)
func.func @all_taps_read(%x: tensor<1x1x7x7xf32>) -> tensor<1x1x7x7xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<1x1x3x3xf32>} : tensor<1x1x3x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 6, 6>} : (tensor<1x1x7x7xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x7x7xf32>
  return %0 : tensor<1x1x7x7xf32>
}

// -----

// Rows are cropped, columns are not; a group has filters of its own.

// CHECK-LABEL: func @rows_of_groups(
// CHECK:         %[[W:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}3.000000e+00, 4.000000e+00]]], {{\[\[\[}}9.000000e+00, 1.000000e+01]]]]> : tensor<2x1x1x2xbf16>}
// CHECK-NEXT:    tarpon.conv %{{.+}}, %[[W]] {dilations = array<i64: 1, 6>, group = 2 : i64, pads = array<i64: 0, 6, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:    (tensor<1x2x3x9xbf16>, tensor<2x1x1x2xbf16>) -> tensor<1x2x3x9xf32>
func.func @rows_of_groups(%x: tensor<1x2x3x9xbf16>) -> tensor<1x2x3x9xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], [[[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]]]> : tensor<2x1x3x2xbf16>} : tensor<2x1x3x2xbf16>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 4, 6, 4, 0>, dilations = array<i64: 4, 6>, group = 2 : i64} : (tensor<1x2x3x9xbf16>, tensor<2x1x3x2xbf16>) -> tensor<1x2x3x9xf32>
  return %0 : tensor<1x2x3x9xf32>
}

// -----

// The first tap goes, and of the padding what only it reads. The stride leaves
// over one cell at the end.

// CHECK-LABEL: func @first_tap_1d(
// CHECK:         %[[W:.+]] = tarpon.constant {value = dense<{{\[\[\[}}2.000000e+00, 3.000000e+00]]]> : tensor<1x1x2xf32>}
// CHECK-NEXT:    tarpon.conv %{{.+}}, %[[W]] {dilations = array<i64: 3>, pads = array<i64: 2, 1>, strides = array<i64: 2>}
// CHECK-SAME:    (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>
func.func @first_tap_1d(%x: tensor<1x1x5xf32>) -> tensor<1x1x3xf32> {
  %w = tarpon.constant {value = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 5, 1>, dilations = array<i64: 3>} : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %0 : tensor<1x1x3xf32>
}

// -----

// The last tap goes with more than the padding behind it, which the stride
// leaves over.

// CHECK-LABEL: func @last_tap_strided(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 5>, pads = array<i64: 4, 0>, strides = array<i64: 4>}
// CHECK-SAME:    (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
func.func @last_tap_strided(%x: tensor<1x1x5xf32>) -> tensor<1x1x1xf32> {
  %w = tarpon.constant {value = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 4>, pads = array<i64: 4, 3>, dilations = array<i64: 5>} : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

// -----

// The slices of a volume.

// CHECK-LABEL: func @slices_3d(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 1, 1, 0, 1, 1>, strides = array<i64: 1, 1, 1>}
// CHECK-SAME:    (tensor<1x2x2x8x8xf32>, tensor<3x2x1x3x3xf32>) -> tensor<1x3x2x8x8xf32>
func.func @slices_3d(%x: tensor<1x2x2x8x8xf32>) -> tensor<1x3x2x8x8xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<3x2x3x3x3xf32>} : tensor<3x2x3x3x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1, 1>, pads = array<i64: 2, 1, 1, 2, 1, 1>, dilations = array<i64: 2, 1, 1>} : (tensor<1x2x2x8x8xf32>, tensor<3x2x3x3x3xf32>) -> tensor<1x3x2x8x8xf32>
  return %0 : tensor<1x3x2x8x8xf32>
}

// -----

// A quantised input is padded with its zero point, which counts as 0.

// CHECK-LABEL: func @quantised(
// CHECK:         %[[W:.+]] = tarpon.constant {quantized_type = tensor<2x1x1x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, value = dense<{{\[\[\[}}2]], {{\[\[}}5]]]> : tensor<2x1x1xi8>} : tensor<2x1x1x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
// CHECK-NEXT:    tarpon.conv %{{.+}}, %[[W]] {dilations = array<i64: 1>, pads = array<i64: 0, 0>,
func.func @quantised(%x: tensor<1x1x4x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<1x2x4xf32> {
  %w = tarpon.constant {value = dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8>, quantized_type = tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>} : tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 4, 4>, dilations = array<i64: 4>} : (tensor<1x1x4x!quant.uniform<u8:f32, 0.5:7>>, tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

// No tap reads input: one is left.

// CHECK-LABEL: func @reads_nothing(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>}
// CHECK-SAME:    (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
func.func @reads_nothing(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %w = tarpon.constant {value = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 5, 5>, dilations = array<i64: 4>} : (tensor<1x1x1xf32>, tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// -----

// The outer taps read only padding, but without them the window would begin and
// end inside of the input.

// CHECK-LABEL: func @pads_would_be_negative(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 8>, pads = array<i64: 5, 3>,
// CHECK-SAME:    tensor<1x1x3xf32>)
func.func @pads_would_be_negative(%x: tensor<1x1x10xf32>) -> tensor<1x1x2xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 5, 3>, dilations = array<i64: 8>} : (tensor<1x1x10xf32>, tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func @filter_is_not_constant(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 4>, pads = array<i64: 4, 4>,
func.func @filter_is_not_constant(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x4xf32> {
  %0 = tarpon.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 4, 4>, dilations = array<i64: 4>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// -----

// Numbers that nobody meant must not overflow.

// CHECK-LABEL: func @huge_padding(
// CHECK:         tarpon.conv {{.*}} {dilations = array<i64: 4611686018427387904>, pads = array<i64: 9223372036854775807, 4>,
func.func @huge_padding(%x: tensor<1x1x4xf32>) -> tensor<1x1x1xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<1x1x2xf32>} : tensor<1x1x2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 9223372036854775807>, pads = array<i64: 9223372036854775807, 4>, dilations = array<i64: 4611686018427387904>} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

// -----

// Two convolutions share a filter, of which one needs all taps.

// CHECK-LABEL: func @shared_filter(
// CHECK-DAG:     %[[ALL:.+]] = tarpon.constant {{.*}} : tensor<1x1x3xf32>
// CHECK-DAG:     %[[ONE:.+]] = tarpon.constant {{.*}} : tensor<1x1x1xf32>
// CHECK:         tarpon.conv %{{.+}}, %[[ALL]] {dilations = array<i64: 1>, pads = array<i64: 1, 1>,
// CHECK:         tarpon.conv %{{.+}}, %[[ONE]] {dilations = array<i64: 1>, pads = array<i64: 0, 0>,
func.func @shared_filter(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = tarpon.constant {value = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %1 = tarpon.conv %0, %w {strides = array<i64: 1>, pads = array<i64: 5, 5>, dilations = array<i64: 5>} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}
