// RUN: graph-opt %s | graph-opt - | FileCheck %s
// RUN: graph-opt %s -mlir-print-op-generic | graph-opt - | FileCheck %s

// CHECK-LABEL: func private @layouts(
// CHECK-SAME:    tensor<1x3x8x8xf32, #tarpon.layout<nhwc>>
// CHECK-SAME:    tensor<1x3x8xf32, #tarpon.layout<nhwc>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nchw4c>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nchw8c>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nchw16c>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nchw32c>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nchw64c>>
// CHECK-SAME:    tensor<1x3x8x8xf16, #tarpon.layout<nhwc, pitch = 10>>
func.func private @layouts(
    tensor<1x3x8x8xf32, #tarpon.layout<nhwc>>,
    tensor<1x3x8xf32, #tarpon.layout<nhwc>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nchw4c>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nchw8c>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nchw16c>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nchw32c>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nchw64c>>,
    tensor<1x3x8x8xf16, #tarpon.layout<nhwc, pitch = 10>>)

// CHECK-LABEL: func private @attributes()
// CHECK-SAME:    layout = #tarpon.layout<nchw>
// CHECK-SAME:    solution = #tarpon.solution<"igemm-v1", {tile_m = 14 : i64, tile_n = 32 : i64}, "measured">
func.func private @attributes() attributes {
    layout = #tarpon.layout<nchw>,
    solution = #tarpon.solution<"igemm-v1", {tile_m = 14, tile_n = 32}, "measured">}
