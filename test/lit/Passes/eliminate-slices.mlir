// RUN: graph-opt %s -tarpon-eliminate-slices -split-input-file | FileCheck %s

// Two halves of what a region computes: both are read where they lie.

// CHECK-LABEL: func @reads_slices(
// CHECK:         %[[A:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.relu
// CHECK:         %[[L:.+]] = tarpon.slice %[[A]] {offset = 0 : i64} : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>
// CHECK-NEXT:    %[[R:.+]] = tarpon.slice %[[A]] {offset = 6 : i64} : {{.*}} -> tensor<1x10x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>
// CHECK-NEXT:    tarpon.fused(%[[LA:.+]] = %[[L]]) : (tensor<1x6x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:      %[[D:.+]] = tarpon.convert %[[LA]] : {{.*}} -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:      tarpon.sigmoid %[[D]]
// CHECK:         tarpon.fused({{.*}} = %[[R]])
func.func @reads_slices(%x: tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> (tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>) {
  %a = tarpon.fused(%0 = %x) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  %l = tarpon.fused(%0 = %a) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.pad %0 {pads = array<i64: 0, 0, 0, 0, 0, -10, 0, 0>, value = 0.0 : f64} : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
  }
  %h = tarpon.fused(%0 = %a) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x10x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -6, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>
  }
  %b = tarpon.fused(%0 = %l) : (tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.sigmoid %0 : (tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>
  }
  %c = tarpon.fused(%0 = %h) : (tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x10x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.sigmoid %0 : (tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>
  }
  return %b, %c : tensor<1x6x4x4xf32, #tarpon.layout<nhwc>>, tensor<1x10x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// One image in nchw: the channels lie in one piece, and their type is the same.

// CHECK-LABEL: func @reads_planes(
// CHECK:         %[[S:.+]] = tarpon.slice %{{.+}} {offset = 3 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x5x4x4xf32>
// CHECK-NEXT:    tarpon.fused({{.*}} = %[[S]]) : (tensor<1x5x4x4xf32>)
func.func @reads_planes(%x: tensor<1x8x4x4xf32>) -> tensor<1x5x4x4xf32> {
  %a = tarpon.fused(%0 = %x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %r : tensor<1x8x4x4xf32>
  }
  %h = tarpon.fused(%0 = %a) : (tensor<1x8x4x4xf32>) -> tensor<1x5x4x4xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -3, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<1x8x4x4xf32>) -> tensor<1x5x4x4xf32>
    tarpon.yield %r : tensor<1x5x4x4xf32>
  }
  %b = tarpon.fused(%0 = %h) : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32> {
    %r = tarpon.sigmoid %0 : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
    tarpon.yield %r : tensor<1x5x4x4xf32>
  }
  return %b : tensor<1x5x4x4xf32>
}

// -----

// A reader whose solver does not take slices (lrn) has its own tensor.

// CHECK-LABEL: func @negative_reader_takes_no_slice(
// CHECK:           tarpon.pad
// CHECK-NOT:     tarpon.slice
func.func @negative_reader_takes_no_slice(%x: tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
  %a = tarpon.fused(%0 = %x) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.relu %0 : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
  }
  %l = tarpon.fused(%0 = %a) : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.pad %0 {pads = array<i64: 0, 0, 0, 0, 0, -8, 0, 0>, value = 0.0 : f64} : (tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  %b = tarpon.fused(%0 = %l) : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
    %r = tarpon.lrn %0 {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32} : (tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
    tarpon.yield %r : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
  }
  return %b : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// Arguments and what leaves the function have memory of their own; two images
// in nchw do not lie in one piece; and rows are no channels.

// CHECK-LABEL: func @negative_no_place(
// CHECK-COUNT-4:   tarpon.pad
// CHECK-NOT:     tarpon.slice
func.func @negative_no_place(%x: tensor<2x8x4x4xf32>) -> (tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>, tensor<2x8x3x4xf32>) {
  %a = tarpon.fused(%0 = %x) : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32> {
    %r = tarpon.relu %0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    tarpon.yield %r : tensor<2x8x4x4xf32>
  }
  %g = tarpon.fused(%0 = %x) : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -3, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32>
    tarpon.yield %r : tensor<2x5x4x4xf32>
  }
  %h = tarpon.fused(%0 = %a) : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -3, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32>
    tarpon.yield %r : tensor<2x5x4x4xf32>
  }
  %i = tarpon.fused(%0 = %a) : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -3, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<2x8x4x4xf32>) -> tensor<2x5x4x4xf32>
    tarpon.yield %r : tensor<2x5x4x4xf32>
  }
  %j = tarpon.fused(%0 = %a) : (tensor<2x8x4x4xf32>) -> tensor<2x8x3x4xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, 0, -1, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<2x8x4x4xf32>) -> tensor<2x8x3x4xf32>
    tarpon.yield %r : tensor<2x8x3x4xf32>
  }
  %b = tarpon.fused(%0 = %g, %1 = %h) : (tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32> {
    %r = tarpon.add %0, %1 : (tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
    tarpon.yield %r : tensor<2x5x4x4xf32>
  }
  %c = tarpon.fused(%0 = %j) : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32> {
    %r = tarpon.sigmoid %0 : (tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32>
    tarpon.yield %r : tensor<2x8x3x4xf32>
  }
  return %b, %i, %c : tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>, tensor<2x8x3x4xf32>
}

// -----

// Queries and keys, one behind the other: both are read where they lie.

// CHECK-LABEL: func @reads_outermost_slices(
// CHECK:         %[[A:.+]] = tarpon.fused(
// CHECK:         %[[I:.+]] = tarpon.reshape %[[A]] : (tensor<2x4x6xf32>) -> tensor<1x2x24xf32>
// CHECK-NEXT:    %[[S:.+]] = tarpon.slice %[[I]] {offset = 1 : i64} : (tensor<1x2x24xf32>) -> tensor<1x1x24xf32>
// CHECK-NEXT:    tarpon.reshape %[[S]] : (tensor<1x1x24xf32>) -> tensor<1x4x6xf32>
// CHECK:         tarpon.fused(
// CHECK-NEXT:      tarpon.sigmoid
func.func @reads_outermost_slices(%x: tensor<2x4x6xf32>) -> tensor<4x6xf32> {
  %a = tarpon.fused(%0 = %x) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
    %r = tarpon.relu %0 : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    tarpon.yield %r : tensor<2x4x6xf32>
  }
  %l = tarpon.fused(%0 = %a) : (tensor<2x4x6xf32>) -> tensor<1x4x6xf32> {
    %r = tarpon.pad %0 {pads = array<i64: -1, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<2x4x6xf32>) -> tensor<1x4x6xf32>
    tarpon.yield %r : tensor<1x4x6xf32>
  }
  %m = tarpon.reshape %l : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
  %b = tarpon.fused(%0 = %m) : (tensor<4x6xf32>) -> tensor<4x6xf32> {
    %r = tarpon.sigmoid %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
    tarpon.yield %r : tensor<4x6xf32>
  }
  return %b : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func @negative_inner_slice(
// CHECK-NOT:     tarpon.slice
func.func @negative_inner_slice(%x: tensor<2x4x6xf32>) -> tensor<2x2x6xf32> {
  %a = tarpon.fused(%0 = %x) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
    %r = tarpon.relu %0 : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
    tarpon.yield %r : tensor<2x4x6xf32>
  }
  %l = tarpon.fused(%0 = %a) : (tensor<2x4x6xf32>) -> tensor<2x2x6xf32> {
    %r = tarpon.pad %0 {pads = array<i64: 0, -1, 0, 0, -1, 0>, value = 0.0 : f64} : (tensor<2x4x6xf32>) -> tensor<2x2x6xf32>
    tarpon.yield %r : tensor<2x2x6xf32>
  }
  %b = tarpon.fused(%0 = %l) : (tensor<2x2x6xf32>) -> tensor<2x2x6xf32> {
    %r = tarpon.sigmoid %0 : (tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    tarpon.yield %r : tensor<2x2x6xf32>
  }
  return %b : tensor<2x2x6xf32>
}
