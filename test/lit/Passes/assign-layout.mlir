// RUN: graph-opt %s -tarpon-assign-layout=layout=nhwc -split-input-file | FileCheck %s -DL=nhwc
// RUN: graph-opt %s -tarpon-assign-layout=layout=nchw8c -split-input-file | FileCheck %s -DL=nchw8c
// RUN: graph-opt %s -tarpon-assign-layout=layout=nhwc -tarpon-assign-layout=layout=nhwc -split-input-file | FileCheck %s -DL=nhwc

// nchw changes nothing.
// RUN: graph-opt %s -split-input-file > %t.before
// RUN: graph-opt %s -tarpon-assign-layout -split-input-file > %t.after
// RUN: diff %t.before %t.after

// Filter and bias stay row-major, the function's types too.

// CHECK-LABEL: func @lays_out_regions(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x8x4x4xf32>
// CHECK:         %[[XL:.+]] = tarpon.convert %[[X]] : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[XL]], {{.*}}) : (tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>, tensor<8x8x1x1xf32>, tensor<1x8x1x1xf32>, tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>) -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>> {
// CHECK-NEXT:      tarpon.conv {{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>
// CHECK-NEXT:      tarpon.add {{.*}} (tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>, tensor<1x8x1x1xf32>)
// CHECK:         %[[P:.+]] = tarpon.fused({{.*}} = %[[F]])
// CHECK-NEXT:      tarpon.global_avg_pool {{.*}} -> tensor<1x8x1x1xf32, #tarpon.layout<[[L]]>>
// CHECK:         %[[R:.+]] = tarpon.convert %[[P]] : tensor<1x8x1x1xf32, #tarpon.layout<[[L]]>> -> tensor<1x8x1x1xf32>
// CHECK:         return %[[R]]
func.func @lays_out_regions(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %b: tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %0 = tarpon.fused(%a = %x, %aw = %w, %ab = %b, %ar = %x) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>, tensor<1x8x1x1xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %2 = tarpon.conv %a, %aw {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    %3 = tarpon.add %2, %ab : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    %4 = tarpon.add %3, %ar : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %4 : tensor<1x8x4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32> {
    %2 = tarpon.global_avg_pool %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    tarpon.yield %2 : tensor<1x8x1x1xf32>
  }
  return %1 : tensor<1x8x1x1xf32>
}

// -----

// In-region converts keep their element types and take the layout.

// CHECK-LABEL: func @converts_in_regions(
// CHECK:         tarpon.fused({{.*}}) : (tensor<1x8x4x4xf16, #tarpon.layout<[[L]]>>, tensor<8x8x1x1xf16>, tensor<1x8x4x4xf16, #tarpon.layout<[[L]]>>) -> tensor<1x8x4x4xf16, #tarpon.layout<[[L]]>>
// CHECK-NEXT:      tarpon.convert {{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>
// CHECK-NEXT:      tarpon.conv {{.*}} -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>
// CHECK-NEXT:      tarpon.add
// CHECK-NEXT:      tarpon.convert {{.*}} -> tensor<1x8x4x4xf16, #tarpon.layout<[[L]]>>
func.func @converts_in_regions(%x: tensor<1x8x4x4xf16>, %w: tensor<8x8x1x1xf16>) -> tensor<1x8x4x4xf16> {
  %0 = tarpon.fused(%a = %x, %aw = %w, %ar = %x) : (tensor<1x8x4x4xf16>, tensor<8x8x1x1xf16>, tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf16> {
    %1 = tarpon.convert %ar : tensor<1x8x4x4xf16> -> tensor<1x8x4x4xf32>
    %2 = tarpon.conv %a, %aw {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x4x4xf16>, tensor<8x8x1x1xf16>) -> tensor<1x8x4x4xf32>
    %3 = tarpon.add %2, %1 : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    %4 = tarpon.convert %3 : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf16>
    tarpon.yield %4 : tensor<1x8x4x4xf16>
  }
  return %0 : tensor<1x8x4x4xf16>
}

// -----

// An elementwise region is in the layout when its data is.

// CHECK-LABEL: func @follows_data(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x8x4x4xf32>
// CHECK:         %[[E:.+]] = tarpon.fused({{.*}} = %[[X]]) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
// CHECK:         %[[C:.+]] = tarpon.convert %[[E]]
// CHECK:         %[[P:.+]] = tarpon.fused({{.*}} = %[[C]])
// CHECK:           tarpon.global_max_pool
// CHECK:         tarpon.fused({{.*}} = %[[C]], {{.*}} = %[[P]]) : (tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>, tensor<1x8x1x1xf32, #tarpon.layout<[[L]]>>) -> tensor<1x8x4x4xf32, #tarpon.layout<[[L]]>>
// CHECK-NEXT:      tarpon.mul
func.func @follows_data(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
    %3 = tarpon.relu %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %3 : tensor<1x8x4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32> {
    %3 = tarpon.global_max_pool %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    tarpon.yield %3 : tensor<1x8x1x1xf32>
  }
  %2 = tarpon.fused(%a = %0, %b = %1) : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
    %3 = tarpon.mul %a, %b : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %3 : tensor<1x8x4x4xf32>
  }
  return %2 : tensor<1x8x4x4xf32>
}

// -----

// Transposes and reshapes are about the logical order of dimensions.

// CHECK-LABEL: func @negative_row_major_ops(
// CHECK-NOT:     {{layout|tarpon.convert}}
// CHECK:         return
func.func @negative_row_major_ops(%x: tensor<1x8x4x4xf32>) -> tensor<4x32xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x8x4x4xf32>) -> tensor<4x1x8x4xf32> {
    %2 = tarpon.transpose %a {permutation = array<i64: 2, 0, 1, 3>} : (tensor<1x8x4x4xf32>) -> tensor<4x1x8x4xf32>
    tarpon.yield %2 : tensor<4x1x8x4xf32>
  }
  %1 = tarpon.reshape %0 : (tensor<4x1x8x4xf32>) -> tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}

// -----

// A rank-2 operand that is not a parameter has no such layout.

// CHECK-LABEL: func @negative_lower_rank(
// CHECK:           tarpon.global_avg_pool {{.*}} -> tensor<1x8x1x1xf32, #tarpon.layout<[[L]]>>
// CHECK:         tarpon.fused({{.*}}) : (tensor<1x8x1x1xf32>, tensor<4x4xf32>) -> tensor<1x8x4x4xf32>
func.func @negative_lower_rank(%x: tensor<1x8x4x4xf32>, %y: tensor<4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32> {
    %3 = tarpon.global_avg_pool %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    tarpon.yield %3 : tensor<1x8x1x1xf32>
  }
  %1 = tarpon.fused(%a = %0, %b = %y) : (tensor<1x8x1x1xf32>, tensor<4x4xf32>) -> tensor<1x8x4x4xf32> {
    %3 = tarpon.add %a, %b : (tensor<1x8x1x1xf32>, tensor<4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %3 : tensor<1x8x4x4xf32>
  }
  return %1 : tensor<1x8x4x4xf32>
}

// -----

// Indices lie as the maxima do, and the function's types stay.

// CHECK-LABEL: func @several_results(
// CHECK:         %[[XL:.+]] = tarpon.convert %{{.+}} : tensor<1x8x4xf32> -> tensor<1x8x4xf32, #tarpon.layout<[[L]]>>
// CHECK:         %[[F:.+]]:2 = tarpon.fused(%{{.+}} = %[[XL]]) : {{.*}} -> (tensor<1x8x2xf32, #tarpon.layout<[[L]]>>, tensor<1x8x2xi64, #tarpon.layout<[[L]]>>) {
// CHECK-NEXT:      tarpon.max_pool_indices
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[I:.+]] = tarpon.convert %[[F]]#1 : tensor<1x8x2xi64, #tarpon.layout<[[L]]>> -> tensor<1x8x2xi64>
// CHECK:         return %[[I]]
func.func @several_results(%x: tensor<1x8x4xf32>) -> tensor<1x8x2xi64> {
  %0:2 = tarpon.fused(%a = %x) : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>) {
    %1:2 = tarpon.max_pool_indices %a {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> (tensor<1x8x2xf32>, tensor<1x8x2xi64>)
    tarpon.yield %1#0, %1#1 : tensor<1x8x2xf32>, tensor<1x8x2xi64>
  }
  return %0#1 : tensor<1x8x2xi64>
}
