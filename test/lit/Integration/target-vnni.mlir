// The default tile of int8 is another one where the CPU has VNNI, which nothing
// but the module says here.
// RUN: sed 's/TARGET/"cascadelake", {threads = 2}/' %s | graph-opt -tarpon-choose='dtype=int8 layout=nhwc' -tarpon-lower | FileCheck %s --check-prefix=VNNI
// RUN: sed 's/TARGET/"skylake-avx512", {threads = 2}/' %s | graph-opt -tarpon-choose='dtype=int8 layout=nhwc' -tarpon-lower | FileCheck %s --check-prefix=NONE
// VNNI: tarpon.launch "conv1"{{.*}}#tarpon.solution<"conv-igemm-v1", "{{.*}}tile_n=64
// NONE: tarpon.launch "conv1"{{.*}}#tarpon.solution<"conv-igemm-v1", "{{.*}}tile_n=32
module attributes {tarpon.target = #tarpon.target<TARGET>} {
  func.func @network(%x: tensor<1x64x6x6xf32> {tarpon.range = array<f32: -1.0, 1.0>}) -> tensor<1x64x6x6xf32> {
    %w = tarpon.constant {value = dense<0.5> : tensor<64x64x1x1xf32>} : tensor<64x64x1x1xf32>
    %0 = tarpon.fused(%a = %x, %b = %w) : (tensor<1x64x6x6xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x6x6xf32> attributes {tarpon.range = array<f32: 0.0, 8.0>} {
      %4 = tarpon.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x6x6xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x6x6xf32> loc("conv1")
      %5 = tarpon.relu %4 : (tensor<1x64x6x6xf32>) -> tensor<1x64x6x6xf32>
      tarpon.yield %5 : tensor<1x64x6x6xf32>
    }
    return %0 : tensor<1x64x6x6xf32>
  }
}
