// RUN: graph-opt %s -tarpon-eliminate-concats -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-select-solutions -tarpon-eliminate-concats -split-input-file | FileCheck %s --check-prefix=SOLVED

// The producers write slices of the whole, and who else reads one reads it
// there.

// Regions that had been solved lose problem and solution with their types, which
// the first reader of the whole keeps.

// SOLVED-LABEL: func @joins_slices(
// SOLVED:         tarpon.fused({{.*}}) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>> {
// SOLVED:         tarpon.fused({{.*}}) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>> {
// SOLVED:         tarpon.join
// SOLVED-NEXT:    tarpon.fused({{.*}}) -> {{.*}} attributes {problem = {{.*}}, solution = {{.*}}} {

// CHECK-LABEL: func @joins_slices(
// CHECK:         %[[A:.+]] = tarpon.fused({{.*}}) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>> {
// CHECK:           %[[R:.+]] = tarpon.relu
// CHECK-NEXT:      %[[S:.+]] = tarpon.convert %[[R]] : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>
// CHECK-NEXT:      tarpon.yield %[[S]]
// CHECK:         %[[B:.+]] = tarpon.fused(%[[BA:.+]] = %[[A]]) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>> {
// CHECK-NEXT:      %[[D:.+]] = tarpon.convert %[[BA]] : tensor<1x8x4x4xf32, #tarpon.layout<nhwc, pitch = 16>> -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:      tarpon.sigmoid %[[D]]
// CHECK-NOT:     tarpon.concat
// CHECK:         %[[J:.+]] = tarpon.join %[[A]], %[[B]] : {{.*}} -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.fused({{.*}} = %[[J]])
func.func @joins_slices(%x: tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
  %a = tarpon.fused(%0 = %x) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  %b = tarpon.fused(%0 = %a) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.sigmoid %0 : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c = tarpon.fused(%0 = %a, %1 = %b) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  %d = tarpon.fused(%0 = %c) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  return %d : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// One image in nchw: slices lie as they are. An argument, and what is in the
// concat a second time, are copied.

// CHECK-LABEL: func @joins_planes(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x8x4x4xf32>
// CHECK:         %[[A:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.relu
// CHECK:         %[[C0:.+]] = tarpon.fused(%[[C0A:.+]] = %[[X]])
// CHECK-NEXT:      tarpon.convert %[[C0A]] : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
// CHECK:         %[[C1:.+]] = tarpon.fused(%[[C1A:.+]] = %[[A]])
// CHECK-NEXT:      tarpon.convert %[[C1A]]
// CHECK:         %[[J:.+]] = tarpon.join %[[A]], %[[C0]], %[[C1]] : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x24x4x4xf32>
// CHECK-NEXT:    tarpon.fused({{.*}} = %[[J]])
func.func @joins_planes(%x: tensor<1x8x4x4xf32>) -> tensor<1x24x4x4xf32> {
  %a = tarpon.fused(%0 = %x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %r : tensor<1x8x4x4xf32>
  }
  %c = tarpon.fused(%0 = %a, %1 = %x, %2 = %a) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x24x4x4xf32> {
    %r = tarpon.concat %0, %1, %2 {axis = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x24x4x4xf32>
    tarpon.yield %r : tensor<1x24x4x4xf32>
  }
  %d = tarpon.fused(%0 = %c) : (tensor<1x24x4x4xf32>) -> tensor<1x24x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<1x24x4x4xf32>) -> tensor<1x24x4x4xf32>
    tarpon.yield %r : tensor<1x24x4x4xf32>
  }
  return %d : tensor<1x24x4x4xf32>
}

// -----

// Each layer of a dense block adds its channels to one tensor.

// CHECK-LABEL: func @joins_dense_blocks(
// CHECK:         %[[A:.+]] = tarpon.fused({{.*}} -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc, pitch = 96>>
// CHECK:         %[[B:.+]] = tarpon.fused({{.*}} -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc, pitch = 96>>
// CHECK:         %[[J1:.+]] = tarpon.join %[[A]], %[[B]] : {{.*}} -> tensor<1x64x4x4xf32, #tarpon.layout<nhwc, pitch = 96>>
// CHECK:         %[[C:.+]] = tarpon.fused(%{{.+}} = %[[J1]], {{.*}} -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc, pitch = 96>>
// CHECK:         %[[J2:.+]] = tarpon.join %[[J1]], %[[C]] : {{.*}} -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.fused({{.*}} = %[[J2]])
func.func @joins_dense_blocks(%x: tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>> {
  %w1 = tarpon.constant {value = dense<0.5> : tensor<32x32x1x1xf32>} : tensor<32x32x1x1xf32>
  %w2 = tarpon.constant {value = dense<0.5> : tensor<32x64x1x1xf32>} : tensor<32x64x1x1xf32>
  %a = tarpon.fused(%0 = %x) : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
  }
  %b = tarpon.fused(%0 = %a, %1 = %w1) : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>, tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>, tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c1 = tarpon.fused(%0 = %a, %1 = %b) : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x64x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c = tarpon.fused(%0 = %c1, %1 = %w2) : (tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>, tensor<32x64x1x1xf32>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>, tensor<32x64x1x1xf32>) -> tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c2 = tarpon.fused(%0 = %c1, %1 = %c) : (tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x64x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x32x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
  }
  %d = tarpon.fused(%0 = %c2) : (tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
  }
  return %d : tensor<1x96x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// A reader whose solver does not take slices (lrn) has its own tensor.

// CHECK-LABEL: func @negative_reader_takes_no_slice(
// CHECK:         %[[A:.+]] = tarpon.fused({{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
// CHECK-NEXT:      tarpon.relu
// CHECK:         %[[B:.+]] = tarpon.fused({{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
// CHECK-NEXT:      tarpon.lrn
// CHECK:         tarpon.fused(
// CHECK-NEXT:      tarpon.concat
// CHECK-NOT:     tarpon.join
func.func @negative_reader_takes_no_slice(%x: tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
  %a = tarpon.fused(%0 = %x) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  %b = tarpon.fused(%0 = %a) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.lrn %0 {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32} : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c = tarpon.fused(%0 = %a, %1 = %b) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  %d = tarpon.fused(%0 = %c) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  return %d : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// Two images in nchw have gaps between the planes of an operand, another axis
// has them too, and what is returned lies elsewhere.

// CHECK-LABEL: func @negative_concats(
// CHECK-COUNT-3: tarpon.concat
// CHECK-NOT:     tarpon.join
func.func @negative_concats(%x: tensor<2x8x4x4xf32>, %y: tensor<1x8x4x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<1x8x8x4xf32>, tensor<1x16x4x4xf32>) {
  %a = tarpon.fused(%0 = %x) : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    tarpon.yield %r : tensor<2x8x4x4xf32>
  }
  %c = tarpon.fused(%0 = %a, %1 = %x) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x16x4x4xf32> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x16x4x4xf32>
    tarpon.yield %r : tensor<2x16x4x4xf32>
  }
  %d = tarpon.fused(%0 = %c) : (tensor<2x16x4x4xf32>) -> tensor<2x16x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<2x16x4x4xf32>) -> tensor<2x16x4x4xf32>
    tarpon.yield %r : tensor<2x16x4x4xf32>
  }
  %e = tarpon.fused(%0 = %y) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %r : tensor<1x8x4x4xf32>
  }
  %f = tarpon.fused(%0 = %e, %1 = %y) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x8x4xf32> {
    %r = tarpon.concat %0, %1 {axis = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x8x4xf32>
    tarpon.yield %r : tensor<1x8x8x4xf32>
  }
  %g = tarpon.fused(%0 = %f) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
    %r = tarpon.relu %0 : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    tarpon.yield %r : tensor<1x8x8x4xf32>
  }
  %h = tarpon.fused(%0 = %e, %1 = %y) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
    tarpon.yield %r : tensor<1x16x4x4xf32>
  }
  return %d, %g, %h : tensor<2x16x4x4xf32>, tensor<1x8x8x4xf32>, tensor<1x16x4x4xf32>
}

// -----

// Only first results are slices. Images of one pixel row lie in one piece.

// CHECK-LABEL: func @negative_another_result(
// CHECK:         tarpon.max_pool_indices
// CHECK:         tarpon.concat
// CHECK-NOT:     tarpon.join
func.func @negative_another_result(%x: tensor<1x8x4xf32>) -> tensor<1x16x2xi64> {
  %a:2 = tarpon.fused(%0 = %x) : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>) {
    %r:2 = tarpon.max_pool_indices %0 {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>)
    tarpon.yield %r#0, %r#1 : tensor<1x8x2xf32>, tensor<1x8x2xi64>
  }
  %b:2 = tarpon.fused(%0 = %x) : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>) {
    %r:2 = tarpon.max_pool_indices %0 {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>)
    tarpon.yield %r#0, %r#1 : tensor<1x8x2xf32>, tensor<1x8x2xi64>
  }
  %c = tarpon.fused(%0 = %a#1, %1 = %b#1) : (tensor<1x8x2xi64>, tensor<1x8x2xi64>) -> tensor<1x16x2xi64> {
    %r = tarpon.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x2xi64>, tensor<1x8x2xi64>) -> tensor<1x16x2xi64>
    tarpon.yield %r : tensor<1x16x2xi64>
  }
  %d = tarpon.fused(%0 = %c) : (tensor<1x16x2xi64>) -> tensor<1x16x2xi64> {
    %r = tarpon.neg %0 : (tensor<1x16x2xi64>) -> tensor<1x16x2xi64>
    tarpon.yield %r : tensor<1x16x2xi64>
  }
  return %d : tensor<1x16x2xi64>
}
