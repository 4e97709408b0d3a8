// RUN: graph-opt %s -tarpon-quantize -split-input-file | FileCheck %s

// The argument's range is [-128, 127]: 0 is at step 128. The filter's columns have
// the largest values 127 and 254; 2.5 and 5 / 2 round to even. The range of the
// first result, [5, 127.5], is extended to hold 0.

// CHECK-LABEL: func @quantizes_accumulation(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<4x2xf32>
// CHECK-DAG:     %[[XQ:.+]] = tarpon.convert %[[X]] : tensor<4x2xf32> -> tensor<4x2x!quant.uniform<u8:f32, 1.000000e+00:128>>
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {quantized_type = tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e+00,2.000000e+00}>>, value = dense<{{\[\[}}127, 2], [2, -127]]> : tensor<2x2xi8>}
// CHECK-DAG:     %[[V:.+]] = tarpon.constant {quantized_type = tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {{.*}}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<{{.*}}> : tensor<2xf32>}
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[XQ]], %[[AW:.+]] = %[[W]], %[[AB:.+]] = %[[B]])
// CHECK-NEXT:      %[[M:.+]] = tarpon.matmul %[[A]], %[[AW]] {{.*}} -> tensor<4x2xf32>
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[AB]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:      %[[Q:.+]] = tarpon.convert %[[S]] : tensor<4x2xf32> -> tensor<4x2x!quant.uniform<u8:f32, 5.000000e-01>>
// CHECK-NEXT:      tarpon.yield %[[Q]]
// CHECK:         %[[G:.+]] = tarpon.fused(%[[A:.+]] = %[[F]], %[[AW:.+]] = %[[V]], %[[AR:.+]] = %[[F]])
// CHECK-SAME:        -> tensor<4x2xf32>
// CHECK-NEXT:      %[[R:.+]] = tarpon.convert %[[AR]] : tensor<4x2x!quant.uniform<u8:f32, {{.*}}>> -> tensor<4x2xf32>
// CHECK-NEXT:      %[[M:.+]] = tarpon.matmul %[[A]], %[[AW]] {transpose_rhs = true}
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[R]]
// CHECK-NEXT:      tarpon.yield %[[S]]
// CHECK:         return %[[G]]
func.func @quantizes_accumulation(%x: tensor<4x2xf32> {tarpon.range = array<f32: -128.0, 127.0>}) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[127.0, 5.0], [2.5, -254.0]]> : tensor<2x2xf32>} : tensor<2x2xf32>
  %b = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %ab = %b) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> attributes {tarpon.range = array<f32: 5.0, 127.5>} {
    %2 = tarpon.matmul %a, %aw : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = tarpon.add %2, %ab : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    tarpon.yield %3 : tensor<4x2xf32>
  }
  %1 = tarpon.fused(%a = %0, %aw = %w, %ar = %0) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> {
    %2 = tarpon.matmul %a, %aw {transpose_rhs = true} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = tarpon.add %2, %ar : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    tarpon.yield %3 : tensor<4x2xf32>
  }
  return %1 : tensor<4x2xf32>
}

// -----

// One scale per output channel, also with groups; a channel of zeros and a value
// that is always zero get the scale 1.

// CHECK-LABEL: func @quantizes_depthwise_conv(
// CHECK-DAG:     tarpon.convert {{.*}} -> tensor<1x2x3x3x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK-DAG:     tarpon.constant {quantized_type = tensor<2x1x1x1x!quant.uniform<i8<-127:127>:f32:0, {2.000000e+00,1.000000e+00}>>, value = dense<{{\[\[\[\[}}127]]], {{\[\[\[}}0]]]]> : tensor<2x1x1x1xi8>}
// CHECK:         tarpon.conv {{.*}}group = 2{{.*}} -> tensor<1x2x3x3xf32>
func.func @quantizes_depthwise_conv(%x: tensor<1x2x3x3xf32> {tarpon.range = array<f32: 0.0, 0.0>}) -> tensor<1x2x3x3xf32> {
  %w = tarpon.constant {value = dense<[[[[254.0]]], [[[0.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w) : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32> {
    %1 = tarpon.conv %a, %aw {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
    tarpon.yield %1 : tensor<1x2x3x3xf32>
  }
  return %0 : tensor<1x2x3x3xf32>
}

// -----

// Pooling and reshapes pass the type on, and need no range.

// CHECK-LABEL: func @passes_type_on(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x2x4x4xf32>
// CHECK:         %[[XQ:.+]] = tarpon.convert %[[X]] : tensor<1x2x4x4xf32> -> tensor<1x2x4x4x[[T:!quant.uniform<u8:f32, 2.0+e\+00>]]>
// CHECK:         %[[P:.+]] = tarpon.fused({{.*}} = %[[XQ]])
// CHECK-NEXT:      tarpon.global_max_pool {{.*}} -> tensor<1x2x1x1x[[T]]>
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[V:.+]] = tarpon.reshape %[[P]] : (tensor<1x2x1x1x[[T]]>) -> tensor<1x2x[[T]]>
// CHECK:         tarpon.fused({{.*}} = %[[V]])
// CHECK-NEXT:      tarpon.convert {{.*}} : tensor<1x2x[[T]]> -> tensor<1x2xf32>
// CHECK-NEXT:      tarpon.relu
// CHECK-NEXT:      tarpon.yield {{.*}} : tensor<1x2xf32>
func.func @passes_type_on(%x: tensor<1x2x4x4xf32> {tarpon.range = array<f32: 0.0, 510.0>}) -> tensor<1x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
    %3 = tarpon.global_max_pool %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    tarpon.yield %3 : tensor<1x2x1x1xf32>
  }
  %1 = tarpon.reshape %0 : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32>
  %2 = tarpon.fused(%a = %1) : (tensor<1x2xf32>) -> tensor<1x2xf32> {
    %3 = tarpon.relu %a : (tensor<1x2xf32>) -> tensor<1x2xf32>
    tarpon.yield %3 : tensor<1x2xf32>
  }
  return %2 : tensor<1x2xf32>
}

// -----

// The means of what was read vary less, and have a range of their own.

// CHECK-LABEL: func @averages_have_their_own_type(
// CHECK:         tarpon.fused(
// CHECK-NEXT:      tarpon.global_avg_pool {{.*}} -> tensor<1x2x1x1x!quant.uniform<u8:f32, 2.0{{[^>]*}}>>
// CHECK-NEXT:      %[[M:.+]] = tarpon.convert {{.*}} -> tensor<1x2x1x1x!quant.uniform<u8:f32, 5.0{{[^>]*}}e-01>>
// CHECK-NEXT:      tarpon.yield %[[M]]
func.func @averages_have_their_own_type(%x: tensor<1x2x4x4xf32> {tarpon.range = array<f32: 0.0, 510.0>}) -> tensor<1x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> attributes {tarpon.range = array<f32: 0.0, 127.5>} {
    %3 = tarpon.global_avg_pool %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    tarpon.yield %3 : tensor<1x2x1x1xf32>
  }
  %1 = tarpon.reshape %0 : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32>
  %2 = tarpon.fused(%a = %1) : (tensor<1x2xf32>) -> tensor<1x2xf32> {
    %3 = tarpon.relu %a : (tensor<1x2xf32>) -> tensor<1x2xf32>
    tarpon.yield %3 : tensor<1x2xf32>
  }
  return %2 : tensor<1x2xf32>
}

// -----

// CHECK-LABEL: func @means_of_windows_have_their_own_type(
// CHECK:         tarpon.fused(
// CHECK-NEXT:      tarpon.avg_pool {{.*}} -> tensor<1x2x2x2x!quant.uniform<u8:f32, 2.0{{[^>]*}}>>
// CHECK-NEXT:      tarpon.convert {{.*}} -> tensor<1x2x2x2x!quant.uniform<u8:f32, 5.0{{[^>]*}}e-01>>
func.func @means_of_windows_have_their_own_type(%x: tensor<1x2x4x4xf32> {tarpon.range = array<f32: 0.0, 510.0>}) -> tensor<1x2x2x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> attributes {tarpon.range = array<f32: 0.0, 127.5>} {
    %3 = tarpon.avg_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
    tarpon.yield %3 : tensor<1x2x2x2xf32>
  }
  %2 = tarpon.fused(%a = %0) : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
    %3 = tarpon.relu %a : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    tarpon.yield %3 : tensor<1x2x2x2xf32>
  }
  return %2 : tensor<1x2x2x2xf32>
}

// -----

// A concat's type reaches from the lowest value of all to the highest.

// CHECK-LABEL: func @concat_takes_union_of_both_signs(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2xf32> {{.*}}, %[[Y:[^:]+]]: tensor<2xf32>
// CHECK-DAG:     tarpon.convert %[[X]] : tensor<2xf32> -> tensor<2x!quant.uniform<u8:f32, 1.000000e+00:255>>
// CHECK-DAG:     tarpon.convert %[[Y]] : tensor<2xf32> -> tensor<2x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK:         tarpon.fused(
// CHECK-SAME:        -> tensor<4x!quant.uniform<u8:f32, 2.000000e+00:128>>
func.func @concat_takes_union_of_both_signs(%x: tensor<2xf32> {tarpon.range = array<f32: -255.0, 0.0>}, %y: tensor<2xf32> {tarpon.range = array<f32: 0.0, 255.0>}) -> tensor<4xf32> {
  %0 = tarpon.fused(%a = %x, %b = %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> {
    %2 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// -----

// Constants that stay in f32 count, too.

// CHECK-LABEL: func @concat_takes_union_with_constants(
// CHECK:         tarpon.fused(
// CHECK-SAME:        -> tensor<4x!quant.uniform<u8:f32, 2.000000e+00:128>>
func.func @concat_takes_union_with_constants(%x: tensor<2xf32> {tarpon.range = array<f32: 0.0, 255.0>}) -> tensor<4xf32> {
  %c = tarpon.constant {value = dense<[-255.0, 1.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.fused(%a = %x, %b = %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> {
    %2 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// -----

// A concat works in a type that covers all its operands.

// CHECK-LABEL: func @concat_takes_union(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2xf32> {{.*}}, %[[Y:[^:]+]]: tensor<2xf32>
// CHECK-DAG:     %[[XQ:.+]] = tarpon.convert %[[X]] : tensor<2xf32> -> tensor<2x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK-DAG:     %[[YQ:.+]] = tarpon.convert %[[Y]] : tensor<2xf32> -> tensor<2x!quant.uniform<u8:f32, 2.000000e+00>>
// CHECK:         tarpon.fused(%[[A:.+]] = %[[XQ]], %[[B:.+]] = %[[YQ]])
// CHECK-SAME:        -> tensor<4x!quant.uniform<u8:f32, 2.000000e+00>>
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert %[[A]] : tensor<2x!quant.uniform<u8:f32, 1.000000e+00>> -> tensor<2x!quant.uniform<u8:f32, 2.000000e+00>>
// CHECK-NEXT:      tarpon.concat %[[C]], %[[B]]
// CHECK-NEXT:      tarpon.yield
func.func @concat_takes_union(%x: tensor<2xf32> {tarpon.range = array<f32: 0.0, 255.0>}, %y: tensor<2xf32> {tarpon.range = array<f32: 0.0, 510.0>}) -> tensor<4xf32> {
  %0 = tarpon.fused(%a = %x, %b = %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32> {
    %2 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// -----

// Without constant filters the region computes in f32, on what is stored.

// CHECK-LABEL: func @negative_two_activations(
// CHECK:         %[[F:.+]] = tarpon.fused(
// CHECK:         tarpon.fused(%[[A:.+]] = %[[F]], %[[B:.+]] = %[[F]])
// CHECK-DAG:       %[[C:.+]] = tarpon.convert %[[A]] : {{.*}} -> tensor<2x2xf32>
// CHECK-DAG:       %[[D:.+]] = tarpon.convert %[[B]] : {{.*}} -> tensor<2x2xf32>
// CHECK:           tarpon.matmul %[[C]], %[[D]]
func.func @negative_two_activations(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tarpon.range = array<f32: 0.0, 1.0>} {
    %2 = tarpon.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %2 : tensor<2x2xf32>
  }
  %1 = tarpon.fused(%a = %0, %b = %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    %2 = tarpon.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %2 : tensor<2x2xf32>
  }
  return %1 : tensor<2x2xf32>
}

// -----

// Logits go into the last softmax as they are, and need no range.

// CHECK-LABEL: func @negative_logits(
// CHECK:           tarpon.relu
// CHECK-NEXT:      tarpon.yield {{.*}} : tensor<2x2xf32>
// CHECK:           tarpon.softmax
// CHECK-NOT:     quant
// CHECK:         return
func.func @negative_logits(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    %2 = tarpon.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %2 : tensor<2x2xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    %2 = tarpon.softmax %a {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %2 : tensor<2x2xf32>
  }
  return %1 : tensor<2x2xf32>
}

// -----

// A model that came quantised stays as it is.

// CHECK-LABEL: func @negative_quantized_before(
// CHECK:           tarpon.convert {{.*}} : tensor<2x2xf32> -> tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>>
// CHECK:           tarpon.convert {{.*}} : tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>> -> tensor<2x2xf32>
// CHECK:           tarpon.matmul {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.yield {{.*}} : tensor<2x2xf32>
// CHECK:           tarpon.convert {{.*}} : tensor<2x2xf32> -> tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>>
func.func @negative_quantized_before(%x: tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32, 0.5>> {
  %w = tarpon.constant {value = dense<1.0> : tensor<2x2xf32>} : tensor<2x2xf32>
  %0 = tarpon.fused(%a = %x) : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32, 0.5>> {
    %4 = tarpon.convert %a : tensor<2x2xf32> -> tensor<2x2x!quant.uniform<u8:f32, 0.5>>
    tarpon.yield %4 : tensor<2x2x!quant.uniform<u8:f32, 0.5>>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<2x2x!quant.uniform<u8:f32, 0.5>>) -> tensor<2x2xf32> {
    %4 = tarpon.convert %a : tensor<2x2x!quant.uniform<u8:f32, 0.5>> -> tensor<2x2xf32>
    tarpon.yield %4 : tensor<2x2xf32>
  }
  %2 = tarpon.fused(%a = %1, %aw = %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    %4 = tarpon.matmul %a, %aw : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %4 : tensor<2x2xf32>
  }
  %3 = tarpon.fused(%a = %2) : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32, 0.5>> {
    %4 = tarpon.convert %a : tensor<2x2xf32> -> tensor<2x2x!quant.uniform<u8:f32, 0.5>>
    tarpon.yield %4 : tensor<2x2x!quant.uniform<u8:f32, 0.5>>
  }
  return %3 : tensor<2x2x!quant.uniform<u8:f32, 0.5>>
}

// -----

// The range is that of the first result. The mean is not rounded to it, so that
// the product is one of floats.

// CHECK-LABEL: func @negative_another_result(
// CHECK:         %[[F:.+]]:3 = tarpon.fused({{.*}} -> (tensor<2x8x!quant.uniform<u8:f32, {{.*}}>>, tensor<2x1xf32>, tensor<2x1xf32>)
// CHECK:         tarpon.fused({{.*}} = %[[F]]#1, {{.*}})
// CHECK-NEXT:      tarpon.matmul {{.*}} (tensor<2x1xf32>, tensor<1x4xf32>)
// CHECK:         tarpon.fused({{.*}} = %[[F]]#0, {{.*}})
// CHECK-NEXT:      tarpon.matmul {{.*}} (tensor<2x8x!quant.uniform<u8{{.*}}
func.func @negative_another_result(%x: tensor<2x8xf32> {tarpon.range = array<f32: -1.0, 1.0>}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = tarpon.constant {value = dense<1.0> : tensor<1x4xf32>} : tensor<1x4xf32>
  %v = tarpon.constant {value = dense<1.0> : tensor<8x4xf32>} : tensor<8x4xf32>
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) attributes {tarpon.range = array<f32: -2.0, 2.0>} {
    %3:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %3#0, %3#1, %3#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  %1 = tarpon.fused(%a = %0#1, %b = %w) : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32> {
    %3 = tarpon.matmul %a, %b : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    tarpon.yield %3 : tensor<2x4xf32>
  }
  %2 = tarpon.fused(%a = %0#0, %b = %v) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32> {
    %3 = tarpon.matmul %a, %b : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    tarpon.yield %3 : tensor<2x4xf32>
  }
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// With means, weights near the middle of two steps are rounded to the other side
// until the mean of the result is balanced: 2.4375 becomes 3. The sum is now 0.125
// too large, which is taken from the bias of 1. The errors of the second column
// cancel as they are.

// CHECK-LABEL: func @balances_means(
// CHECK-DAG:     tarpon.constant {quantized_type = {{.*}}, value = dense<{{\[\[}}127, 127], [3, 2], [3, 5]]> : tensor<3x2xi8>}
// CHECK-DAG:     tarpon.constant {value = dense<[8.750000e-01, 2.000000e+00]> : tensor<2xf32>}
// CHECK:         tarpon.fused(
// CHECK-NOT:     _means
func.func @balances_means(%x: tensor<4x3xf32> {tarpon.range = array<f32: 0.0, 255.0>}) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[127.0, 127.0], [2.4375, 2.4375], [3.4375, 4.5625]]> : tensor<3x2xf32>} : tensor<3x2xf32>
  %b = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %ab = %b) : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> attributes {tarpon.input_means = array<f32: 1.0, 1.0, 1.0>, tarpon.stored_means = array<f32: 1.0, 1.0, 1.0>} {
    %2 = tarpon.matmul %a, %aw : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %3 = tarpon.add %2, %ab : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    tarpon.yield %3 : tensor<4x2xf32>
  }
  return %0 : tensor<4x2xf32>
}

// -----

// A mean that rounding the input has changed is taken back by the bias. In the
// padding, nothing is read: of the three taps, the outer ones are inside of the
// image at three of four places.

// CHECK-LABEL: func @corrects_means_of_stored_inputs(
// CHECK-DAG:     tarpon.constant {value = dense<-2.500000e+00> : tensor<1x1x1xf32>}
func.func @corrects_means_of_stored_inputs(%x: tensor<1x1x4xf32> {tarpon.range = array<f32: 0.0, 255.0>}) -> tensor<1x1x4xf32> {
  %w = tarpon.constant {value = dense<[[[127.0, 127.0, 127.0]]]> : tensor<1x1x3xf32>} : tensor<1x1x3xf32>
  %b = tarpon.constant {value = dense<315.0> : tensor<1x1x1xf32>} : tensor<1x1x1xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %ab = %b) : (tensor<1x1x4xf32>, tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32> attributes {tarpon.input_means = array<f32: 1.0>, tarpon.stored_means = array<f32: 2.0>} {
    %2 = tarpon.conv %a, %aw {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
    %3 = tarpon.add %2, %ab : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
    tarpon.yield %3 : tensor<1x1x4xf32>
  }
  return %0 : tensor<1x1x4xf32>
}

// -----

// Narrow weights are multiplied in f32: the operand of the last product is
// not rounded.

// CHECK-LABEL: func @narrow_weights_read_floats(
// CHECK-COUNT-2: tarpon.fused({{.*}} : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
func.func @narrow_weights_read_floats(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %w = tarpon.constant {value = dense<7> : tensor<8x1x4xui8>} : tensor<8x1x4xui8>
  %s = tarpon.constant {value = dense<0.5> : tensor<8x1xf32>} : tensor<8x1xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %as = %s) : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32> attributes {tarpon.range = array<f32: -4.0, 4.0>} {
    %2 = tarpon.block_matmul %a, %aw, %as {bits = 4 : i64, block_size = 8 : i64} : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
    tarpon.yield %2 : tensor<1x8xf32>
  }
  %1 = tarpon.fused(%a = %0, %aw = %w, %as = %s) : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32> {
    %2 = tarpon.block_matmul %a, %aw, %as {bits = 4 : i64, block_size = 8 : i64} : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
    tarpon.yield %2 : tensor<1x8xf32>
  }
  return %1 : tensor<1x8xf32>
}
