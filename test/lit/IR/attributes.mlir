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
// CHECK-SAME:    per_channel = #tarpon.problem<"convert(3x8xf32:const)->3x8xi8q", {5.000000e-01, 3.000000e-01, 1.000000e-03} along 0>
// CHECK-SAME:    plain = #tarpon.problem<"relu(1x8xf32)->1x8xf32">
// CHECK-SAME:    quantised = #tarpon.problem<"add(1x8xu8q, 1x8xf32)->1x8xi8q | relu", {5.000000e-01} : 128, {1.000000e-01}>
// CHECK-SAME:    solution = #tarpon.solution<"igemm-v1", {tile_m = 14 : i64, tile_n = 32 : i64}, "measured">
func.func private @attributes() attributes {
    layout = #tarpon.layout<nchw>,
    plain = #tarpon.problem<"relu(1x8xf32)->1x8xf32">,
    quantised = #tarpon.problem<"add(1x8xu8q, 1x8xf32)->1x8xi8q | relu", {0.5} : 128, {0.1}>,
    per_channel = #tarpon.problem<"convert(3x8xf32:const)->3x8xi8q", {0.5, 0.3, 1.0e-3} along 0>,
    solution = #tarpon.solution<"igemm-v1", {tile_m = 14, tile_n = 32}, "measured">}
