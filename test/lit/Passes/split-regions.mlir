// RUN: graph-opt %s -tarpon-split-regions | FileCheck %s

// Each op becomes a region with the marks of the whole; the range is that of the
// last one's result, and nobody knows those within.

// CHECK-LABEL: func @splits(
// CHECK-NEXT:    %[[W:.*]] = tarpon.constant
// CHECK-NEXT:    %[[SUM:.*]] = tarpon.fused(%{{.*}} = %{{.*}}, %{{.*}} = %[[W]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tarpon.layout = "nhwc", tarpon.precision = "fp16", tarpon.region = 3 : i64} {
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[ADDED:.*]] = tarpon.fused(%{{.*}} = %[[SUM]], %{{.*}} = %arg0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tarpon.layout = "nhwc", tarpon.precision = "fp16", tarpon.region = 3 : i64} {
// CHECK-NEXT:      tarpon.add
// CHECK-NEXT:      tarpon.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[RESULT:.*]] = tarpon.fused(%{{.*}} = %[[ADDED]]) : (tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tarpon.layout = "nhwc", tarpon.precision = "fp16", tarpon.range = array<f32: 0.000000e+00, 1.000000e+00>, tarpon.region = 3 : i64} {
// CHECK-NEXT:      tarpon.relu
// CHECK-NEXT:      tarpon.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[RESULT]]
!x = tensor<2x2xf32>
func.func @splits(%x: !x) -> !x {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x, %b = %w, %c = %x) : (!x, !x, !x) -> !x attributes {tarpon.layout = "nhwc", tarpon.precision = "fp16", tarpon.range = array<f32: 0.0, 1.0>, tarpon.region = 3 : i64, tarpon.unfused} {
    %1 = tarpon.matmul %a, %b : (!x, !x) -> !x
    %2 = tarpon.add %1, %c : (!x, !x) -> !x
    %3 = tarpon.relu %2 : (!x) -> !x
    tarpon.yield %3 : !x
  }
  return %0 : !x
}

// CHECK-LABEL: func @stays(
// CHECK:         tarpon.fused
// CHECK-NEXT:      tarpon.relu
// CHECK-NEXT:      tarpon.abs
func.func @stays(%x: !x) -> !x {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x {
    %1 = tarpon.relu %a : (!x) -> !x
    %2 = tarpon.abs %1 : (!x) -> !x
    tarpon.yield %2 : !x
  }
  return %0 : !x
}
