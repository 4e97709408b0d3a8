// RUN: graph-opt %s -tarpon-choose='per-region=true target=x86-64-v4 threads=2' | FileCheck %s --check-prefix=CHOSEN
// RUN: graph-opt %s -tarpon-choose='per-region=true target=x86-64-v4 threads=2' -tarpon-lower='target=x86-64-v4 threads=2' | FileCheck %s

// A fused function whose regions are marked. One convert reads the argument, for
// dtype and layout at once, and one is between the layouts; a change of the dtype
// alone has none. Only the regions' indices are left, where converts have none.

// CHOSEN-LABEL: func @network(
// CHOSEN-NOT:     tarpon.precision
// CHOSEN-NOT:     tarpon.layout =
// CHOSEN:         tarpon.fused({{.*}} -> tensor<1x4x6x6x!quant.uniform<{{.*}}>, #tarpon.layout<nhwc>> {
// CHOSEN:         tarpon.fused({{.*}}tarpon.region = 0 : i64
// CHOSEN:         tarpon.fused({{.*}}tarpon.region = 1 : i64
// CHOSEN:         tarpon.fused({{.*}} -> tensor<1x8x6x6xf16> {
// CHOSEN:         tarpon.fused({{.*}}tarpon.region = 2 : i64
// CHOSEN:         tarpon.fused({{.*}}tarpon.region = 3 : i64
// CHOSEN-NOT:     tarpon.precision
// CHOSEN-NOT:     tarpon.layout =

// CHECK-LABEL: func @network(
// CHECK:         tarpon.launch "convert_0"{{.*}} -> tensor<1x4x6x6x!quant.uniform<{{.*}}>, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.launch "conv1"{{.*}} -> tensor<1x8x6x6xf32, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.launch "conv2"{{.*}} -> tensor<1x8x6x6xf16, #tarpon.layout<nhwc>>
// CHECK-NEXT:    tarpon.launch "{{.*}}"{{.*}} -> tensor<1x8x6x6xf16>
// CHECK-NEXT:    tarpon.launch "conv3"{{.*}} -> tensor<1x8x6x6x!quant.uniform<{{.*}}>>
// CHECK-NEXT:    tarpon.launch "pool1"{{.*}} -> tensor<1x8x1x1xf32>
// CHECK-NEXT:    return
!x = tensor<1x4x6x6xf32>
!v = tensor<8x4x3x3xf32>
!w = tensor<8x8x1x1xf32>
!y = tensor<1x8x6x6xf32>
!p = tensor<1x8x1x1xf32>
func.func @network(%x: !x {tarpon.range = array<f32: -1.0, 1.0>}) -> !p {
  %v = tarpon.constant {value = dense<0.5> : !v} : !v
  %w = tarpon.constant {value = dense<0.5> : !w} : !w
  %0 = tarpon.fused(%a = %x, %b = %v) : (!x, !v) -> !y attributes {tarpon.precision = "int8", tarpon.layout = "nhwc", tarpon.region = 0 : i64, tarpon.range = array<f32: 0.0, 8.0>} {
    %4 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (!x, !v) -> !y loc("conv1")
    tarpon.yield %4 : !y
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!y, !w) -> !y attributes {tarpon.precision = "fp32", tarpon.layout = "nhwc", tarpon.region = 1 : i64, tarpon.range = array<f32: 0.0, 8.0>} {
    %4 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!y, !w) -> !y loc("conv2")
    tarpon.yield %4 : !y
  }
  %2 = tarpon.fused(%a = %1, %b = %w) : (!y, !w) -> !y attributes {tarpon.precision = "fp16", tarpon.layout = "nchw", tarpon.region = 2 : i64, tarpon.range = array<f32: 0.0, 8.0>} {
    %4 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!y, !w) -> !y loc("conv3")
    tarpon.yield %4 : !y
  }
  %3 = tarpon.fused(%a = %2) : (!y) -> !p attributes {tarpon.precision = "int8", tarpon.layout = "nchw", tarpon.region = 3 : i64} {
    %4 = tarpon.global_max_pool %a : (!y) -> !p loc("pool1")
    tarpon.yield %4 : !p
  }
  return %3 : !p
}
