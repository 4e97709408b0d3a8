// RUN: graph-opt %s -tarpon-move-convolutions -split-input-file | FileCheck %s

// A convolution of a resize has a quarter of the pixels.

// CHECK-LABEL: func @resize(
// CHECK-SAME:    %[[X:.+]]: tensor<1x32x4x4xf32>)
// CHECK:         %[[W:.+]] = tarpon.constant {value = dense<2.000000e+00> : tensor<8x32x1x1xf32>}
// CHECK:         %[[C:.+]] = tarpon.conv %[[X]], %[[W]] {{.*}} -> tensor<1x8x4x4xf32>
// CHECK:         %[[R:.+]] = tarpon.resize %[[C]] {coordinates = 0 : i32, mode = 1 : i32, {{.*}}sizes = array<i64: 1, 8, 8, 8>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x8x8xf32>
// CHECK:         return %[[R]]
func.func @resize(%x: tensor<1x32x4x4xf32>) -> tensor<1x8x8x8xf32> {
  %w = tarpon.constant {value = dense<2.0> : tensor<8x32x1x1xf32>} : tensor<8x32x1x1xf32>
  %0 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %1 = tarpon.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %1 : tensor<1x8x8x8xf32>
}

// -----

// Of a concat, each resize is added to what the others give together, with the
// channels of the filter that are its own.

// CHECK-LABEL: func @concat(
// CHECK-SAME:    %[[A:.+]]: tensor<1x1x8x8xf32>, %[[B:.+]]: tensor<1x32x4x4xf32>, %[[C:.+]]: tensor<1x2x8x8xf32>)
// CHECK-DAG:     %[[WIDE:.+]] = tarpon.constant {value = dense<{{\[\[}}{{.*}}1.000000e+00{{.*}}3.000000e+00{{.*}}3.000000e+00{{.*}}> : tensor<1x3x1x1xf32>}
// CHECK-DAG:     %[[NARROW:.+]] = tarpon.constant {value = dense<2.000000e+00> : tensor<1x32x1x1xf32>}
// CHECK-DAG:     %[[OTHERS:.+]] = tarpon.concat %[[A]], %[[C]] {axis = 1 : i64} : {{.*}} -> tensor<1x3x8x8xf32>
// CHECK-DAG:     %[[LARGE:.+]] = tarpon.conv %[[OTHERS]], %[[WIDE]]
// CHECK-DAG:     %[[SMALL:.+]] = tarpon.conv %[[B]], %[[NARROW]] {{.*}} -> tensor<1x1x4x4xf32>
// CHECK:         %[[R:.+]] = tarpon.resize %[[SMALL]]
// CHECK-NEXT:    %[[SUM:.+]] = tarpon.add %[[LARGE]], %[[R]]
// CHECK-NEXT:    return %[[SUM]]
func.func @concat(%a: tensor<1x1x8x8xf32>, %b: tensor<1x32x4x4xf32>, %c: tensor<1x2x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[2.0]], [[3.0]], [[3.0]]]]> : tensor<1x35x1x1xf32>} : tensor<1x35x1x1xf32>
  %0 = tarpon.resize %b {coordinates = 2 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %1 = tarpon.concat %a, %0, %c {axis = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x35x8x8xf32>
  %2 = tarpon.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x35x8x8xf32>, tensor<1x35x1x1xf32>) -> tensor<1x1x8x8xf32>
  return %2 : tensor<1x1x8x8xf32>
}

// -----

// A resize that makes an image smaller, one of few channels, one of fewer than
// the result has, one whose places outside of the image are a constant, one whose
// channels are moved, and one that something else reads.

// CHECK-LABEL: func @stay(
// CHECK:         %[[SMALLER:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[SMALLER]]
// CHECK:         %[[THIN:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[THIN]]
// CHECK:         %[[WIDER:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[WIDER]]
// CHECK:         %[[CROPPED:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[CROPPED]]
// CHECK:         %[[MOVED:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[MOVED]]
// CHECK:         %[[READ:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[READ]]
func.func @stay(%x: tensor<1x32x4x4xf32>, %thin: tensor<1x31x4x4xf32>) -> (tensor<1x8x2x2xf32>, tensor<1x8x8x8xf32>, tensor<1x33x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x32x8x8xf32>) {
  %w8 = tarpon.constant {value = dense<2.0> : tensor<8x32x1x1xf32>} : tensor<8x32x1x1xf32>
  %w31 = tarpon.constant {value = dense<2.0> : tensor<8x31x1x1xf32>} : tensor<8x31x1x1xf32>
  %w33 = tarpon.constant {value = dense<2.0> : tensor<33x32x1x1xf32>} : tensor<33x32x1x1xf32>
  %0 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 0.5, 0.5>, sizes = array<i64: 1, 32, 2, 2>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x2x2xf32>
  %1 = tarpon.conv %0, %w8 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x2x2xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x2x2xf32>
  %2 = tarpon.resize %thin {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 31, 8, 8>} : (tensor<1x31x4x4xf32>) -> tensor<1x31x8x8xf32>
  %3 = tarpon.conv %2, %w31 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x31x8x8xf32>, tensor<8x31x1x1xf32>) -> tensor<1x8x8x8xf32>
  %4 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %5 = tarpon.conv %4, %w33 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<33x32x1x1xf32>) -> tensor<1x33x8x8xf32>
  %6 = tarpon.resize %x {coordinates = 5 : i32, mode = 1 : i32, roi = array<f64: 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.5, 1.5>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %7 = tarpon.conv %6, %w8 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x8x8xf32>
  %10 = tarpon.resize %x {coordinates = 4 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %11 = tarpon.conv %10, %w8 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x8x8xf32>
  %8 = tarpon.resize %x {coordinates = 0 : i32, mode = 0 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %9 = tarpon.conv %8, %w8 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %1, %3, %5, %7, %11, %9, %8 : tensor<1x8x2x2xf32>, tensor<1x8x8x8xf32>, tensor<1x33x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x32x8x8xf32>
}

// -----

// A window of several pixels.

// CHECK-LABEL: func @other_convolutions(
// CHECK:         %[[R:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[R]]
func.func @other_convolutions(%x: tensor<1x32x4x4xf32>) -> tensor<1x8x8x8xf32> {
  %w = tarpon.constant {value = dense<2.0> : tensor<8x32x3x3xf32>} : tensor<8x32x3x3xf32>
  %0 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %1 = tarpon.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %1 : tensor<1x8x8x8xf32>
}

// -----

// A stride, several groups, and a filter that is not constant.

// CHECK-LABEL: func @more_convolutions(
// CHECK:         %[[STRIDED:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[STRIDED]]
// CHECK:         %[[GROUPS:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[GROUPS]]
// CHECK:         %[[GIVEN:.+]] = tarpon.resize
// CHECK:         tarpon.conv %[[GIVEN]]
func.func @more_convolutions(%x: tensor<1x32x4x4xf32>, %given: tensor<8x32x1x1xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %w = tarpon.constant {value = dense<2.0> : tensor<8x32x1x1xf32>} : tensor<8x32x1x1xf32>
  %half = tarpon.constant {value = dense<2.0> : tensor<8x16x1x1xf32>} : tensor<8x16x1x1xf32>
  %0 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %1 = tarpon.conv %0, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %3 = tarpon.conv %2, %half {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x32x8x8xf32>, tensor<8x16x1x1xf32>) -> tensor<1x8x8x8xf32>
  %4 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 8, 8>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x8x8xf32>
  %5 = tarpon.conv %4, %given {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x8x8xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %1, %3, %5 : tensor<1x8x4x4xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}
