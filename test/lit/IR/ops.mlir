// RUN: graph-opt %s | graph-opt - | FileCheck %s
// RUN: graph-opt %s -mlir-print-op-generic | graph-opt - | FileCheck %s

// CHECK-LABEL: func @conv(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<1x4x8x8xf32>, %[[W:[^:]+]]: tensor<6x2x3x3xf32>
func.func @conv(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x4x3xf32> {
  // CHECK: tarpon.conv %[[X]], %[[W]] {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x3xf32>
  %y = tarpon.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>,
                           dilations = array<i64: 1, 2>, group = 2 : i64}
       : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x3xf32>
  return %y : tensor<1x6x4x3xf32>
}

// CHECK-LABEL: func @conv_ranks(
func.func @conv_ranks(%x1: tensor<1x2x8xf32>, %w1: tensor<3x2x3xf32>,
                      %x3: tensor<1x2x4x4x4xf64>, %w3: tensor<3x2x1x1x1xf64>) {
  // CHECK: (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x6xf32>
  %0 = tarpon.conv %x1, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
       : (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x6xf32>
  // CHECK: (tensor<1x2x4x4x4xf64>, tensor<3x2x1x1x1xf64>) -> tensor<1x3x4x4x4xf64>
  %1 = tarpon.conv %x3, %w3 {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>,
                             dilations = array<i64: 1, 1, 1>}
       : (tensor<1x2x4x4x4xf64>, tensor<3x2x1x1x1xf64>) -> tensor<1x3x4x4x4xf64>
  return
}

// CHECK-LABEL: func @conv_transpose(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<1x4x8x8xf32>, %[[W:[^:]+]]: tensor<4x3x3x3xf32>
func.func @conv_transpose(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x3x3xf32>,
                          %x1: tensor<1x2x8xf64>, %w1: tensor<2x3x3xf64>,
                          %x3: tensor<1x2x1x2x3xf32, #tarpon.layout<nhwc>>, %w3: tensor<2x3x2x2x2xf32>) {
  // CHECK: tarpon.conv_transpose %[[X]], %[[W]] {dilations = array<i64: 1, 2>, group = 2 : i64, output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x16x18xf32>
  %0 = tarpon.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>,
                                     dilations = array<i64: 1, 2>, output_padding = array<i64: 1, 0>, group = 2 : i64}
       : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x16x18xf32>
  // CHECK: (tensor<1x2x8xf64>, tensor<2x3x3xf64>) -> tensor<1x3x10xf64>
  %1 = tarpon.conv_transpose %x1, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
                                       output_padding = array<i64: 0>}
       : (tensor<1x2x8xf64>, tensor<2x3x3xf64>) -> tensor<1x3x10xf64>
  // CHECK: -> tensor<1x3x2x4x6xf32, #tarpon.layout<nhwc>>
  %2 = tarpon.conv_transpose %x3, %w3 {strides = array<i64: 2, 2, 2>, pads = array<i64: 0, 0, 0, 0, 0, 0>,
                                       dilations = array<i64: 1, 1, 1>, output_padding = array<i64: 0, 0, 0>}
       : (tensor<1x2x1x2x3xf32, #tarpon.layout<nhwc>>, tensor<2x3x2x2x2xf32>) -> tensor<1x3x2x4x6xf32, #tarpon.layout<nhwc>>
  return
}

!act = !quant.uniform<i8:f32, 5.000000e-01>
!weight = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

// Products of small types are accumulated and given in f32; the layout is that
// of the input.
// CHECK-LABEL: func @conv_types(
func.func @conv_types(%h: tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>, %wh: tensor<2x2x1x1xf16>,
                      %q: tensor<1x2x4x4x!act>, %wq: tensor<2x2x1x1x!weight>) {
  // CHECK: (tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>, tensor<2x2x1x1xf16>) -> tensor<1x2x4x4xf32, #tarpon.layout<nhwc>>
  %0 = tarpon.conv %h, %wh {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>, tensor<2x2x1x1xf16>) -> tensor<1x2x4x4xf32, #tarpon.layout<nhwc>>
  // CHECK: (tensor<1x2x4x4x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2x2x1x1x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<1x2x4x4xf32>
  %1 = tarpon.conv %q, %wq {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x2x4x4x!act>, tensor<2x2x1x1x!weight>) -> tensor<1x2x4x4xf32>
  return
}

// CHECK-LABEL: func @attention(
func.func @attention(%q: tensor<2x3x8x4xf16>, %k: tensor<2x3x9x4xf16>, %v: tensor<2x3x9x5xf16>, %m: tensor<2x1x1x9xf16>) {
  // CHECK: tarpon.attention %{{.+}}, %{{.+}}, %{{.+}} {scale = 5.000000e-01 : f64} : (tensor<2x3x8x4xf16>, tensor<2x3x9x4xf16>, tensor<2x3x9x5xf16>) -> tensor<2x3x8x5xf16>
  %0 = tarpon.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x3x8x4xf16>, tensor<2x3x9x4xf16>, tensor<2x3x9x5xf16>) -> tensor<2x3x8x5xf16>
  // CHECK: tarpon.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {causal = true, scale = 5.000000e-01 : f64} : (tensor<2x3x8x4xf16>, tensor<2x3x9x4xf16>, tensor<2x3x9x5xf16>, tensor<2x1x1x9xf16>) -> tensor<2x3x8x5xf16>
  %1 = tarpon.attention %q, %k, %v, %m {scale = 0.5 : f64, causal = true} : (tensor<2x3x8x4xf16>, tensor<2x3x9x4xf16>, tensor<2x3x9x5xf16>, tensor<2x1x1x9xf16>) -> tensor<2x3x8x5xf16>
  return
}

// CHECK-LABEL: func @block_matmul(
func.func @block_matmul(%x: tensor<2x3x60xf32>, %w: tensor<7x2x16xui8>, %s: tensor<7x2xf32>, %z: tensor<7x2xui8>, %b: tensor<7x2x32xui8>) {
  // CHECK: tarpon.block_matmul %{{.+}}, %{{.+}}, %{{.+}} {bits = 4 : i64, block_size = 32 : i64} : (tensor<2x3x60xf32>, tensor<7x2x16xui8>, tensor<7x2xf32>) -> tensor<2x3x7xf32>
  %0 = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<2x3x60xf32>, tensor<7x2x16xui8>, tensor<7x2xf32>) -> tensor<2x3x7xf32>
  // CHECK: tarpon.block_matmul %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {bits = 8 : i64, block_size = 32 : i64} : (tensor<2x3x60xf32>, tensor<7x2x32xui8>, tensor<7x2xf32>, tensor<7x2xui8>) -> tensor<2x3x7xf32>
  %1 = tarpon.block_matmul %x, %b, %s, %z {bits = 8 : i64, block_size = 32 : i64} : (tensor<2x3x60xf32>, tensor<7x2x32xui8>, tensor<7x2xf32>, tensor<7x2xui8>) -> tensor<2x3x7xf32>
  return
}

// CHECK-LABEL: func @matmul(
func.func @matmul(%a: tensor<5x1x2x3xf32>, %b: tensor<4x3x6xf32>, %h: tensor<3x2xbf16>, %g: tensor<6x3xbf16>) {
  // CHECK: tarpon.matmul %{{.+}}, %{{.+}} : (tensor<5x1x2x3xf32>, tensor<4x3x6xf32>) -> tensor<5x4x2x6xf32>
  %0 = tarpon.matmul %a, %b : (tensor<5x1x2x3xf32>, tensor<4x3x6xf32>) -> tensor<5x4x2x6xf32>
  // CHECK: tarpon.matmul %{{.+}}, %{{.+}} {transpose_lhs = true, transpose_rhs = true} : (tensor<3x2xbf16>, tensor<6x3xbf16>) -> tensor<2x6xf32>
  %1 = tarpon.matmul %h, %g {transpose_lhs = true, transpose_rhs = true} : (tensor<3x2xbf16>, tensor<6x3xbf16>) -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func @pools(
func.func @pools(%x: tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>, %i: tensor<1x3x6xi8>) {
  // CHECK: tarpon.max_pool %{{.+}} {ceil_mode = true, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>) -> tensor<2x3x4x4xf32, #tarpon.layout<nhwc>>
  %0 = tarpon.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                           dilations = array<i64: 1, 1>, ceil_mode = true}
       : (tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>) -> tensor<2x3x4x4xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.max_pool %{{.+}} : (tensor<1x3x6xi8>) -> tensor<1x3x3xi8>
  %1 = tarpon.max_pool %i {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
       : (tensor<1x3x6xi8>) -> tensor<1x3x3xi8>
  // CHECK: tarpon.avg_pool %{{.+}} {count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : {{.*}} -> tensor<2x3x4x4xf32, #tarpon.layout<nhwc>>
  %2 = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>,
                           dilations = array<i64: 1, 1>, count_include_pad = true}
       : (tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>) -> tensor<2x3x4x4xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.global_avg_pool %{{.+}} : (tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>) -> tensor<2x3x1x1xf32, #tarpon.layout<nhwc>>
  %3 = tarpon.global_avg_pool %x : (tensor<2x3x7x7xf32, #tarpon.layout<nhwc>>) -> tensor<2x3x1x1xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.global_max_pool %{{.+}} : (tensor<1x3x6xi8>) -> tensor<1x3x1xi8>
  %4 = tarpon.global_max_pool %i : (tensor<1x3x6xi8>) -> tensor<1x3x1xi8>
  return
}

// A window that would start in the end padding is not counted in ceil_mode.
// CHECK-LABEL: func @ceil_mode_ignores_windows_in_the_padding(
func.func @ceil_mode_ignores_windows_in_the_padding(%x: tensor<1x1x2x2xf32>) {
  // CHECK: -> tensor<1x1x1x1xf32>
  %0 = tarpon.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                           dilations = array<i64: 1, 1>, ceil_mode = true}
       : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  return
}

// CHECK-LABEL: func @norms(
func.func @norms(%x: tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>, %p: tensor<3xf32>, %s: tensor<2x10xf32>) {
  // CHECK: tarpon.batch_norm %{{.+}}, %[[P:.+]], %[[P]], %[[P]], %[[P]] {epsilon = 9.99999974E-6 : f32} : (tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>
  %0 = tarpon.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0e-5 : f32}
       : (tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
         -> tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>
  // CHECK: tarpon.softmax %{{.+}} {axis = 1 : i64} : (tensor<2x10xf32>) -> tensor<2x10xf32>
  %1 = tarpon.softmax %s {axis = 1 : i64} : (tensor<2x10xf32>) -> tensor<2x10xf32>
  // CHECK: tarpon.lrn %{{.+}} {alpha = {{.*}}, beta = {{.*}}, bias = {{.*}}, size = 5 : i64} : (tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>) -> tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>
  %2 = tarpon.lrn %x {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32}
       : (tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>) -> tensor<1x3x4x4xf32, #tarpon.layout<nchw4c>>
  return
}

// CHECK-LABEL: func @statistics(
func.func @statistics(%x: tensor<2x3x8xf16>, %n: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %p: tensor<8xf32>, %c: tensor<4xf32>, %a: tensor<1x3x8xf32>) {
  // CHECK: tarpon.layer_norm %{{.+}} {axis = 1 : i64, epsilon = 2.500000e-01 : f32, statistics} : (tensor<2x3x8xf16>) -> (tensor<2x3x8xf16>, tensor<2x1x1xf32>, tensor<2x1x1xf32>)
  %1:3 = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x3x8xf16>) -> (tensor<2x3x8xf16>, tensor<2x1x1xf32>, tensor<2x1x1xf32>)
  // CHECK: tarpon.batch_norm_training %{{.+}} {epsilon = 2.500000e-01 : f32, factor = 5.000000e-01 : f32} : ({{.*}}) -> (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %4:5 = tarpon.batch_norm_training %n, %c, %c, %c, %c {epsilon = 0.25 : f32, factor = 0.5 : f32}
       : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: tarpon.batch_norm_training %{{.+}} {epsilon = 2.500000e-01 : f32, factor = 5.000000e-01 : f32, spatial = false, unbiased = true} : ({{.*}}) -> (tensor<2x3x8xf16>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>)
  %5:5 = tarpon.batch_norm_training %x, %a, %a, %a, %a {epsilon = 0.25 : f32, factor = 0.5 : f32, spatial = false, unbiased = true}
       : (tensor<2x3x8xf16>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> (tensor<2x3x8xf16>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>)
  // CHECK: tarpon.layer_norm %{{.+}}, %{{.+}} {axis = 2 : i64, epsilon = 2.500000e-01 : f32} : (tensor<2x3x8xf16>, tensor<8xf32>) -> tensor<2x3x8xf16>
  %0 = tarpon.layer_norm %x, %p {axis = 2 : i64, epsilon = 0.25 : f32} : (tensor<2x3x8xf16>, tensor<8xf32>) -> tensor<2x3x8xf16>
  // CHECK: tarpon.group_norm %{{.+}}, %[[C:.+]], %[[C]] {epsilon = 2.500000e-01 : f32, groups = 2 : i64} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  %2 = tarpon.group_norm %n, %c, %c {groups = 2 : i64, epsilon = 0.25 : f32} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.log_softmax %{{.+}} {axis = 0 : i64} : (tensor<2x3x8xf16>) -> tensor<2x3x8xf16>
  %3 = tarpon.log_softmax %x {axis = 0 : i64} : (tensor<2x3x8xf16>) -> tensor<2x3x8xf16>
  return
}

// CHECK-LABEL: func @reductions(
func.func @reductions(%x: tensor<2x3x8xf16>, %n: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %i: tensor<3xi32>) {
  // CHECK: tarpon.reduce_sum %{{.+}} {axes = array<i64: 0>, keepdims = false} : (tensor<3xi32>) -> tensor<i32>
  %0 = tarpon.reduce_sum %i {axes = array<i64: 0>, keepdims = false} : (tensor<3xi32>) -> tensor<i32>
  // CHECK: tarpon.reduce_mean %{{.+}} {axes = array<i64: 0, 2>} : (tensor<2x3x8xf16>) -> tensor<1x3x1xf16>
  %1 = tarpon.reduce_mean %x {axes = array<i64: 0, 2>} : (tensor<2x3x8xf16>) -> tensor<1x3x1xf16>
  // CHECK: tarpon.reduce_log_sum_exp %{{.+}} {axes = array<i64: 1>} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x1x2x2xf32, #tarpon.layout<nhwc>>
  %2 = tarpon.reduce_log_sum_exp %n {axes = array<i64: 1>} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x1x2x2xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.arg_max %{{.+}} {axis = 2 : i64, keepdims = false, select_last_index = true} : (tensor<2x3x8xf16>) -> tensor<2x3xi64>
  %3 = tarpon.arg_max %x {axis = 2 : i64, keepdims = false, select_last_index = true} : (tensor<2x3x8xf16>) -> tensor<2x3xi64>
  // CHECK: tarpon.arg_min %{{.+}} {axis = 1 : i64} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x1x2x2xi64, #tarpon.layout<nhwc>>
  %4 = tarpon.arg_min %n {axis = 1 : i64} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x1x2x2xi64, #tarpon.layout<nhwc>>
  return
}

// CHECK-LABEL: func @unary(
func.func @unary(%x: tensor<2x4xf16>, %i: tensor<3xi32>, %n: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) {
  // CHECK: tarpon.relu %{{.+}} : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  %0 = tarpon.relu %n : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  // CHECK: tarpon.clip %{{.+}} {high = 6.000000e+00 : f64, low = 0xFFF0000000000000 : f64} : (tensor<3xi32>) -> tensor<3xi32>
  %1 = tarpon.clip %i {low = 0xFFF0000000000000 : f64, high = 6.0 : f64} : (tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tarpon.leaky_relu %{{.+}} {alpha = 5.000000e-01 : f32} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %2 = tarpon.leaky_relu %x {alpha = 0.5 : f32} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.sigmoid %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %3 = tarpon.sigmoid %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.hard_sigmoid %{{.+}} {alpha = 2.500000e-01 : f32, beta = 5.000000e-01 : f32} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %4 = tarpon.hard_sigmoid %x {alpha = 0.25 : f32, beta = 0.5 : f32} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.hard_swish %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %5 = tarpon.hard_swish %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.acos %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %6 = tarpon.acos %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.acosh %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %7 = tarpon.acosh %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.asin %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %8 = tarpon.asin %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.asinh %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %9 = tarpon.asinh %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.atan %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %10 = tarpon.atan %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  // CHECK: tarpon.atanh %{{.+}} : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %11 = tarpon.atanh %x : (tensor<2x4xf16>) -> tensor<2x4xf16>
  return
}

// CHECK-LABEL: func @binary(
func.func @binary(%a: tensor<2x1x3xf32>, %b: tensor<4x1xf32>, %i: tensor<2xui8>) {
  // CHECK: tarpon.add %{{.+}}, %{{.+}} : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %0 = tarpon.add %a, %b : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  // CHECK: tarpon.sub %{{.+}}, %{{.+}} : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  %1 = tarpon.sub %i, %i : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  // CHECK: tarpon.mul %{{.+}}, %{{.+}} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = tarpon.mul %b, %b : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK: tarpon.div %{{.+}}, %{{.+}} : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %3 = tarpon.div %a, %b : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  // CHECK: tarpon.fmod %{{.+}}, %{{.+}} : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %4 = tarpon.fmod %a, %b : (tensor<2x1x3xf32>, tensor<4x1xf32>) -> tensor<2x4x3xf32>
  return
}

// The result lies as the data operands do, whatever the parameters' layout.
// CHECK-LABEL: func @binary_layouts(
func.func @binary_layouts(%x: tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>, %bias: tensor<1x4x1x1xf32>,
                          %scalar: tensor<f32>, %pooled: tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>,
                          %row: tensor<2xf32>) {
  // CHECK: -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  %0 = tarpon.add %x, %bias : (tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<1x4x1x1xf32>) -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  // CHECK: -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  %1 = tarpon.sub %scalar, %x : (tensor<f32>, tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>) -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  // CHECK: -> tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>
  %2 = tarpon.add %pooled, %bias : (tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>
  // CHECK: -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  %3 = tarpon.mul %x, %row : (tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<2xf32>) -> tensor<2x4x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// CHECK-LABEL: func @constants(
func.func @constants() {
  // CHECK: tarpon.constant {value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  // CHECK: tarpon.constant {quantized_type = tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>, value = dense<[-3, 4]> : tensor<2xi8>} : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  %1 = tarpon.constant {value = dense<[-3, 4]> : tensor<2xi8>, quantized_type = tensor<2x!act>} : tensor<2x!act>
  // CHECK: tarpon.constant {value = dense_resource<blob> : tensor<2xi64>} : tensor<2xi64>
  %2 = tarpon.constant {value = dense_resource<blob> : tensor<2xi64>} : tensor<2xi64>
  return
}

// CHECK-LABEL: func @shapes(
func.func @shapes(%x: tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>>, %m: tensor<2x3xf32>,
                  %q: tensor<2x1x!weight>, %p: tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>) {
  // CHECK: tarpon.concat %{{.+}}, %{{.+}} {axis = 1 : i64} : (tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>>, tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x8x2x2xf32, #tarpon.layout<nchw4c>>
  %0 = tarpon.concat %x, %x {axis = 1 : i64}
       : (tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>>, tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>>) -> tensor<1x8x2x2xf32, #tarpon.layout<nchw4c>>
  // CHECK: tarpon.bitcast %{{.+}} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %bits = tarpon.bitcast %m : (tensor<2x3xf32>) -> tensor<2x3xi32>
  // CHECK: tarpon.reshape %{{.+}} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = tarpon.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: tarpon.reshape %{{.+}} : (tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>) -> tensor<1x4xf32>
  %2 = tarpon.reshape %p : (tensor<1x4x1x1xf32, #tarpon.layout<nhwc>>) -> tensor<1x4xf32>
  // CHECK: tarpon.transpose %{{.+}} {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = tarpon.transpose %m {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // The quantised dimension moves with the others.
  // CHECK: tarpon.transpose %{{.+}} : (tensor<2x1x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<1x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
  %4 = tarpon.transpose %q {permutation = array<i64: 1, 0>}
       : (tensor<2x1x!weight>) -> tensor<1x2x!quant.uniform<i8:f32:1, {5.000000e-01, 2.500000e-01}>>
  // CHECK: tarpon.pad %{{.+}} {mode = 2 : i32, pads = array<i64: 0, 2, 1, -1>, value = 0.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<3x4xf32>
  %5 = tarpon.pad %m {pads = array<i64: 0, 2, 1, -1>, value = 0.0 : f64, mode = 2 : i32} : (tensor<2x3xf32>) -> tensor<3x4xf32>
  // CHECK: tarpon.convert %{{.+}} : tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>> -> tensor<1x4x2x2x!quant.uniform<i8:f32, 5.000000e-01>>
  %6 = tarpon.convert %x : tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>> -> tensor<1x4x2x2x!act>
  %7 = tarpon.convert %x : tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>> -> tensor<1x4x2x2xf32>
  %8 = tarpon.convert %x : tensor<1x4x2x2xf32, #tarpon.layout<nchw4c>> -> tensor<1x4x2x2xf32>
  // CHECK: tarpon.shuffle_channels %{{.+}} {group = 2 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %10 = tarpon.shuffle_channels %7 {group = 2 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: tarpon.join %{{.+}}, %{{.+}} : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x8x2x2xf32>
  %9 = tarpon.join %7, %8 : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x8x2x2xf32>
  return
}

// CHECK-LABEL: func @fused(
func.func @fused(%x: tensor<1x4x8x8xf16>, %bias: tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf16> {
  // CHECK:      %[[Y:.+]] = tarpon.fused(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}) : (tensor<1x4x8x8xf16>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf16> {
  // CHECK-NEXT:   %[[C:.+]] = tarpon.convert %[[A]] : tensor<1x4x8x8xf16> -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:   %[[D:.+]] = tarpon.add %[[C]], %[[B]] : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:   %[[E:.+]] = tarpon.relu %[[D]] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-NEXT:   %[[F:.+]] = tarpon.convert %[[E]] : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf16>
  // CHECK-NEXT:   tarpon.yield %[[F]] : tensor<1x4x8x8xf16>
  // CHECK-NEXT: }
  %y = tarpon.fused(%a = %x, %b = %bias) : (tensor<1x4x8x8xf16>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf16> {
    %0 = tarpon.convert %a : tensor<1x4x8x8xf16> -> tensor<1x4x8x8xf32>
    %1 = tarpon.add %0, %b : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    %2 = tarpon.relu %1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %3 = tarpon.convert %2 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf16>
    tarpon.yield %3 : tensor<1x4x8x8xf16>
  }
  return %y : tensor<1x4x8x8xf16>
}

// A launch may convert only, and region arguments may shadow outer names.
// CHECK-LABEL: func @recurrent(
func.func @recurrent(%g4: tensor<5x2x24xf32>, %r4: tensor<2x12x3xf32>, %g3: tensor<5x2x18xf32>, %r3: tensor<2x9x3xf32>, %g1: tensor<5x2x6xf32>,
                     %r1: tensor<2x3x3xf32>, %l: tensor<2xi64>, %h: tensor<2x2x3xf32>, %p: tensor<2x9xf32>, %b: tensor<2x3xf32>) {
  // CHECK: tarpon.lstm %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {activations = array<i64: 0, 1, 1, 0, 1, 1>, alphas = {{.*}}, betas = {{.*}}, clip = 5.000000e-01 : f32, input_forget = 1 : i64, reversed = array<i64: 0, 1>}
  %0 = tarpon.lstm %g4, %r4, %l, %h, %h, %p {reversed = array<i64: 0, 1>, activations = array<i64: 0, 1, 1, 0, 1, 1>, alphas = array<f32: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>,
         betas = array<f32: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>, clip = 0.5 : f32, input_forget = 1 : i64}
       : (tensor<5x2x24xf32>, tensor<2x12x3xf32>, tensor<2xi64>, tensor<2x2x3xf32>, tensor<2x2x3xf32>, tensor<2x9xf32>) -> tensor<7x2x2x3xf32>
  // CHECK: tarpon.gru {{.*}} -> tensor<6x2x2x3xf32>
  %1 = tarpon.gru %g3, %r3, %l, %h, %b {reversed = array<i64: 0, 1>, activations = array<i64: 0, 1, 0, 1>, alphas = array<f32: 0.0, 0.0, 0.0, 0.0>,
         betas = array<f32: 0.0, 0.0, 0.0, 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x18xf32>, tensor<2x9x3xf32>, tensor<2xi64>, tensor<2x2x3xf32>, tensor<2x3xf32>) -> tensor<6x2x2x3xf32>
  // CHECK: tarpon.rnn {{.*}} -> tensor<6x2x2x3xf32>
  %2 = tarpon.rnn %g1, %r1, %l, %h {reversed = array<i64: 0, 1>, activations = array<i64: 1, 2>, alphas = array<f32: 0.0, 0.0>, betas = array<f32: 0.0, 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x6xf32>, tensor<2x3x3xf32>, tensor<2xi64>, tensor<2x2x3xf32>) -> tensor<6x2x2x3xf32>
  return
}

// CHECK-LABEL: func @fused_convert_with_solution(
func.func @fused_convert_with_solution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>> {
  // CHECK: tarpon.fused({{.*}}) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>> attributes {solution = #tarpon.solution<"convert-v1", "vector=8", "default">} {
  %y = tarpon.fused(%x = %x) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
      attributes {solution = #tarpon.solution<"convert-v1", "vector=8", "default">} {
    %0 = tarpon.convert %x : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
    tarpon.yield %0 : tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
  }
  return %y : tensor<1x4x8x8xf32, #tarpon.layout<nhwc>>
}

// CHECK-LABEL: func @launch(
func.func @launch(%x: tensor<1x4xf32>) {
  // CHECK: tarpon.launch "relu1"(%{{.+}}) {offset = 128 : i64, problem = #tarpon.problem<"relu(1x4xf32)->1x4xf32">, solution = #tarpon.solution<"reference-v1", "", "default">, workspace_bytes = 256 : i64, workspace_offset = 192 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %0 = tarpon.launch "relu1" (%x) {problem = #tarpon.problem<"relu(1x4xf32)->1x4xf32">, solution = #tarpon.solution<"reference-v1", "", "default">,
                                   workspace_bytes = 256 : i64, offset = 128 : i64, workspace_offset = 192 : i64}
       : (tensor<1x4xf32>) -> tensor<1x4xf32>
  // CHECK: tarpon.launch "relu2"(%{{.+}}) {offset = -1 : i64, problem = #tarpon.problem<"relu(1x4xf32)->1x4xf32">, solution = {{.*}}} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tarpon.launch "relu2" (%0) {problem = #tarpon.problem<"relu(1x4xf32)->1x4xf32">, solution = #tarpon.solution<"reference-v1", "", "default">, offset = -1 : i64}
       : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0800000001000000000000000200000000000000"
    }
  }
#-}

// CHECK-LABEL: func @resize
// CHECK: tarpon.resize %{{.*}} {coordinates = 3 : i32, mode = 0 : i32, roi = array<f64>, rounding = 2 : i32, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00>, sizes = array<i64: 1, 2, 8>} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
func.func @resize(%x: tensor<1x2x4xf32>) -> tensor<1x2x8xf32> {
  %y = tarpon.resize %x {sizes = array<i64: 1, 2, 8>, scales = array<f64: 1.0, 1.0, 2.0>, roi = array<f64>, mode = 0 : i32, coordinates = 3 : i32, rounding = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}

// CHECK-LABEL: func @more_elementwise
// CHECK: tarpon.swish %{{.*}} {alpha = 1.000000e+00 : f32}
// CHECK: tarpon.prelu
func.func @more_elementwise(%x: tensor<1x2x4xf32>, %s: tensor<2x1xf32>) -> tensor<1x2x4xf32> {
  %0 = tarpon.swish %x {alpha = 1.0 : f32} : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %1 = tarpon.prelu %0, %s : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// CHECK-LABEL: func @pool_indices(
func.func @pool_indices(%x: tensor<1x3x6xf32, #tarpon.layout<nhwc>>, %r: tensor<1x3x3xf16>, %i: tensor<1x3x3xi64>) {
  // CHECK: tarpon.max_pool_indices %{{.+}} {column_major = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x3x6xf32, #tarpon.layout<nhwc>>) -> (tensor<1x3x3xf32, #tarpon.layout<nhwc>>, tensor<1x3x3xi64, #tarpon.layout<nhwc>>)
  %0:2 = tarpon.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, column_major = true}
       : (tensor<1x3x6xf32, #tarpon.layout<nhwc>>) -> (tensor<1x3x3xf32, #tarpon.layout<nhwc>>, tensor<1x3x3xi64, #tarpon.layout<nhwc>>)
  // CHECK: tarpon.max_unpool %{{.+}}, %{{.+}} {sizes = array<i64: 6>} : (tensor<1x3x3xf16>, tensor<1x3x3xi64>) -> tensor<1x3x6xf16>
  %1 = tarpon.max_unpool %r, %i {sizes = array<i64: 6>} : (tensor<1x3x3xf16>, tensor<1x3x3xi64>) -> tensor<1x3x6xf16>
  return
}

// CHECK-LABEL: func @selection(
func.func @selection(%c: tensor<3x1xi1>, %x: tensor<3x4xf16>, %z: tensor<f16>, %i: tensor<2x5xi64>, %j: tensor<2xi64>, %u: tensor<2x4xf16>) {
  // CHECK: tarpon.where %{{.+}}, %{{.+}}, %{{.+}} : (tensor<3x1xi1>, tensor<3x4xf16>, tensor<f16>) -> tensor<3x4xf16>
  %0 = tarpon.where %c, %x, %z : (tensor<3x1xi1>, tensor<3x4xf16>, tensor<f16>) -> tensor<3x4xf16>
  // CHECK: tarpon.gather %{{.+}}, %{{.+}} {axis = 1 : i64} : (tensor<3x4xf16>, tensor<2x5xi64>) -> tensor<3x2x5xf16>
  %1 = tarpon.gather %x, %i {axis = 1 : i64} : (tensor<3x4xf16>, tensor<2x5xi64>) -> tensor<3x2x5xf16>
  // CHECK: tarpon.scatter %{{.+}}, %{{.+}}, %{{.+}} {mode = 1 : i32} : (tensor<3x4xf16>, tensor<2xi64>, tensor<2x4xf16>) -> tensor<3x4xf16>
  %2 = tarpon.scatter %x, %j, %u {mode = 1 : i32} : (tensor<3x4xf16>, tensor<2xi64>, tensor<2x4xf16>) -> tensor<3x4xf16>
  return
}

// CHECK-LABEL: func @samples(
func.func @samples(%x: tensor<2x3x8x9xf16>, %g: tensor<2x5x2xf32>, %c: tensor<7x4xf16>, %j: tensor<7xi64>, %b: tensor<2x6x4xf32>, %s: tensor<2x4x6xf32>) {
  // CHECK: tarpon.top_k %{{.+}} {axis = 2 : i64, k = 6 : i64} : (tensor<2x4x6xf32>) -> tensor<2x4x6xi64>
  %0 = tarpon.top_k %s {axis = 2 : i64, k = 6 : i64} : (tensor<2x4x6xf32>) -> tensor<2x4x6xi64>
  // CHECK: tarpon.grid_sample %{{.+}}, %{{.+}} {mode = 1 : i32, padding = 2 : i32} : (tensor<2x3x8x9xf16>, tensor<2x5x2xf32>) -> tensor<2x3x5xf16>
  %1 = tarpon.grid_sample %x, %g {mode = 1 : i32, padding = 2 : i32} : (tensor<2x3x8x9xf16>, tensor<2x5x2xf32>) -> tensor<2x3x5xf16>
  // CHECK: tarpon.roi_align
  %2 = tarpon.roi_align %x, %c, %j {half_pixel = true, samples = 2 : i64, scale = 0.25 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xf16>, tensor<7x4xf16>, tensor<7xi64>) -> tensor<7x3x3x5xf16>
  // CHECK: tarpon.non_max_suppression
  // CHECK-SAME: -> (tensor<24x3xi64>, tensor<1xi64>)
  %3:2 = tarpon.non_max_suppression %b, %s, %0 {center_point = false, has_least = true, least_score = 0.5 : f64, limit = 3 : i64, most_overlap = 0.5 : f64} : (tensor<2x6x4xf32>, tensor<2x4x6xf32>, tensor<2x4x6xi64>) -> (tensor<24x3xi64>, tensor<1xi64>)
  return
}

// CHECK-LABEL: func @comparisons_and_bits(
func.func @comparisons_and_bits(%x: tensor<3xf32>, %i: tensor<3xui8>) {
  // CHECK: tarpon.equal
  %0 = tarpon.equal %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: tarpon.less
  %1 = tarpon.less %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  // CHECK: tarpon.bit_and
  %2 = tarpon.bit_and %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  // CHECK: tarpon.bit_or
  %3 = tarpon.bit_or %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  // CHECK: tarpon.bit_xor
  %4 = tarpon.bit_xor %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  // CHECK: tarpon.shift_left
  %5 = tarpon.shift_left %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  // CHECK: tarpon.shift_right
  %6 = tarpon.shift_right %i, %i : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  return
}

// CHECK-LABEL: func @several_results(
func.func @several_results(%x: tensor<2x8xf32>) {
  // CHECK: tarpon.fused(%[[A:.+]] = %{{.+}}) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  // CHECK:   tarpon.yield %{{.+}}, %{{.+}}#1, %{{.+}}#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    %2 = tarpon.relu %1#0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
    tarpon.yield %2, %1#1, %1#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  return
}

// What has become a constant may still be taken for a variable operand.
// CHECK-LABEL: func @fused_with_problem(
func.func @fused_with_problem() -> tensor<4xf32> {
  %x = tarpon.constant {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
  // CHECK: tarpon.fused({{.*}}) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf32:const)->4xf32">} {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf32:const)->4xf32">} {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  // CHECK: tarpon.fused({{.*}}) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf32)->4xf32">} {
  %1 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf32)->4xf32">} {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
