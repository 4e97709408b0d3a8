// RUN: graph-opt %s -tarpon-raise-channel-shuffles | FileCheck %s

// CHECK-LABEL: func @raises(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x6x4x4xf32>
// CHECK-NEXT:    %[[S:.+]] = tarpon.shuffle_channels %[[X]] {group = 3 : i64} : (tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
// CHECK-NEXT:    return %[[S]]
func.func @raises(%x: tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32> {
  %0 = tarpon.reshape %x : (tensor<2x6x4x4xf32>) -> tensor<2x3x2x4x4xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x3x2x4x4xf32>) -> tensor<2x2x3x4x4xf32>
  %2 = tarpon.reshape %1 : (tensor<2x2x3x4x4xf32>) -> tensor<2x6x4x4xf32>
  return %2 : tensor<2x6x4x4xf32>
}

// Pixels move too, or channels that are not the groups.

// CHECK-LABEL: func @negative_other_dimensions(
// CHECK-NOT:     tarpon.shuffle_channels
func.func @negative_other_dimensions(%x: tensor<2x6x4x4xf32>) -> (tensor<2x6x4x4xf32>, tensor<2x6x4x4xf32>) {
  %0 = tarpon.reshape %x : (tensor<2x6x4x4xf32>) -> tensor<2x3x2x4x4xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1, 4, 3>} : (tensor<2x3x2x4x4xf32>) -> tensor<2x2x3x4x4xf32>
  %2 = tarpon.reshape %1 : (tensor<2x2x3x4x4xf32>) -> tensor<2x6x4x4xf32>
  %3 = tarpon.reshape %x : (tensor<2x6x4x4xf32>) -> tensor<2x2x3x2x8xf32>
  %4 = tarpon.transpose %3 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x2x3x2x8xf32>) -> tensor<2x3x2x2x8xf32>
  %5 = tarpon.reshape %4 : (tensor<2x3x2x2x8xf32>) -> tensor<2x6x4x4xf32>
  return %2, %5 : tensor<2x6x4x4xf32>, tensor<2x6x4x4xf32>
}
