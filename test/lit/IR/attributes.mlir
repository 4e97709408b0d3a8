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

// CHECK-LABEL: func private @configs()
// CHECK-SAME:    none = #tarpon.solution<"reference-v1", "", "default">
// CHECK-SAME:    sorted = #tarpon.solution<"igemm-v1", "a=-1,b=2", "measured">
func.func private @configs() attributes {
    none = #tarpon.solution<"reference-v1", "", "default">,
    sorted = #tarpon.solution<"igemm-v1", "b=2,a=-1", "measured">}

// Scales are those of 32 bits that the types have.
// CHECK-LABEL: func private @problems()
// CHECK-SAME:    axis = #tarpon.problem<"convert(2x8xf32:const)->2x8xi8q", {5.000000e-01, 2.500000e-01} along 0>
// CHECK-SAME:    exact = #tarpon.problem<"relu(8xu8q)->8xu8q", 0.123456784, 1.23456794E-5 : 3>
// CHECK-SAME:    not_a_number = #tarpon.problem<"pad(8xf32)->9xf32 {mode=0 pads=0,1 value=nan}">
// CHECK-SAME:    one_of_one = #tarpon.problem<"relu(1x8xi8q)->1x8xf32", {5.000000e-01} along 0>
// CHECK-SAME:    plain = #tarpon.problem<"conv(1x8x6x6xf32:nhwc, 4x8x1x1xf32:const; 1x4x6x6xf32:nhwc)->1x4x6x6xf32:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | add(2) | relu">
// CHECK-SAME:    results = #tarpon.problem<"layer_norm(2x8xu8q)->(2x8xu8q, 2x1xf32, 2x1xf32) {axis=1 epsilon=0.25}", 5.000000e-01 : 128, 2.500000e-01>
func.func private @problems() attributes {
    axis = #tarpon.problem<"convert(2x8xf32:const)->2x8xi8q", {0.5, 0.25} along 0>,
    exact = #tarpon.problem<"relu(8xu8q)->8xu8q", 0.12345678, 1.2345679e-5 : 3>,
    not_a_number = #tarpon.problem<"pad(8xf32)->9xf32 {mode=0 pads=0,1 value=nan}">,
    one_of_one = #tarpon.problem<"relu(1x8xi8q)->1x8xf32", {0.5} along 0>,
    plain = #tarpon.problem<"conv(1x8x6x6xf32:nhwc, 4x8x1x1xf32:const; 1x4x6x6xf32:nhwc)->1x4x6x6xf32:nhwc {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | add(2) | relu">,
    results = #tarpon.problem<"layer_norm(2x8xu8q)->(2x8xu8q, 2x1xf32, 2x1xf32) {axis=1 epsilon=0.25}", 0.5 : 128, 0.25>}

// CHECK-LABEL: func private @attributes()
// CHECK-SAME:    layout = #tarpon.layout<nchw>
// CHECK-SAME:    solution = #tarpon.solution<"igemm-v1", "tile_m=14,tile_n=32", "measured">
func.func private @attributes() attributes {
    layout = #tarpon.layout<nchw>,
    solution = #tarpon.solution<"igemm-v1", "tile_m=14,tile_n=32", "measured">}
