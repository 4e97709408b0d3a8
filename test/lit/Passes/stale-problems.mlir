// What changes the types of a region leaves no problem of the old ones behind. A
// region that stays what it was keeps its problem.

// RUN: graph-opt %s -tarpon-select-solutions -tarpon-assign-dtype=dtype=fp16 | FileCheck %s --check-prefix=NONE
// RUN: graph-opt %s -tarpon-select-solutions -tarpon-assign-layout=layout=nhwc | FileCheck %s --check-prefix=NONE
// RUN: graph-opt %s -tarpon-select-solutions -tarpon-quantize | FileCheck %s --check-prefix=NONE
// RUN: graph-opt %s -tarpon-select-solutions -tarpon-fuse | FileCheck %s --check-prefix=KEPT
// What is lowered is the problem of the new types.
// RUN: graph-opt %s -tarpon-select-solutions -tarpon-assign-dtype=dtype=fp16 -tarpon-fuse=mode=off -tarpon-lower | FileCheck %s --check-prefix=AGAIN

// NONE-LABEL: func @network(
// NONE-NOT:     #tarpon.problem
// NONE-NOT:     #tarpon.solution
// NONE:         tarpon.conv
// NONE-NOT:     #tarpon.problem
// NONE-NOT:     #tarpon.solution
// NONE:         return
// KEPT:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"conv(1x8x4x4xf32, 8x8x1x1xf32:const)->1x8x4x4xf32 {{.*}}>, solution = {{.*}}} {
// KEPT:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"relu(1x8x4x4xf32)->1x8x4x4xf32">, solution = {{.*}}} {
// AGAIN:        problem = #tarpon.problem<"convert(1x8x4x4xf32)->1x8x4x4xf16">
// AGAIN:        problem = #tarpon.problem<"conv(1x8x4x4xf16, 8x8x1x1xf16:const)->1x8x4x4xf16
// AGAIN:        problem = #tarpon.problem<"relu(1x8x4x4xf16)->1x8x4x4xf32">
func.func @network(%x: tensor<1x8x4x4xf32> {tarpon.range = array<f32: -1.0, 1.0>}) -> tensor<1x8x4x4xf32> {
  %w = tarpon.constant {value = dense<0.5> : tensor<8x8x1x1xf32>} : tensor<8x8x1x1xf32>
  %0 = tarpon.fused(%a = %x, %b = %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> attributes {tarpon.range = array<f32: -1.0, 1.0>} {
    %2 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %2 : tensor<1x8x4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> attributes {tarpon.range = array<f32: 0.0, 1.0>} {
    %2 = tarpon.relu %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    tarpon.yield %2 : tensor<1x8x4x4xf32>
  }
  return %1 : tensor<1x8x4x4xf32>
}
