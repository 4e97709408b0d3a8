// RUN: graph-opt %s -tarpon-raise-quantized-products -split-input-file | FileCheck %s

!u8 = !quant.uniform<u8:f32, 0.5:3>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @conv(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x2x4x4x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK:         %[[W:.+]] = tarpon.constant {{.*}} tensor<2x1x1x1x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
// CHECK:         %[[C:.+]] = tarpon.conv %[[X]], %[[W]] {{.*}} -> tensor<1x2x4x4xf32>
// CHECK-NEXT:    return %[[C]]
func.func @conv(%x: tensor<1x2x4x4x!u8>) -> tensor<1x2x4x4xf32> {
  %w = tarpon.constant {value = dense<[[[[1]]], [[[-128]]]]> : tensor<2x1x1x1xi8>, quantized_type = tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.25, 0.5}>>} : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.25, 0.5}>>
  %0 = tarpon.convert %x : tensor<1x2x4x4x!u8> -> tensor<1x2x4x4xf32>
  %1 = tarpon.convert %w : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.25, 0.5}>> -> tensor<2x1x1x1xf32>
  %2 = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// The scales of rows are those of columns behind the transpose.

!u8 = !quant.uniform<u8:f32, 0.5:3>
!rows = !quant.uniform<i8:f32:0, {0.25, 0.5}>

// CHECK-LABEL: func @transposed_weights(
// CHECK-SAME:      %[[X:[^:]+]]:
// CHECK:         %[[W:.+]] = tarpon.constant {quantized_type = {{.*}}, value = dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>} : tensor<3x2x!quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>>
// CHECK:         tarpon.matmul %[[X]], %[[W]]
func.func @transposed_weights(%x: tensor<4x3x!u8>) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>, quantized_type = tensor<2x3x!rows>} : tensor<2x3x!rows>
  %0 = tarpon.convert %x : tensor<4x3x!u8> -> tensor<4x3xf32>
  %1 = tarpon.convert %w : tensor<2x3x!rows> -> tensor<2x3xf32>
  %2 = tarpon.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = tarpon.matmul %0, %2 : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

!u8 = !quant.uniform<u8:f32, 0.5:3>
!rows = !quant.uniform<i8:f32:1, {0.25, 0.5}>

// CHECK-LABEL: func @reshaped_weights(
// CHECK-SAME:      %[[X:[^:]+]]:
// CHECK:         %[[W:.+]] = tarpon.constant {{.*}} : tensor<2x3x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
// CHECK:         tarpon.matmul %[[X]], %[[W]] {transpose_rhs = true}
func.func @reshaped_weights(%x: tensor<4x3x!u8>) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3xi8>, quantized_type = tensor<1x2x3x!rows>} : tensor<1x2x3x!rows>
  %0 = tarpon.convert %x : tensor<4x3x!u8> -> tensor<4x3xf32>
  %1 = tarpon.convert %w : tensor<1x2x3x!rows> -> tensor<1x2x3xf32>
  %2 = tarpon.reshape %1 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  %3 = tarpon.matmul %0, %2 {transpose_rhs = true} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// The f32 value has another reader.

!u8 = !quant.uniform<u8:f32, 0.5:3>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @two_readers(
// CHECK-SAME:      %[[X:[^:]+]]:
// CHECK:         %[[F:.+]] = tarpon.convert %[[X]]
// CHECK:         %[[M:.+]] = tarpon.matmul %[[X]], %{{.+}} : (tensor<4x3x!quant.uniform<u8{{.*}} -> tensor<4x2xf32>
// CHECK:         return %[[M]], %[[F]]
func.func @two_readers(%x: tensor<4x3x!u8>) -> (tensor<4x2xf32>, tensor<4x3xf32>) {
  %w = tarpon.constant {value = dense<1> : tensor<3x2xi8>, quantized_type = tensor<3x2x!i8>} : tensor<3x2x!i8>
  %0 = tarpon.convert %x : tensor<4x3x!u8> -> tensor<4x3xf32>
  %1 = tarpon.convert %w : tensor<3x2x!i8> -> tensor<3x2xf32>
  %2 = tarpon.matmul %0, %1 : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %2, %0 : tensor<4x2xf32>, tensor<4x3xf32>
}

// -----

// Converts to f32 move down, those to 8 bits up, until they meet.

!u8 = !quant.uniform<u8:f32, 0.5:3>

// CHECK-LABEL: func @meets(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x2x4x4x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[P:.+]] = tarpon.max_pool %[[X]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[P]] : (tensor<1x2x2x2x!quant{{.*}}) -> tensor<1x8x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    return %[[R]]
func.func @meets(%x: tensor<1x2x4x4x!u8>) -> tensor<1x8x!u8> {
  %0 = tarpon.convert %x : tensor<1x2x4x4x!u8> -> tensor<1x2x4x4xf32>
  %1 = tarpon.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %2 = tarpon.reshape %1 : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  %3 = tarpon.convert %2 : tensor<1x8xf32> -> tensor<1x8x!u8>
  return %3 : tensor<1x8x!u8>
}

// -----

// Each side of the concat is quantised again.

!a = !quant.uniform<u8:f32, 0.5:3>
!b = !quant.uniform<u8:f32, 0.25>

// CHECK-LABEL: func @concat(
// CHECK-SAME:      %[[X:[^:]+]]: {{.*}}, %[[Y:[^:]+]]: tensor
// CHECK-NEXT:    %[[Q:.+]] = tarpon.convert %[[Y]] : {{.*}} -> tensor<1x2x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[C:.+]] = tarpon.concat %[[X]], %[[Q]]
// CHECK-NEXT:    return %[[C]]
func.func @concat(%x: tensor<1x2x!a>, %y: tensor<1x2x!b>) -> tensor<1x4x!a> {
  %0 = tarpon.convert %x : tensor<1x2x!a> -> tensor<1x2xf32>
  %1 = tarpon.convert %y : tensor<1x2x!b> -> tensor<1x2xf32>
  %2 = tarpon.concat %0, %1 {axis = 1} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %3 = tarpon.convert %2 : tensor<1x4xf32> -> tensor<1x4x!a>
  return %3 : tensor<1x4x!a>
}

// -----

// A zero point that is not 0, unsigned weights, scales along k, weights for each
// matrix of a batch, and weights that are no constant: no kernel reads them.

!u8 = !quant.uniform<u8:f32, 0.5:3>
!z = !quant.uniform<i8:f32, 0.25:1>
!k = !quant.uniform<i8:f32:0, {0.25, 0.5}>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @negative_weights(
// CHECK-NOT:     tarpon.matmul {{.*}}!quant
func.func @negative_weights(%x: tensor<4x2x!u8>, %y: tensor<2x2x!i8>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<3x4x2xf32>, tensor<4x2xf32>) {
  %wz = tarpon.constant {value = dense<1> : tensor<2x2xi8>, quantized_type = tensor<2x2x!z>} : tensor<2x2x!z>
  %wu = tarpon.constant {value = dense<1> : tensor<2x2xi8>, quantized_type = tensor<2x2x!u8>} : tensor<2x2x!u8>
  %wk = tarpon.constant {value = dense<1> : tensor<2x2xi8>, quantized_type = tensor<2x2x!k>} : tensor<2x2x!k>
  %wb = tarpon.constant {value = dense<1> : tensor<3x2x2xi8>, quantized_type = tensor<3x2x2x!i8>} : tensor<3x2x2x!i8>
  %0 = tarpon.convert %x : tensor<4x2x!u8> -> tensor<4x2xf32>
  %1 = tarpon.convert %wz : tensor<2x2x!z> -> tensor<2x2xf32>
  %2 = tarpon.convert %wu : tensor<2x2x!u8> -> tensor<2x2xf32>
  %3 = tarpon.convert %wk : tensor<2x2x!k> -> tensor<2x2xf32>
  %4 = tarpon.convert %wb : tensor<3x2x2x!i8> -> tensor<3x2x2xf32>
  %5 = tarpon.convert %y : tensor<2x2x!i8> -> tensor<2x2xf32>
  %6 = tarpon.matmul %0, %1 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %7 = tarpon.matmul %0, %2 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %8 = tarpon.matmul %0, %3 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %9 = tarpon.matmul %0, %4 : (tensor<4x2xf32>, tensor<3x2x2xf32>) -> tensor<3x4x2xf32>
  %10 = tarpon.matmul %0, %5 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %6, %7, %8, %9, %10 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<3x4x2xf32>, tensor<4x2xf32>
}

// -----

// Activations in f32, and a left-hand side that is transposed.

!u8 = !quant.uniform<u8:f32, 0.5:3>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @negative_activations(
// CHECK-NOT:     tarpon.matmul {{.*}}!quant
func.func @negative_activations(%x: tensor<4x2xf32>, %y: tensor<2x4x!u8>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = tarpon.constant {value = dense<1> : tensor<2x2xi8>, quantized_type = tensor<2x2x!i8>} : tensor<2x2x!i8>
  %0 = tarpon.convert %w : tensor<2x2x!i8> -> tensor<2x2xf32>
  %1 = tarpon.convert %y : tensor<2x4x!u8> -> tensor<2x4xf32>
  %2 = tarpon.matmul %x, %0 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %3 = tarpon.matmul %1, %0 {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// A pad with 1 is rounded, and the mean of pixels is none of them. The concat's
// second operand would be converted in a launch of its own.

!u8 = !quant.uniform<u8:f32, 0.5:3>

// CHECK-LABEL: func @negative_movement(
// CHECK:         tarpon.pad %{{.+}} -> tensor<1x3xf32>
// CHECK:         tarpon.global_avg_pool %{{.+}} -> tensor<1x2x1x1xf32>
// CHECK:         tarpon.concat %{{.+}} -> tensor<1x4xf32>
func.func @negative_movement(%x: tensor<1x2x!u8>, %y: tensor<1x2x4x4x!u8>, %z: tensor<1x2xf32>) -> (tensor<1x3x!u8>, tensor<1x2x1x1x!u8>, tensor<1x4x!u8>, tensor<1x2xf32>) {
  %0 = tarpon.convert %x : tensor<1x2x!u8> -> tensor<1x2xf32>
  %1 = tarpon.pad %0 {pads = array<i64: 0, 0, 0, 1>, value = 1.0 : f64} : (tensor<1x2xf32>) -> tensor<1x3xf32>
  %2 = tarpon.convert %1 : tensor<1x3xf32> -> tensor<1x3x!u8>
  %3 = tarpon.convert %y : tensor<1x2x4x4x!u8> -> tensor<1x2x4x4xf32>
  %4 = tarpon.global_avg_pool %3 : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %5 = tarpon.convert %4 : tensor<1x2x1x1xf32> -> tensor<1x2x1x1x!u8>
  %6 = tarpon.exp %z : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %7 = tarpon.concat %0, %6 {axis = 1} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %8 = tarpon.convert %7 : tensor<1x4xf32> -> tensor<1x4x!u8>
  return %2, %5, %8, %6 : tensor<1x3x!u8>, tensor<1x2x1x1x!u8>, tensor<1x4x!u8>, tensor<1x2xf32>
}
