// RUN: graph-opt %s -tarpon-lower-to-launches | FileCheck %s

// Launches are named after the root, not after its epilogue.

// CHECK-LABEL: func @lowers_regions(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<4x4xf32>
// CHECK:         %[[W:.+]] = tarpon.constant
// CHECK-NEXT:    %[[A:.+]] = tarpon.launch "fc1"(%[[X]], %[[W]]) {
// CHECK-SAME:        problem = #tarpon.problem<"matmul(4x4xf32, 4x4xf32:const)->4x4xf32 {{[^"]*}} | relu"
// CHECK-SAME:        solution = #tarpon.solution<"reference-v1", "", "measured">
// CHECK-SAME:        (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[B:.+]] = tarpon.launch "fc1_1"(%[[A]])
// CHECK-NEXT:    %[[V:.+]] = tarpon.reshape %[[B]]
// CHECK-NEXT:    %[[C:.+]] = tarpon.launch "convert_2"(%[[V]])
// CHECK-SAME:        problem = #tarpon.problem<"convert(16xf32)->16xf16">
// CHECK-NEXT:    return %[[C]]
func.func @lowers_regions(%x: tensor<4x4xf32>) -> tensor<16xf16> {
  %w = tarpon.constant {value = dense<1.0> : tensor<4x4xf32>} : tensor<4x4xf32>
  %0 = tarpon.fused(%a = %x, %b = %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> attributes {solution = #tarpon.solution<"reference-v1", "", "measured">} {
    %4 = tarpon.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("fc1"("model.onnx":0:0))
    %5 = tarpon.relu %4 : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("relu1")
    tarpon.yield %5 : tensor<4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4x4xf32>) -> tensor<4x4xf32> attributes {solution = #tarpon.solution<"reference-v1", "", "default">} {
    %4 = tarpon.relu %a : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("fc1")
    tarpon.yield %4 : tensor<4x4xf32>
  }
  %2 = tarpon.reshape %1 : (tensor<4x4xf32>) -> tensor<16xf32>
  %3 = tarpon.fused(%a = %2) : (tensor<16xf32>) -> tensor<16xf16> attributes {solution = #tarpon.solution<"reference-v1", "", "default">} {
    %4 = tarpon.convert %a : tensor<16xf32> -> tensor<16xf16>
    tarpon.yield %4 : tensor<16xf16>
  }
  return %3 : tensor<16xf16>
}

// CHECK-LABEL: func @several_results(
// CHECK:         %[[A:.+]]:3 = tarpon.launch "layer_norm_0"
// CHECK-SAME:        problem = #tarpon.problem<"layer_norm(2x8xf32)->(2x8xf32, 2x1xf32, 2x1xf32) {{[^"]*}} | relu"
// CHECK-SAME:        (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
// CHECK-NEXT:    return %[[A]]#0, %[[A]]#2
func.func @several_results(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>) {
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) attributes {solution = #tarpon.solution<"reference-v1", "", "default">} {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    %2 = tarpon.relu %1#0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
    tarpon.yield %2, %1#1, %1#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  return %0#0, %0#2 : tensor<2x8xf32>, tensor<2x1xf32>
}

// The result may take the place of an operand with an element for each of its
// own, not of one that is broadcast.

// CHECK-LABEL: func @overwrites(
// CHECK:         tarpon.launch "add_0"{{.*}} {may_overwrite = array<i64: 0>, problem = #tarpon.problem<"add(
func.func @overwrites(%x: tensor<1x64x4x4xf32>, %y: tensor<64x1x1xf32>) -> tensor<1x64x4x4xf32> {
  %0 = tarpon.fused(%a = %x, %b = %y) : (tensor<1x64x4x4xf32>, tensor<64x1x1xf32>) -> tensor<1x64x4x4xf32> attributes {solution = #tarpon.solution<"elementwise-v1", "", "default">} {
    %1 = tarpon.add %a, %b : (tensor<1x64x4x4xf32>, tensor<64x1x1xf32>) -> tensor<1x64x4x4xf32>
    tarpon.yield %1 : tensor<1x64x4x4xf32>
  }
  return %0 : tensor<1x64x4x4xf32>
}
