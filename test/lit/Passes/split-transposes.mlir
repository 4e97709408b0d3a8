// RUN: graph-opt %s -tarpon-split-transposes=layout=nhwc -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-split-transposes=layout=nhwc -tarpon-assign-layout=layout=nhwc -tarpon-remove-redundant-converts -split-input-file | FileCheck %s --check-prefix=DONE

// nchw and blocked layouts change nothing.
// RUN: graph-opt %s -split-input-file > %t.before
// RUN: graph-opt %s -tarpon-split-transposes -split-input-file > %t.after
// RUN: diff %t.before %t.after
// RUN: graph-opt %s -tarpon-split-transposes=layout=nchw8c -split-input-file > %t.after
// RUN: diff %t.before %t.after

// From a convolution to a row for each pixel, and back to another one: nothing
// moves.

// CHECK-LABEL: func @to_rows_and_back(
// CHECK:         %[[C:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.conv
// CHECK:         %[[L:.+]] = tarpon.convert %[[C]] : tensor<1x4x2x3xf32> -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[L]] : {{.*}} -> tensor<1x6x4xf32>
// CHECK-NEXT:    %[[S:.+]] = tarpon.fused({{.*}} = %[[R]])
// CHECK-NEXT:      tarpon.softmax
// CHECK:         %[[B:.+]] = tarpon.reshape %[[S]] : (tensor<1x6x4xf32>) -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    %[[N:.+]] = tarpon.convert %[[B]] : {{.*}} -> tensor<1x4x2x3xf32>
// CHECK-NEXT:    tarpon.fused({{.*}} = %[[N]],

// DONE-LABEL: func @to_rows_and_back(
// DONE:         %[[C:.+]] = tarpon.fused(
// DONE-NEXT:      tarpon.conv
// DONE-NOT:     tarpon.convert
// DONE-NOT:     tarpon.transpose
// DONE:         tarpon.fused(
// DONE-NEXT:      tarpon.softmax
// DONE-NOT:     tarpon.convert
// DONE-NOT:     tarpon.transpose
// DONE:         tarpon.fused(
// DONE-NEXT:      tarpon.conv
func.func @to_rows_and_back(%x: tensor<1x4x2x3xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
  %c = tarpon.fused(%0 = %x, %1 = %w) : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  %f = tarpon.reshape %c : (tensor<1x4x2x3xf32>) -> tensor<1x4x6xf32>
  %t = tarpon.fused(%0 = %f) : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32>
    tarpon.yield %r : tensor<1x6x4xf32>
  }
  %s = tarpon.fused(%0 = %t) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
    %r = tarpon.softmax %0 {axis = 2 : i64} : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
    tarpon.yield %r : tensor<1x6x4xf32>
  }
  %u = tarpon.fused(%0 = %s) : (tensor<1x6x4xf32>) -> tensor<1x4x6xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x6x4xf32>) -> tensor<1x4x6xf32>
    tarpon.yield %r : tensor<1x4x6xf32>
  }
  %g = tarpon.reshape %u : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>
  %d = tarpon.fused(%0 = %g, %1 = %w) : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  return %d : tensor<1x4x2x3xf32>
}

// -----

// The rest of a transpose stays: heads of the channels become outermost.

// CHECK-LABEL: func @splits_heads(
// CHECK:         %[[L:.+]] = tarpon.convert
// CHECK-NEXT:    %[[D:.+]] = tarpon.reshape %[[L]] : (tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<6x2x2xf32>
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[D]] {permutation = array<i64: 1, 0, 2>} : {{.*}} -> tensor<2x6x2xf32>
// CHECK-NEXT:    return %[[T]]
func.func @splits_heads(%x: tensor<1x4x2x3xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<2x6x2xf32> {
  %c = tarpon.fused(%0 = %x, %1 = %w) : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  %f = tarpon.reshape %c : (tensor<1x4x2x3xf32>) -> tensor<2x2x6xf32>
  %t = tarpon.fused(%0 = %f) : (tensor<2x2x6xf32>) -> tensor<2x6x2xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x2x6xf32>) -> tensor<2x6x2xf32>
    tarpon.yield %r : tensor<2x6x2xf32>
  }
  return %t : tensor<2x6x2xf32>
}

// -----

// An add follows its data, so that the transposed value is wanted in nhwc.

// CHECK-LABEL: func @wanted_by_an_add(
// CHECK:         %[[R:.+]] = tarpon.reshape %{{.+}} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.convert %[[R]]
// DONE-LABEL: func @wanted_by_an_add(
// DONE:         tarpon.fused(
// DONE-NEXT:      tarpon.conv
// DONE:         %[[R:.+]] = tarpon.reshape %{{.+}} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
// DONE-NEXT:    tarpon.fused({{.*}} = %[[R]],
// DONE-NEXT:      tarpon.add {{.*}} -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
func.func @wanted_by_an_add(%x: tensor<1x4x2x3xf32>, %w: tensor<4x4x1x1xf32>, %y: tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32> {
  %c = tarpon.fused(%0 = %x, %1 = %w) : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  %t = tarpon.fused(%0 = %y) : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  %a = tarpon.fused(%0 = %t, %1 = %c) : (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.add %0, %1 : (tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  return %a : tensor<1x4x2x3xf32>
}

// -----

// Nobody wants nhwc.

// CHECK-LABEL: func @negative_row_major(
// CHECK-NOT:     tarpon.convert
// CHECK:         tarpon.transpose
func.func @negative_row_major(%x: tensor<1x4x6xf32>) -> tensor<1x6x4xf32> {
  %t = tarpon.fused(%0 = %x) : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32>
    tarpon.yield %r : tensor<1x6x4xf32>
  }
  return %t : tensor<1x6x4xf32>
}

// -----

// A source of one dimension has no layout of its own.

// CHECK-LABEL: func @from_a_vector(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<24xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[X]] : (tensor<24xf32>) -> tensor<1x4x2x3xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.convert %[[R]]
func.func @from_a_vector(%x: tensor<24xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
  %f = tarpon.reshape %x : (tensor<24xf32>) -> tensor<1x2x3x4xf32>
  %t = tarpon.fused(%0 = %f) : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  %c = tarpon.fused(%0 = %t, %1 = %w) : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    tarpon.yield %r : tensor<1x4x2x3xf32>
  }
  return %c : tensor<1x4x2x3xf32>
}
