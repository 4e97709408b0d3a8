// RUN: graph-opt %s -canonicalize -split-input-file | FileCheck %s

!per_channel = !quant.uniform<i8:f32:0, {0.5, 0.25}>
!per_channel_1 = !quant.uniform<i8:f32:1, {0.5, 0.25}>
!per_tensor = !quant.uniform<i8:f32, 0.5>

// Equal constants become one.
// CHECK-LABEL: func @constants()
// CHECK-COUNT-1: tarpon.constant
// CHECK-NOT:     tarpon.constant
// CHECK:         return %[[C:.+]], %[[C]]
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %1 = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Unless their storage means something else.
// CHECK-LABEL: func @negative_constants()
// CHECK-COUNT-2: tarpon.constant
func.func @negative_constants() -> (tensor<2xi8>, tensor<2x!per_tensor>) {
  %0 = tarpon.constant {value = dense<1> : tensor<2xi8>} : tensor<2xi8>
  %1 = tarpon.constant {value = dense<1> : tensor<2xi8>, quantized_type = tensor<2x!per_tensor>} : tensor<2x!per_tensor>
  return %0, %1 : tensor<2xi8>, tensor<2x!per_tensor>
}

// CHECK-LABEL: func @reshape_identity(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-NEXT:    return %[[X]]
func.func @reshape_identity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tarpon.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @reshape_of_reshape(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-NEXT:    %[[Y:.+]] = tarpon.reshape %[[X]] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %[[Y]], %[[X]]
func.func @reshape_of_reshape(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = tarpon.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = tarpon.reshape %0 : (tensor<6xf32>) -> tensor<3x2xf32>
  %2 = tarpon.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @reshape_of_constants()
// CHECK-DAG:     value = dense<{{\[}}[1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-DAG:     value = dense<7> : tensor<2x2xi32>
// CHECK-DAG:     value = dense_resource<blob> : tensor<2x1xf32>
// CHECK-DAG:     {quantized_type = tensor<2x1x!quant.uniform<i8:f32, 5.000000e-01>>, value = dense<{{\[}}[1], [2]]> : tensor<2x1xi8>}
func.func @reshape_of_constants() -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x1xf32>, tensor<2x1x!per_tensor>) {
  %a = tarpon.constant {value = dense<[1, 2, 3, 4]> : tensor<4xi32>} : tensor<4xi32>
  %s = tarpon.constant {value = dense<7> : tensor<4xi32>} : tensor<4xi32>
  %r = tarpon.constant {value = dense_resource<blob> : tensor<2xf32>} : tensor<2xf32>
  %q = tarpon.constant {value = dense<[1, 2]> : tensor<2xi8>, quantized_type = tensor<2x!per_tensor>} : tensor<2x!per_tensor>
  %0 = tarpon.reshape %a : (tensor<4xi32>) -> tensor<2x2xi32>
  %1 = tarpon.reshape %s : (tensor<4xi32>) -> tensor<2x2xi32>
  %2 = tarpon.reshape %r : (tensor<2xf32>) -> tensor<2x1xf32>
  %3 = tarpon.reshape %q : (tensor<2x!per_tensor>) -> tensor<2x1x!per_tensor>
  return %0, %1, %2, %3 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x1xf32>, tensor<2x1x!per_tensor>
}

// Constants are row-major.
// CHECK-LABEL: func @negative_reshape_to_a_layout()
// CHECK:         tarpon.reshape
func.func @negative_reshape_to_a_layout() -> tensor<1x2x1xf32, #tarpon.layout<nhwc>> {
  %a = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.reshape %a : (tensor<2xf32>) -> tensor<1x2x1xf32, #tarpon.layout<nhwc>>
  return %0 : tensor<1x2x1xf32, #tarpon.layout<nhwc>>
}

// CHECK-LABEL: func @transpose_identity(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-NEXT:    return %[[X]]
func.func @transpose_identity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tarpon.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// One of each element size.
// CHECK-LABEL: func @transpose_of_constants()
// CHECK-DAG:     value = dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG:     value = dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
// CHECK-DAG:     value = dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi16>
// CHECK-DAG:     value = dense<{{\[}}{{\[}}[1, 5], [3, 7]], {{\[}}[2, 6], [4, 8]]]> : tensor<2x2x2xi8>
// CHECK-DAG:     value = dense<{{\[}}[true, true], [false, true]]> : tensor<2x2xi1>
func.func @transpose_of_constants() -> (tensor<3x2xi32>, tensor<3x2xi64>, tensor<3x2xi16>, tensor<2x2x2xi8>, tensor<2x2xi1>) {
  %a = tarpon.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : tensor<2x3xi32>
  %b = tarpon.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>} : tensor<2x3xi64>
  %c = tarpon.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>} : tensor<2x3xi16>
  %d = tarpon.constant {value = dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi8>} : tensor<2x2x2xi8>
  %e = tarpon.constant {value = dense<[[true, false], [true, true]]> : tensor<2x2xi1>} : tensor<2x2xi1>
  %0 = tarpon.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = tarpon.transpose %b {permutation = array<i64: 1, 0>} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %2 = tarpon.transpose %c {permutation = array<i64: 1, 0>} : (tensor<2x3xi16>) -> tensor<3x2xi16>
  %3 = tarpon.transpose %d {permutation = array<i64: 2, 1, 0>} : (tensor<2x2x2xi8>) -> tensor<2x2x2xi8>
  %4 = tarpon.transpose %e {permutation = array<i64: 1, 0>} : (tensor<2x2xi1>) -> tensor<2x2xi1>
  return %0, %1, %2, %3, %4 : tensor<3x2xi32>, tensor<3x2xi64>, tensor<3x2xi16>, tensor<2x2x2xi8>, tensor<2x2xi1>
}

// CHECK-LABEL: func @transpose_of_splat_and_quantised()
// CHECK-DAG:     value = dense<1.000000e+00> : tensor<3000x2000xf32>
// CHECK-DAG:     {quantized_type = tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>, value = dense<{{\[}}[1, 3], [2, 4]]> : tensor<2x2xi8>}
func.func @transpose_of_splat_and_quantised() -> (tensor<3000x2000xf32>, tensor<2x2x!per_channel_1>) {
  %s = tarpon.constant {value = dense<1.0> : tensor<2000x3000xf32>} : tensor<2000x3000xf32>
  %q = tarpon.constant {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, quantized_type = tensor<2x2x!per_channel>} : tensor<2x2x!per_channel>
  %0 = tarpon.transpose %s {permutation = array<i64: 1, 0>} : (tensor<2000x3000xf32>) -> tensor<3000x2000xf32>
  %1 = tarpon.transpose %q {permutation = array<i64: 1, 0>} : (tensor<2x2x!per_channel>) -> tensor<2x2x!per_channel_1>
  return %0, %1 : tensor<3000x2000xf32>, tensor<2x2x!per_channel_1>
}

// CHECK-LABEL: func @concat_of_one(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-NEXT:    return %[[X]]
func.func @concat_of_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tarpon.concat %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @concat_of_constants()
// CHECK-DAG:     value = dense<{{\[}}[1, 2, 9, 0], [3, 4, 9, 5]]> : tensor<2x4xi64>
// CHECK-DAG:     value = dense<{{\[}}[1, 2], [3, 4], [9, 9]]> : tensor<3x2xi64>
// CHECK-DAG:     value = dense<9> : tensor<4x1xi64>
func.func @concat_of_constants() -> (tensor<2x4xi64>, tensor<3x2xi64>, tensor<4x1xi64>) {
  %a = tarpon.constant {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>} : tensor<2x2xi64>
  %s = tarpon.constant {value = dense<9> : tensor<2x1xi64>} : tensor<2x1xi64>
  %t = tarpon.constant {value = dense<9> : tensor<1x2xi64>} : tensor<1x2xi64>
  %b = tarpon.constant {value = dense<[[0], [5]]> : tensor<2x1xi64>} : tensor<2x1xi64>
  %0 = tarpon.concat %a, %s, %b {axis = 1 : i64} : (tensor<2x2xi64>, tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x4xi64>
  %1 = tarpon.concat %a, %t {axis = 0 : i64} : (tensor<2x2xi64>, tensor<1x2xi64>) -> tensor<3x2xi64>
  %2 = tarpon.concat %s, %s {axis = 0 : i64} : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<4x1xi64>
  return %0, %1, %2 : tensor<2x4xi64>, tensor<3x2xi64>, tensor<4x1xi64>
}

// Splats of a million elements each should not become two million elements.
// CHECK-LABEL: func @negative_concat_growth()
// CHECK:         tarpon.concat
func.func @negative_concat_growth() -> tensor<2000000xf32> {
  %a = tarpon.constant {value = dense<1.0> : tensor<1000000xf32>} : tensor<1000000xf32>
  %b = tarpon.constant {value = dense<2.0> : tensor<1000000xf32>} : tensor<1000000xf32>
  %0 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<2000000xf32>
  return %0 : tensor<2000000xf32>
}

// An operand that is not constant keeps the concat.
// CHECK-LABEL: func @negative_concat_argument(
// CHECK:         tarpon.concat
func.func @negative_concat_argument(%x: tensor<1xf32>) -> tensor<2xf32> {
  %b = tarpon.constant {value = dense<2.0> : tensor<1xf32>} : tensor<1xf32>
  %0 = tarpon.concat %x, %b {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func @pad_of_constants()
// CHECK-DAG:     value = dense<{{\[}}[3, 7], [6, 7]]> : tensor<2x2xi64>
// CHECK-DAG:     value = dense<[0.000000e+00, 1.500000e+00, 1.500000e+00]> : tensor<3xf32>
// CHECK-DAG:     value = dense<5> : tensor<2xi64>
// CHECK-NOT:     tarpon.pad
func.func @pad_of_constants() -> (tensor<2x2xi64>, tensor<3xf32>, tensor<2xi64>) {
  %a = tarpon.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>} : tensor<2x3xi64>
  %s = tarpon.constant {value = dense<1.5> : tensor<4xf32>} : tensor<4xf32>
  %b = tarpon.constant {value = dense<[4, 6]> : tensor<2xi64>} : tensor<2xi64>
  %0 = tarpon.pad %a {pads = array<i64: 0, -2, 0, 1>, value = 7.0 : f64} : (tensor<2x3xi64>) -> tensor<2x2xi64>
  %1 = tarpon.pad %s {pads = array<i64: 1, -2>, value = 0.0 : f64} : (tensor<4xf32>) -> tensor<3xf32>
  // Nothing of the operand is left.
  %2 = tarpon.pad %b {pads = array<i64: 2, -2>, value = 5.0 : f64} : (tensor<2xi64>) -> tensor<2xi64>
  return %0, %1, %2 : tensor<2x2xi64>, tensor<3xf32>, tensor<2xi64>
}

// Other modes and much larger results are left to kernels.
// CHECK-LABEL: func @negative_pad()
// CHECK-COUNT-2: tarpon.pad
func.func @negative_pad() -> (tensor<4xf32>, tensor<4000xf32>) {
  %s = tarpon.constant {value = dense<[1.5, 2.5]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.pad %s {pads = array<i64: 1, 1>, value = 0.0 : f64, mode = 1 : i32} : (tensor<2xf32>) -> tensor<4xf32>
  %1 = tarpon.pad %s {pads = array<i64: 0, 3998>, value = 0.0 : f64} : (tensor<2xf32>) -> tensor<4000xf32>
  return %0, %1 : tensor<4xf32>, tensor<4000xf32>
}

{-#
  dialect_resources: { builtin: { blob: "0x040000000000803F00000040" } }
#-}

// -----

// A resize to the size that there is copies; one with places of its own may not.

// CHECK-LABEL: func @resize_to_same_size(
// CHECK-SAME:    %[[X:.+]]: tensor<1x2x4x4xf32>)
// CHECK-NEXT:    %[[R:.+]] = tarpon.resize %[[X]] {coordinates = 5 : i32
// CHECK-NEXT:    %[[T:.+]] = tarpon.resize %[[X]] {coordinates = 4 : i32
// CHECK-NEXT:    return %[[X]], %[[R]], %[[T]]
func.func @resize_to_same_size(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %0 = tarpon.resize %x {coordinates = 0 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 1.0, 1.0>, sizes = array<i64: 1, 2, 4, 4>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %1 = tarpon.resize %x {coordinates = 5 : i32, mode = 1 : i32, roi = array<f64: 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.5>, scales = array<f64: 1.0, 1.0, 1.0, 1.0>, sizes = array<i64: 1, 2, 4, 4>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = tarpon.resize %x {coordinates = 4 : i32, mode = 1 : i32, roi = array<f64>, scales = array<f64: 1.0, 1.0, 1.0, 1.0>, sizes = array<i64: 1, 2, 4, 4>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
