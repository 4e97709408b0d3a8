// RUN: graph-opt %s -tarpon-merge-products -split-input-file | FileCheck %s

// x A + b, times B, is x (A B) + b B.

// CHECK-LABEL: func @matmuls(
// CHECK-SAME:    %[[X:.+]]: tensor<1x3x1xf32>)
// CHECK-DAG:     %[[AB:.+]] = tarpon.constant {value = dense<1.100000e+01> : tensor<1x1xf32>}
// CHECK-DAG:     %[[BB:.+]] = tarpon.constant {value = dense<3.900000e+01> : tensor<1xf32>}
// CHECK-DAG:     %[[P:.+]] = tarpon.matmul %[[X]], %[[AB]]
// CHECK:         %[[S:.+]] = tarpon.add %[[P]], %[[BB]]
// CHECK-NEXT:    return %[[S]]
func.func @matmuls(%x: tensor<1x3x1xf32>) -> tensor<1x3x1xf32> {
  %a = tarpon.constant {value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>} : tensor<1x2xf32>
  %b = tarpon.constant {value = dense<[[3.0], [4.0]]> : tensor<2x1xf32>} : tensor<2x1xf32>
  %bias = tarpon.constant {value = dense<[5.0, 6.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.matmul %x, %a : (tensor<1x3x1xf32>, tensor<1x2xf32>) -> tensor<1x3x2xf32>
  %1 = tarpon.add %0, %bias : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  %2 = tarpon.matmul %1, %b : (tensor<1x3x2xf32>, tensor<2x1xf32>) -> tensor<1x3x1xf32>
  return %2 : tensor<1x3x1xf32>
}

// -----

// The pixels of a matmul's rows become an image, which is convolved.

// CHECK-LABEL: func @tokens_to_image(
// CHECK-SAME:    %[[X:.+]]: tensor<1x6x2xf32>)
// CHECK:         %[[W:.+]] = tarpon.constant {value = dense<3.200000e+01> : tensor<2x1xf32>}
// CHECK:         %[[P:.+]] = tarpon.matmul %[[X]], %[[W]] : (tensor<1x6x2xf32>, tensor<2x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[P]] {permutation = array<i64: 0, 2, 1>} : (tensor<1x6x1xf32>) -> tensor<1x1x6xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[T]] : (tensor<1x1x6xf32>) -> tensor<1x1x2x3xf32>
// CHECK-NEXT:    return %[[R]]
func.func @tokens_to_image(%x: tensor<1x6x2xf32>) -> tensor<1x1x2x3xf32> {
  %a = tarpon.constant {value = dense<2.0> : tensor<2x4xf32>} : tensor<2x4xf32>
  %b = tarpon.constant {value = dense<[[[[1.0]], [[3.0]], [[5.0]], [[7.0]]]]> : tensor<1x4x1x1xf32>} : tensor<1x4x1x1xf32>
  %0 = tarpon.matmul %x, %a : (tensor<1x6x2xf32>, tensor<2x4xf32>) -> tensor<1x6x4xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x6x4xf32>) -> tensor<1x4x6xf32>
  %2 = tarpon.reshape %1 : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>
  %3 = tarpon.conv %2, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x2x3xf32>
  return %3 : tensor<1x1x2x3xf32>
}

// -----

// Two convolutions, whose bias has the dimensions of an image.

// CHECK-LABEL: func @convolutions(
// CHECK-SAME:    %[[X:.+]]: tensor<1x1x2x2xf32>)
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {value = dense<1.100000e+01> : tensor<1x1x1x1xf32>}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<3.900000e+01> : tensor<1x1x1x1xf32>}
// CHECK-DAG:     %[[P:.+]] = tarpon.conv %[[X]], %[[W]]
// CHECK:         %[[S:.+]] = tarpon.add %[[P]], %[[B]]
// CHECK-NEXT:    return %[[S]]
func.func @convolutions(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %a = tarpon.constant {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %b = tarpon.constant {value = dense<[[[[3.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>} : tensor<1x2x1x1xf32>
  %bias = tarpon.constant {value = dense<[[[[5.0]], [[6.0]]]]> : tensor<1x2x1x1xf32>} : tensor<1x2x1x1xf32>
  %0 = tarpon.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tarpon.add %0, %bias : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = tarpon.conv %1, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  return %2 : tensor<1x1x2x2xf32>
}

// -----

// Filters have the result's channels first: B A, and a bias of all of its columns.

// CHECK-LABEL: func @several_channels(
// CHECK:         tarpon.constant {value = dense<{{\[\[}}{{\[\[}}9.000000e+00]], {{\[\[}}1.200000e+01]]], {{\[\[\[}}1.900000e+01]], {{\[\[}}2.600000e+01]]]]> : tensor<2x2x1x1xf32>}
func.func @several_channels(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %a = tarpon.constant {value = dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[1.0]], [[1.0]]]]> : tensor<3x2x1x1xf32>} : tensor<3x2x1x1xf32>
  %b = tarpon.constant {value = dense<[[[[1.0]], [[2.0]], [[2.0]]], [[[3.0]], [[4.0]], [[4.0]]]]> : tensor<2x3x1x1xf32>} : tensor<2x3x1x1xf32>
  %0 = tarpon.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x2x2xf32>
  %1 = tarpon.conv %0, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}

// -----

// Through few channels, two products take fewer multiplications; vectors that a
// reshape takes apart, or a transpose makes of others, are not those of the
// first product; and a value that something else reads is needed.

// CHECK-LABEL: func @stay(
// CHECK-COUNT-8: tarpon.matmul
func.func @stay(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %narrow = tarpon.constant {value = dense<2.0> : tensor<4x1xf32>} : tensor<4x1xf32>
  %wide = tarpon.constant {value = dense<2.0> : tensor<1x4xf32>} : tensor<1x4xf32>
  %half = tarpon.constant {value = dense<2.0> : tensor<2x4xf32>} : tensor<2x4xf32>
  %square = tarpon.constant {value = dense<2.0> : tensor<4x4xf32>} : tensor<4x4xf32>
  %0 = tarpon.matmul %x, %narrow : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = tarpon.matmul %0, %wide : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %2 = tarpon.matmul %x, %square : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tarpon.reshape %2 : (tensor<4x4xf32>) -> tensor<8x2xf32>
  %4 = tarpon.matmul %3, %half : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %5 = tarpon.matmul %x, %square : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = tarpon.transpose %5 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = tarpon.matmul %6, %square : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = tarpon.matmul %x, %square : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = tarpon.matmul %8, %square : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %4, %7, %9, %8 : tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
