// RUN: graph-opt %s -tarpon-round-in-epilogues -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-round-in-epilogues -tarpon-fuse -split-input-file | FileCheck %s --check-prefix=FUSED

!u8 = !quant.uniform<u8:f32, 0.5:3>
!i8 = !quant.uniform<i8:f32, 0.25>

// The later product of two is in front, the other one is stored.

// CHECK-LABEL: func @residual(
// CHECK:         %[[A:.+]] = tarpon.matmul
// CHECK:         %[[AQ:.+]] = tarpon.convert %[[A]]
// CHECK:         %[[AF:.+]] = tarpon.convert %[[AQ]]
// CHECK:         %[[B:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[TWO:.+]] = tarpon.constant {value = dense<2.000000e+00> : tensor<1x1xf32>}
// CHECK-NEXT:    %[[S:.+]] = tarpon.mul %[[B]], %[[TWO]]
// CHECK-NEXT:    %[[R:.+]] = tarpon.round %[[S]]
// CHECK-NEXT:    %[[C:.+]] = tarpon.clip %[[R]] {high = 2.520000e+02 : f64, low = -3.000000e+00 : f64}
// CHECK-NEXT:    %[[HALF:.+]] = tarpon.constant {value = dense<5.000000e-01> : tensor<1x1xf32>}
// CHECK-NEXT:    %[[V:.+]] = tarpon.mul %[[C]], %[[HALF]]
// CHECK-NEXT:    tarpon.add %[[AF]], %[[V]]

// FUSED-LABEL: func @residual(
// FUSED-COUNT-2: tarpon.fused
// FUSED-NOT:     tarpon.fused
// FUSED:         return
func.func @residual(%x: tensor<4x3x!u8>, %w: tensor<3x2x!i8>) -> tensor<4x2x!u8> {
  %0 = tarpon.matmul %x, %w : (tensor<4x3x!u8>, tensor<3x2x!i8>) -> tensor<4x2xf32>
  %1 = tarpon.convert %0 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %2 = tarpon.convert %1 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %3 = tarpon.matmul %x, %w : (tensor<4x3x!u8>, tensor<3x2x!i8>) -> tensor<4x2xf32>
  %4 = tarpon.convert %3 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %5 = tarpon.convert %4 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %6 = tarpon.add %2, %5 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %7 = tarpon.convert %6 : tensor<4x2xf32> -> tensor<4x2x!u8>
  return %7 : tensor<4x2x!u8>
}

// -----

// The product is in front, although the sigmoid is later.

!u8 = !quant.uniform<u8:f32, 0.5>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @product_first(
// CHECK:         %[[M:.+]] = tarpon.matmul
// CHECK:         %[[B:.+]] = tarpon.add %[[M]]
// CHECK:         tarpon.mul %[[B]]
// CHECK:         tarpon.round
// CHECK-NOT:     tarpon.round
// CHECK:         return
func.func @product_first(%x: tensor<4x3x!u8>, %w: tensor<3x2x!i8>, %b: tensor<2xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = tarpon.matmul %x, %w : (tensor<4x3x!u8>, tensor<3x2x!i8>) -> tensor<4x2xf32>
  %1 = tarpon.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %2 = tarpon.convert %1 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %3 = tarpon.convert %2 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %4 = tarpon.sigmoid %y : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = tarpon.convert %4 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %6 = tarpon.convert %5 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %7 = tarpon.add %6, %3 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %7 : tensor<4x2xf32>
}

// -----

// Another reader of the 8 bits needs them stored; a softmax has no epilogue; and
// an operand that is broadcast is no part of a chain.

!u8 = !quant.uniform<u8:f32, 0.5:3>

// CHECK-LABEL: func @negative(
// CHECK-NOT:     tarpon.round
func.func @negative(%x: tensor<4x2xf32>, %y: tensor<1x2xf32>) -> (tensor<4x2xf32>, tensor<4x2x!u8>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = tarpon.sigmoid %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = tarpon.convert %0 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %2 = tarpon.convert %1 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %3 = tarpon.add %2, %x : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %4 = tarpon.softmax %x {axis = 1 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = tarpon.convert %4 : tensor<4x2xf32> -> tensor<4x2x!u8>
  %6 = tarpon.convert %5 : tensor<4x2x!u8> -> tensor<4x2xf32>
  %7 = tarpon.add %6, %x : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %8 = tarpon.sigmoid %y : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %9 = tarpon.convert %8 : tensor<1x2xf32> -> tensor<1x2x!u8>
  %10 = tarpon.convert %9 : tensor<1x2x!u8> -> tensor<1x2xf32>
  %11 = tarpon.add %10, %x : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %3, %1, %7, %11 : tensor<4x2xf32>, tensor<4x2x!u8>, tensor<4x2xf32>, tensor<4x2xf32>
}
