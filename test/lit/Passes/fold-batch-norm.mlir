// RUN: graph-opt %s -tarpon-fold-batch-norm -split-input-file | FileCheck %s

// factor = scale / sqrt(variance + epsilon) = [2, 3] / [2, 1]
// shift = bias - mean * factor = [1, 2] - [1, 1] * [1, 3]

// CHECK-LABEL: func @folds_into_conv(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}0.000000e+00]], {{\[\[}}-1.000000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK:         %[[Y:.+]] = tarpon.conv %[[X]], %[[W]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.add %[[Y]], %[[B]]
// CHECK-NEXT:    return %[[R]]
func.func @folds_into_conv(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %scale = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %bias = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %mean = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %variance = tarpon.constant {value = dense<[3.0, 0.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// -----

// The bias of the conv, [10, 20], is scaled too.

// CHECK-LABEL: func @folds_across_bias_of_grouped_conv(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}2.100000e+01]], {{\[\[}}6.200000e+01]]]]> : tensor<1x2x1x1xf32>}
// CHECK:         %[[Y:.+]] = tarpon.conv %[[X]], %[[W]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.add %[[Y]], %[[B]]
// CHECK-NEXT:    return %[[R]]
func.func @folds_across_bias_of_grouped_conv(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %b = tarpon.constant {value = dense<[[[10.0]], [[20.0]]]> : tensor<2x1x1xf32>} : tensor<2x1x1xf32>
  %scale = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %bias = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %mean = tarpon.constant {value = dense<0.0> : tensor<2xf32>} : tensor<2xf32>
  %variance = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.add %b, %0 : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = tarpon.batch_norm %1, %scale, %bias, %mean, %variance {epsilon = 0.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// -----

// The channels of a conv_transpose's filter are its dimension 1.

// CHECK-LABEL: func @folds_into_conv_transpose(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}1.000000e+00]], {{\[\[}}6.000000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<{{\[\[\[\[}}0.000000e+00]], {{\[\[}}-1.000000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK:         %[[Y:.+]] = tarpon.conv_transpose %[[X]], %[[W]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.add %[[Y]], %[[B]]
// CHECK-NEXT:    return %[[R]]
func.func @folds_into_conv_transpose(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>} : tensor<1x2x1x1xf32>
  %scale = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %bias = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %mean = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %variance = tarpon.constant {value = dense<[3.0, 0.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x1x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// -----

// In groups, a channel of its filter stands for several of the result.

// CHECK-LABEL: func @expands_behind_grouped_conv_transpose(
// CHECK:         tarpon.conv_transpose
// CHECK-NEXT:    tarpon.mul
// CHECK-NEXT:    tarpon.add
func.func @expands_behind_grouped_conv_transpose(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %one = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.batch_norm %0, %one, %one, %one, %one {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// -----

// The channels of a matmul's filter are its columns, or transposed its rows.

// CHECK-LABEL: func @folds_into_matmul(
// CHECK-DAG:     tarpon.constant {value = dense<{{\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]> : tensor<2x2xf32>}
// CHECK-DAG:     tarpon.constant {value = dense<{{\[\[}}2.000000e+00, 4.000000e+00], [9.000000e+00, 1.200000e+01]]> : tensor<2x2xf32>}
// CHECK:         tarpon.matmul
// CHECK-NEXT:    tarpon.add
// CHECK:         tarpon.matmul
// CHECK-NEXT:    tarpon.add
// CHECK-NOT:     tarpon.batch_norm
func.func @folds_into_matmul(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : tensor<2x2xf32>
  %scale = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %zero = tarpon.constant {value = dense<0.0> : tensor<2xf32>} : tensor<2xf32>
  %one = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = tarpon.batch_norm %0, %scale, %zero, %zero, %one {epsilon = 0.0 : f32} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = tarpon.matmul %1, %w {transpose_rhs = true} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %3 = tarpon.batch_norm %2, %scale, %zero, %zero, %one {epsilon = 0.0 : f32} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// Two in a row fold one after the other.

// CHECK-LABEL: func @folds_twice(
// CHECK:         tarpon.conv
// CHECK-NEXT:    %[[R:.+]] = tarpon.add
// CHECK-NEXT:    return %[[R]]
func.func @folds_twice(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %p = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = tarpon.batch_norm %1, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// -----

// Another user needs the conv as it was; the batch norm becomes mul and add.

// CHECK-LABEL: func @negative_conv_has_other_user(
// CHECK-DAG:     %[[F:.+]] = tarpon.constant {value = dense<{{.*}} {{\[\[}}1.500000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK-DAG:     %[[S:.+]] = tarpon.constant {value = dense<{{.*}}-1.500000e+00]]]]> : tensor<1x2x1x1xf32>}
// CHECK:         %[[Y:.+]] = tarpon.conv
// CHECK-NEXT:    %[[M:.+]] = tarpon.mul %[[Y]], %[[F]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.add %[[M]], %[[S]]
// CHECK-NEXT:    return %[[Y]], %[[R]]
func.func @negative_conv_has_other_user(%x: tensor<1x1x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %p = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %0, %1 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// So it is where a bias follows the conv.

// CHECK-LABEL: func @negative_conv_before_bias_has_other_user(
// CHECK:         %[[Y:.+]] = tarpon.conv
// CHECK-NEXT:    %[[B:.+]] = tarpon.add %[[Y]]
// CHECK-NEXT:    %[[M:.+]] = tarpon.mul %[[B]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.add %[[M]]
// CHECK-NEXT:    return %[[Y]], %[[R]]
func.func @negative_conv_before_bias_has_other_user(%x: tensor<1x1x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %b = tarpon.constant {value = dense<[[[10.0]], [[20.0]]]> : tensor<2x1x1xf32>} : tensor<2x1x1xf32>
  %p = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.add %0, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = tarpon.batch_norm %1, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %0, %2 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// A factor does not pass a relu.

// CHECK-LABEL: func @negative_relu_between(
// CHECK:         tarpon.relu
// CHECK:         tarpon.mul
// CHECK-NEXT:    tarpon.add
func.func @negative_relu_between(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %p = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = tarpon.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = tarpon.batch_norm %1, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// -----

// In a batched matmul dimension 1 counts rows, not the filter's channels.

// CHECK-LABEL: func @negative_batched_matmul(
// CHECK:         tarpon.matmul
// CHECK:         tarpon.mul
// CHECK-NEXT:    tarpon.add
func.func @negative_batched_matmul(%x: tensor<3x2x4xf32>) -> tensor<3x2x2xf32> {
  %w = tarpon.constant {value = dense<1.0> : tensor<4x2xf32>} : tensor<4x2xf32>
  %p = tarpon.constant {value = dense<[2.0, 3.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.matmul %x, %w : (tensor<3x2x4xf32>, tensor<4x2xf32>) -> tensor<3x2x2xf32>
  %1 = tarpon.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<3x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2x2xf32>
  return %1 : tensor<3x2x2xf32>
}

// -----

// Nothing is known of parameters that are computed.

// CHECK-LABEL: func @negative_parameters_not_constant(
// CHECK:         tarpon.batch_norm
func.func @negative_parameters_not_constant(%x: tensor<1x2x3x3xf32>, %p: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %0 = tarpon.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %0 : tensor<1x2x3x3xf32>
}
