// RUN: graph-opt %s -tarpon-move-activations | FileCheck %s
// RUN: graph-opt %s -tarpon-move-activations -tarpon-fuse | FileCheck %s --check-prefix=ONE

// The activation goes to the convolution; pooling what is not negative gives
// nothing that is.

// CHECK-LABEL: func @moves_through_concat(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x4x2x2xf32>
// CHECK:         %[[R:.+]] = tarpon.relu %[[X]]
// CHECK-NEXT:    %[[P:.+]] = tarpon.max_pool %[[R]]
// CHECK-NEXT:    %[[C:.+]] = tarpon.conv %[[R]]
// CHECK-NEXT:    %[[A:.+]] = tarpon.relu %[[C]]
// CHECK-NEXT:    %[[J:.+]] = tarpon.concat %[[P]], %[[A]] {axis = 1 : i64}
// CHECK-NEXT:    return %[[J]]
func.func @moves_through_concat(%x: tensor<1x4x2x2xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x12x2x2xf32> {
  %r = tarpon.relu %x : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %p = tarpon.max_pool %r {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = tarpon.conv %r, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x2x2xf32>
  %j = tarpon.concat %p, %c {axis = 1 : i64} : (tensor<1x4x2x2xf32>, tensor<1x8x2x2xf32>) -> tensor<1x12x2x2xf32>
  %a = tarpon.relu %j : (tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32>
  return %a : tensor<1x12x2x2xf32>
}

// CHECK-LABEL: func @negative_concat_is_read_otherwise(
// CHECK:         %[[J:.+]] = tarpon.concat
// CHECK-NEXT:    %[[A:.+]] = tarpon.relu %[[J]]
// CHECK-NEXT:    return %[[J]], %[[A]]
func.func @negative_concat_is_read_otherwise(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = tarpon.leaky_relu %x {alpha = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %j = tarpon.concat %s, %x {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %a = tarpon.relu %j : (tensor<8xf32>) -> tensor<8xf32>
  return %j, %a : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @negative_no_producer(
// CHECK:         %[[J:.+]] = tarpon.concat
// CHECK-NEXT:    %[[A:.+]] = tarpon.relu %[[J]]
func.func @negative_no_producer(%x: tensor<4xf32>) -> tensor<8xf32> {
  %j = tarpon.concat %x, %x {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %a = tarpon.relu %j : (tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// CHECK-LABEL: func @drops_relu(
// CHECK:         %[[C:.+]] = tarpon.clip
// CHECK-NEXT:    return %[[C]]
func.func @drops_relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tarpon.clip %x {low = 0.0 : f64, high = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %a = tarpon.relu %c : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func @negative_relu_of_a_difference(
// CHECK:         tarpon.sub
// CHECK-NEXT:    tarpon.relu
func.func @negative_relu_of_a_difference(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tarpon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = tarpon.sub %r, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = tarpon.relu %c : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// Both residuals become the epilogue of the convolution, whatever their order.

// CHECK-LABEL: func @moves_sum(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x4x2x2xf32>, %[[Y:[^:]+]]: tensor<1x4x2x2xf32>
// CHECK:         %[[C:.+]] = tarpon.conv
// CHECK-NEXT:    %[[R:.+]] = tarpon.relu %[[C]]
// CHECK-NEXT:    %[[A:.+]] = tarpon.add %[[R]], %[[Y]]
// CHECK-NEXT:    %[[B:.+]] = tarpon.add %[[A]], %[[X]]
// CHECK-NEXT:    return %[[B]]
func.func @moves_sum(%x: tensor<1x4x2x2xf32>, %y: tensor<1x4x2x2xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> {
  %s = tarpon.add %x, %y : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %r = tarpon.relu %c : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %a = tarpon.add %s, %r : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %a : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: func @moves_longer_sum(
// CHECK-COUNT-3: tarpon.add
// CHECK:         return
// ONE-LABEL:   func @moves_longer_sum(
// ONE-COUNT-1:   tarpon.fused
// ONE-NOT:       tarpon.fused
// ONE:           return
func.func @moves_longer_sum(%x: tensor<1x4x2x2xf32>, %y: tensor<1x4x2x2xf32>, %z: tensor<1x4x2x2xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> {
  %s = tarpon.add %x, %y : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %t = tarpon.add %z, %s : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %a = tarpon.add %c, %t : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %a : tensor<1x4x2x2xf32>
}

// Either convolution takes one of the additions.

// CHECK-LABEL: func @negative_both_are_epilogues(
// CHECK:         %[[C:.+]] = tarpon.conv
// CHECK-NEXT:    %[[D:.+]] = tarpon.conv
// CHECK-NEXT:    %[[S:.+]] = tarpon.add %{{.+}}, %[[C]]
// CHECK-NEXT:    tarpon.add %[[S]], %[[D]]
func.func @negative_both_are_epilogues(%x: tensor<1x4x2x2xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32> {
  %c = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %d = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %s = tarpon.add %x, %c : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %a = tarpon.add %s, %d : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %a : tensor<1x4x2x2xf32>
}

// CHECK-LABEL: func @negative_sum_is_read_otherwise(
// CHECK:         %[[S:.+]] = tarpon.add
// CHECK:         %[[A:.+]] = tarpon.add %[[S]], %{{.+}}
// CHECK-NEXT:    return %[[A]], %[[S]]
func.func @negative_sum_is_read_otherwise(%x: tensor<1x4x2x2xf32>, %y: tensor<1x4x2x2xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  %s = tarpon.add %x, %y : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %c = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x2xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x2xf32>
  %a = tarpon.add %s, %c : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %a, %s : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// An activation behind reshapes and transposes is an epilogue in front of them.

// CHECK-LABEL: func @moves_through_movements(
// CHECK-NEXT:    %[[M:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[G:.+]] = tarpon.gelu %[[M]] : (tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[G]] : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[R]]
// CHECK-NEXT:    return %[[T]] : tensor<2x4x3xf32>
func.func @moves_through_movements(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> tensor<2x4x3xf32> {
  %m = tarpon.matmul %x, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r = tarpon.reshape %m : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %t = tarpon.transpose %r {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %a = tarpon.gelu %t : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %a : tensor<2x4x3xf32>
}

// CHECK-LABEL: func @negative_movement_is_read_otherwise(
// CHECK-NEXT:    %[[M:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[M]]
// CHECK-NEXT:    %[[A:.+]] = tarpon.gelu %[[R]]
// CHECK-NEXT:    return %[[A]], %[[R]]
func.func @negative_movement_is_read_otherwise(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
  %m = tarpon.matmul %x, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r = tarpon.reshape %m : (tensor<6x4xf32>) -> tensor<24xf32>
  %a = tarpon.gelu %r : (tensor<24xf32>) -> tensor<24xf32>
  return %a, %r : tensor<24xf32>, tensor<24xf32>
}

// Attention as PyTorch writes it scales both factors.

// CHECK-LABEL: func @moves_scales(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<6x5xf32>, %[[Y:[^:]+]]: tensor<5x4xf32>
// CHECK:         %[[M:.+]] = tarpon.matmul %[[X]], %[[Y]]
// CHECK-NEXT:    %[[A:.+]] = tarpon.mul %[[M]], %[[S:.+]] :
// CHECK-NEXT:    %[[B:.+]] = tarpon.mul %[[A]], %[[S]] :
// CHECK-NEXT:    return %[[B]]
func.func @moves_scales(%x: tensor<6x5xf32>, %y: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %s = tarpon.constant {value = dense<0.5> : tensor<1xf32>} : tensor<1xf32>
  %a = tarpon.mul %x, %s : (tensor<6x5xf32>, tensor<1xf32>) -> tensor<6x5xf32>
  %b = tarpon.mul %s, %y : (tensor<1xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %m = tarpon.matmul %a, %b : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  return %m : tensor<6x4xf32>
}

// CHECK-LABEL: func @negative_scales(
// CHECK-NEXT:    %[[A:.+]] = tarpon.mul
// CHECK-NEXT:    %[[M:.+]] = tarpon.matmul %[[A]]
// CHECK-NEXT:    return %[[M]], %[[A]]
func.func @negative_scales(%x: tensor<6x5xf32>, %y: tensor<5x4xf32>, %s: tensor<1xf32>) -> (tensor<6x4xf32>, tensor<6x5xf32>) {
  %a = tarpon.mul %x, %s : (tensor<6x5xf32>, tensor<1xf32>) -> tensor<6x5xf32>
  %m = tarpon.matmul %a, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  return %m, %a : tensor<6x4xf32>, tensor<6x5xf32>
}
