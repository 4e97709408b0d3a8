// RUN: graph-opt %s -tarpon-assign-layout -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-assign-layout=layout=nhwc -split-input-file | FileCheck %s

// Each region has the layout that it is marked with, whatever the pass's option
// is; one convert serves both readers in nchw. The attributes are gone.

// CHECK-LABEL: func @nhwc_beside_nchw(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x8x4x4xf32>
// CHECK:         %[[XL:.+]] = tarpon.convert %[[X]] : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} = %[[XL]], {{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> -> tensor<1x8x4x4xf32>
// CHECK-NOT:     = tarpon.convert
// CHECK:         tarpon.fused({{.*}} = %[[C]], {{.*}} -> tensor<1x8x4x4xf32> {
// CHECK:         tarpon.fused({{.*}} = %[[C]], {{.*}} -> tensor<1x8x4x4xf32> {
!x = tensor<1x8x4x4xf32>
!w = tensor<8x8x1x1xf32>
func.func @nhwc_beside_nchw(%x: !x, %w: !w) -> !x {
  %0 = tarpon.fused(%a = %x, %b = %w) : (!x, !w) -> !x attributes {tarpon.layout = "nhwc"} {
    %3 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, !w) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !w) -> !x attributes {tarpon.layout = "nchw"} {
    %3 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, !w) -> !x
    tarpon.yield %3 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %w, %r = %1) : (!x, !w, !x) -> !x attributes {tarpon.layout = "nchw"} {
    %3 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, !w) -> !x
    %4 = tarpon.add %3, %r : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %2 : !x
}

// -----

// A mark decides for an elementwise region, which follows its data without one.

// CHECK-LABEL: func @mark_of_follower(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
// CHECK-NEXT:      tarpon.relu
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> -> tensor<1x8x4x4xf32>
// CHECK:         tarpon.fused({{.*}} = %[[C]]) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
// CHECK-NEXT:      tarpon.sigmoid
!x = tensor<1x8x4x4xf32>
func.func @mark_of_follower(%x: !x) -> !x {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.layout = "nhwc"} {
    %2 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !x attributes {tarpon.layout = "nchw"} {
    %2 = tarpon.sigmoid %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  return %1 : !x
}

// -----

// A concat of mixed producers, and a pool that keeps the layout behind it.

// CHECK-LABEL: func @concat_of_mixed_producers(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<1x8x4x4xf32> {
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>> {
// CHECK:         %[[J:.+]] = tarpon.fused({{.*}} = %[[C]], {{.*}} = %[[G]]) {{.*}} -> tensor<1x16x4x4xf32, #tarpon.layout<nhwc>>
// CHECK:         tarpon.fused({{.*}} = %[[J]]) {{.*}} -> tensor<1x16x1x1xf32, #tarpon.layout<nhwc>>
!x = tensor<1x8x4x4xf32>
!y = tensor<1x16x4x4xf32>
!p = tensor<1x16x1x1xf32>
func.func @concat_of_mixed_producers(%x: !x) -> !p {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.layout = "nchw"} {
    %4 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %4 : !x
  }
  %1 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.layout = "nhwc"} {
    %4 = tarpon.sigmoid %a : (!x) -> !x
    tarpon.yield %4 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %1) : (!x, !x) -> !y attributes {tarpon.layout = "nhwc"} {
    %4 = tarpon.concat %a, %b {axis = 1 : i64} : (!x, !x) -> !y
    tarpon.yield %4 : !y
  }
  %3 = tarpon.fused(%a = %2) : (!y) -> !p attributes {tarpon.layout = "nhwc"} {
    %4 = tarpon.global_avg_pool %a : (!y) -> !p
    tarpon.yield %4 : !p
  }
  return %3 : !p
}

// -----

// A vector along the channels, made in a blocked layout, is no parameter of a
// region in nhwc as it lies.

// CHECK-LABEL: func @parameter_of_another_layout(
// CHECK:         %[[P:.+]] = tarpon.fused({{.*}} -> tensor<1x8x1x1xf32, #tarpon.layout<nchw8c>>
// CHECK:         %[[C:.+]] = tarpon.convert %[[P]] : tensor<1x8x1x1xf32, #tarpon.layout<nchw8c>> -> tensor<1x8x1x1xf32>
// CHECK:         tarpon.fused({{.*}} = %[[C]]) {{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<nhwc>>
!x = tensor<1x8x4x4xf32>
!w = tensor<8x8x1x1xf32>
!p = tensor<1x8x1x1xf32>
func.func @parameter_of_another_layout(%x: !x, %w: !w) -> !x {
  %0 = tarpon.fused(%a = %x) : (!x) -> !p attributes {tarpon.layout = "nchw8c"} {
    %2 = tarpon.global_avg_pool %a : (!x) -> !p
    tarpon.yield %2 : !p
  }
  %1 = tarpon.fused(%a = %x, %b = %w, %c = %0) : (!x, !w, !p) -> !x attributes {tarpon.layout = "nhwc"} {
    %2 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, !w) -> !x
    %3 = tarpon.add %2, %c : (!x, !p) -> !x
    tarpon.yield %3 : !x
  }
  return %1 : !x
}

// -----

// Ops that do not support the layout compute row-major.

// CHECK-LABEL: func @negative_unsupported(
// CHECK-NOT:     layout
// CHECK:         return
!x = tensor<1x8x4x4xf32>
!y = tensor<4x1x8x4xf32>
func.func @negative_unsupported(%x: !x) -> !y {
  %0 = tarpon.fused(%a = %x) : (!x) -> !y attributes {tarpon.layout = "nhwc"} {
    %1 = tarpon.transpose %a {permutation = array<i64: 2, 0, 1, 3>} : (!x) -> !y
    tarpon.yield %1 : !y
  }
  return %0 : !y
}
