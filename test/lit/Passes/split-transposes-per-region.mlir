// RUN: graph-opt %s -tarpon-split-transposes -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-split-transposes=layout=nhwc -split-input-file | FileCheck %s

// The marks say what lies in nhwc, also where the pass's option is nchw; they
// stay for tarpon-assign-layout.

// CHECK-LABEL: func @splits_behind_nhwc(
// CHECK:         tarpon.fused({{.*}} attributes {tarpon.layout = "nhwc"}
// CHECK:         tarpon.convert {{.*}} -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
// CHECK-NOT:     tarpon.transpose
// CHECK:         return
!x = tensor<1x4x8x8xf32>
!t = tensor<1x8x8x4xf32>
func.func @splits_behind_nhwc(%x: !x) -> !t {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.layout = "nhwc"} {
    %2 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !t attributes {tarpon.layout = "nhwc"} {
    %2 = tarpon.transpose %a {permutation = array<i64: 0, 2, 3, 1>} : (!x) -> !t
    tarpon.yield %2 : !t
  }
  return %1 : !t
}

// -----

// CHECK-LABEL: func @negative_behind_nchw(
// CHECK-NOT:     = tarpon.convert
// CHECK:           tarpon.transpose
!x = tensor<1x4x8x8xf32>
!w = tensor<4x4x1x1xf32>
!t = tensor<1x8x8x4xf32>
func.func @negative_behind_nchw(%x: !x, %w: !w) -> !t {
  %0 = tarpon.fused(%a = %x, %b = %w) : (!x, !w) -> !x attributes {tarpon.layout = "nchw"} {
    %2 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, !w) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !t attributes {tarpon.layout = "nhwc"} {
    %2 = tarpon.transpose %a {permutation = array<i64: 0, 2, 3, 1>} : (!x) -> !t
    tarpon.yield %2 : !t
  }
  return %1 : !t
}
