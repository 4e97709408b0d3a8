// RUN: graph-opt %s -tarpon-choose='dtype=int8 layout=nhwc' -tarpon-lower='target=x86-64-v4 threads=2' | FileCheck %s

// A function as calibration leaves it: fused, with ranges. The pooling feeds
// nothing but the last softmax and stays f32.

// CHECK-LABEL: func @network(
// CHECK:         tarpon.launch "convert_0"{{.*}} -> tensor<1x4x6x6x!quant.uniform<{{.*}}>, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.launch "conv1"{{.*}} -> tensor<1x8x6x6x!quant.uniform<{{.*}}>, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.launch "pool1"{{.*}} -> tensor<1x8x1x1xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.reshape
// CHECK-NEXT:    tarpon.launch "prob"{{.*}} -> tensor<1x8xf32>
func.func @network(%x: tensor<1x4x6x6xf32> {tarpon.range = array<f32: -1.0, 1.0>}) -> tensor<1x8xf32> {
  %w = tarpon.constant {value = dense<0.5> : tensor<8x4x3x3xf32>} : tensor<8x4x3x3xf32>
  %0 = tarpon.fused(%a = %x, %b = %w) : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> attributes {tarpon.range = array<f32: 0.0, 8.0>} {
    %4 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("conv1")
    %5 = tarpon.relu %4 : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
    tarpon.yield %5 : tensor<1x8x6x6xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32> {
    %4 = tarpon.global_avg_pool %a : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32> loc("pool1")
    tarpon.yield %4 : tensor<1x8x1x1xf32>
  }
  %2 = tarpon.reshape %1 : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
  %3 = tarpon.fused(%a = %2) : (tensor<1x8xf32>) -> tensor<1x8xf32> {
    %4 = tarpon.softmax %a {axis = 1 : i64} : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("prob")
    tarpon.yield %4 : tensor<1x8xf32>
  }
  return %3 : tensor<1x8xf32>
}
