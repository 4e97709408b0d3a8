// RUN: graph-opt %s -tarpon-choose='dtype=fp16 layout=nhwc target=sm_90a fusion=producers' | FileCheck %s
// RUN: graph-opt %s -tarpon-choose='dtype=fp16 layout=nhwc target=sm_90a' | FileCheck %s --check-prefix=APART
// RUN: graph-opt %s -tarpon-choose='dtype=fp16 layout=nhwc target=x86-64-v3 fusion=producers' | FileCheck %s --check-prefix=APART

// A region of the first two convolutions, in one setting.
// The last one's result is f32.

// CHECK-LABEL: func @chain(
// CHECK:         tarpon.fused
// CHECK:           tarpon.conv
// CHECK:           tarpon.convert {{.*}} -> tensor<1x32x112x112xf16, #tarpon.layout<nhwc>>
// CHECK-NEXT:      tarpon.conv
// CHECK:           tarpon.yield

// APART-LABEL: func @chain(
// APART:         tarpon.fused
// APART:           tarpon.conv
// APART:           tarpon.yield
// APART:         tarpon.fused
// APART:           tarpon.conv
// APART:           tarpon.yield
func.func @chain(%x: tensor<1x32x112x112xf32>) -> tensor<1x8x112x112xf32> {
  %u = tarpon.constant {value = dense<0.5> : tensor<8x24x1x1xf32>} : tensor<8x24x1x1xf32>
  %w = tarpon.constant {value = dense<0.5> : tensor<32x1x3x3xf32>} : tensor<32x1x3x3xf32>
  %b = tarpon.constant {value = dense<0.25> : tensor<1x32x1x1xf32>} : tensor<1x32x1x1xf32>
  %v = tarpon.constant {value = dense<0.5> : tensor<24x32x1x1xf32>} : tensor<24x32x1x1xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 32 : i64} : (tensor<1x32x112x112xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x112x112xf32>
  %1 = tarpon.add %0, %b : (tensor<1x32x112x112xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x112x112xf32>
  %2 = tarpon.relu %1 : (tensor<1x32x112x112xf32>) -> tensor<1x32x112x112xf32>
  %3 = tarpon.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32>
  %4 = tarpon.conv %3, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x24x112x112xf32>, tensor<8x24x1x1xf32>) -> tensor<1x8x112x112xf32>
  return %4 : tensor<1x8x112x112xf32>
}
