// RUN: graph-opt %s -tarpon-simplify-transposes | FileCheck %s

// Two transposes that undo each other, whatever the shapes between them.

// CHECK-LABEL: func @drops_inverse(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x3x4x5xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.relu %[[X]]
// CHECK-NEXT:    return %[[R]]
func.func @drops_inverse(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = tarpon.reshape %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x20xf32>) -> tensor<2x20x3xf32>
  %2 = tarpon.reshape %1 : (tensor<2x20x3xf32>) -> tensor<2x4x5x3xf32>
  %3 = tarpon.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  %4 = tarpon.relu %3 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %4 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func @moves_ones(
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape {{.*}} (tensor<1x7x1x3xf32>) -> tensor<1x1x7x3xf32>
// CHECK-NEXT:    return %[[R]]
func.func @moves_ones(%x: tensor<1x7x1x3xf32>) -> tensor<1x1x7x3xf32> {
  %0 = tarpon.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x7x1x3xf32>) -> tensor<1x1x7x3xf32>
  return %0 : tensor<1x1x7x3xf32>
}

// The patches of MobileViT: rows and columns are split, and the channels become
// the last dimension.

// CHECK-LABEL: func @merges(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x6x4x8xf32>
// CHECK-NEXT:    %[[S:.+]] = tarpon.reshape %[[X]] : (tensor<1x6x4x8xf32>) -> tensor<6x2x2x4x2xf32>
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[S]] {permutation = array<i64: 2, 4, 1, 3, 0>} : {{.*}} -> tensor<2x2x2x4x6xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[T]] : {{.*}} -> tensor<4x8x6xf32>
// CHECK-NEXT:    return %[[R]]
func.func @merges(%x: tensor<1x6x4x8xf32>) -> tensor<4x8x6xf32> {
  %0 = tarpon.reshape %x : (tensor<1x6x4x8xf32>) -> tensor<12x2x4x2xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<12x2x4x2xf32>) -> tensor<12x4x2x2xf32>
  %2 = tarpon.reshape %1 : (tensor<12x4x2x2xf32>) -> tensor<1x6x8x4xf32>
  %3 = tarpon.transpose %2 {permutation = array<i64: 0, 3, 2, 1>} : (tensor<1x6x8x4xf32>) -> tensor<1x4x8x6xf32>
  %4 = tarpon.reshape %3 : (tensor<1x4x8x6xf32>) -> tensor<4x8x6xf32>
  return %4 : tensor<4x8x6xf32>
}

// What is in between is still there for others.

// CHECK-LABEL: func @read_in_between(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x3xf32>
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[X]]
// CHECK-NEXT:    return %[[T]], %[[X]]
func.func @read_in_between(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = tarpon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @transposes_rhs(
// CHECK-SAME:      %[[A:[^:]+]]: tensor<2x1x4x6xf32>, %[[B:[^:]+]]: tensor<2x5x6xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[B]] : (tensor<2x5x6xf32>) -> tensor<2x1x5x6xf32>
// CHECK-NEXT:    {{.*}}tarpon.matmul %[[A]], %[[R]] {transpose_rhs = true}
func.func @transposes_rhs(%a: tensor<2x1x4x6xf32>, %b: tensor<2x5x6xf32>) -> tensor<2x1x4x5xf32> {
  %0 = tarpon.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x6xf32>) -> tensor<2x6x5xf32>
  %1 = tarpon.reshape %0 : (tensor<2x6x5xf32>) -> tensor<2x1x6x5xf32>
  %2 = tarpon.matmul %a, %1 : (tensor<2x1x4x6xf32>, tensor<2x1x6x5xf32>) -> tensor<2x1x4x5xf32>
  return %2 : tensor<2x1x4x5xf32>
}

// CHECK-LABEL: func @transposes_rhs_back(
// CHECK-NEXT:    {{.*}}tarpon.matmul %{{.+}}, %{{.+}} : (tensor<4x6xf32>, tensor<6x5xf32>)
func.func @transposes_rhs_back(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) -> tensor<4x5xf32> {
  %0 = tarpon.transpose %b {permutation = array<i64: 1, 0>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %1 = tarpon.matmul %a, %0 {transpose_rhs = true} : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// CHECK-LABEL: func @negative_one_transpose(
// CHECK-NEXT:    {{.*}}tarpon.transpose
// CHECK-NEXT:    {{.*}}tarpon.reshape
// CHECK-NEXT:    {{.*}}tarpon.matmul {{.*}} : (tensor<3x20xf32>, tensor<20x4xf32>)
func.func @negative_one_transpose(%a: tensor<3x20xf32>, %b: tensor<2x4x10xf32>) -> tensor<3x4xf32> {
  %0 = tarpon.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x10xf32>) -> tensor<2x10x4xf32>
  %1 = tarpon.reshape %0 : (tensor<2x10x4xf32>) -> tensor<20x4xf32>
  %2 = tarpon.matmul %a, %1 : (tensor<3x20xf32>, tensor<20x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// Neither 4 nor 6 divides the other: no digits describe the second shape.

// CHECK-LABEL: func @negative_no_digits(
// CHECK-COUNT-2: tarpon.transpose
func.func @negative_no_digits(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %0 = tarpon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = tarpon.reshape %0 : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %2 = tarpon.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// CHECK-LABEL: func @negative_empty(
// CHECK-NEXT:    {{.*}}tarpon.transpose
// CHECK-NEXT:    {{.*}}tarpon.transpose
func.func @negative_empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = tarpon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<0x3xf32>) -> tensor<3x0xf32>
  %1 = tarpon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<3x0xf32>) -> tensor<0x3xf32>
  return %1 : tensor<0x3xf32>
}
