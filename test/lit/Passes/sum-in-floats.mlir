// RUN: graph-opt %s -tarpon-sum-in-floats -split-input-file | FileCheck %s

// Integers that are added up and converted to floats are added as floats.

// CHECK-LABEL: func @sum_of_integers(
// CHECK:         %[[P:.+]] = tarpon.matmul %{{.+}}, %{{.+}} : (tensor<2x4x!quant.uniform<u8:f32, 1.000000e+00>>, tensor<4x2x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x2xf32>
// CHECK:         %[[Q:.+]] = tarpon.matmul
// CHECK:         %[[S:.+]] = tarpon.add %[[P]], %[[Q]]
// CHECK:         %[[Z:.+]] = tarpon.convert %{{.+}} : tensor<2xi32> -> tensor<2xf32>
// CHECK:         %[[D:.+]] = tarpon.sub %[[S]], %[[Z]]
// CHECK:         return %[[D]]
!u = !quant.uniform<u8:f32, 1.0>
!s = !quant.uniform<i8:f32, 1.0>
func.func @sum_of_integers(%x: tensor<2x4x!u>, %y: tensor<2x4x!u>, %z: tensor<2xi32>) -> tensor<2x2xf32> {
  %w = tarpon.constant {value = dense<3> : tensor<4x2xi8>, quantized_type = tensor<4x2x!s>} : tensor<4x2x!s>
  %3 = tarpon.matmul %x, %w : (tensor<2x4x!u>, tensor<4x2x!s>) -> tensor<2x2xf32>
  %4 = tarpon.matmul %y, %w : (tensor<2x4x!u>, tensor<4x2x!s>) -> tensor<2x2xf32>
  %5 = tarpon.convert %3 : tensor<2x2xf32> -> tensor<2x2xi32>
  %6 = tarpon.convert %4 : tensor<2x2xf32> -> tensor<2x2xi32>
  %7 = tarpon.add %5, %6 : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %8 = tarpon.sub %7, %z : (tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  %9 = tarpon.convert %8 : tensor<2x2xi32> -> tensor<2x2xf32>
  return %9 : tensor<2x2xf32>
}

// -----

// A product of floats is cut off where it becomes an integer.

// CHECK-LABEL: func @truncated(
// CHECK:         tarpon.convert %{{.+}} : tensor<2x2xf32> -> tensor<2x2xi32>
// CHECK:         tarpon.convert %{{.+}} : tensor<2x2xi32> -> tensor<2x2xf32>
func.func @truncated(%x: tensor<2x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %0 = tarpon.matmul %x, %w : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %1 = tarpon.convert %0 : tensor<2x2xf32> -> tensor<2x2xi32>
  %2 = tarpon.convert %1 : tensor<2x2xi32> -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
