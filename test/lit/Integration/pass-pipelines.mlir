// RUN: graph-opt %s -tarpon-simplify -tarpon-choose -tarpon-lower | FileCheck %s --check-prefix=ON
// RUN: graph-opt %s -tarpon-simplify -tarpon-choose=fusion=off -tarpon-lower | FileCheck %s --check-prefix=OFF
// RUN: graph-opt %s -tarpon-simplify -tarpon-choose='dtype=bf16 layout=nhwc' -tarpon-lower | FileCheck %s --check-prefix=BF16
// RUN: graph-opt %s -pass-pipeline='builtin.module(func.func(tarpon-simplify,tarpon-choose,tarpon-lower))' | FileCheck %s --check-prefix=ON

// Layers and their order: what each pass does is tested in ../Passes.

// ON-LABEL:   func @network({{.*}} attributes {tarpon.arena_bytes = {{[0-9]+}} : i64}
// ON-NOT:       tarpon.fused
// ON:           tarpon.launch "conv1"{{.*}} | add(2) | relu"
// ON-NEXT:      tarpon.launch "pool1"
// ON-NEXT:      tarpon.reshape
// ON-NEXT:      tarpon.launch "prob"{{.*}}offset = -1
// ON-NEXT:      return

// OFF-LABEL:  func @network(
// OFF:          tarpon.launch "conv1"
// OFF-NEXT:     tarpon.launch "bn1"
// OFF-NEXT:     tarpon.launch "relu1"
// OFF-NEXT:     tarpon.launch "pool1"
// OFF-NEXT:     tarpon.reshape
// OFF-NEXT:     tarpon.launch "prob"

// BF16-LABEL: func @network(
// BF16:         tarpon.launch "convert_0"{{.*}} -> tensor<1x4x6x6xbf16, #tarpon.layout<nhwc>>
// BF16-NEXT:    tarpon.launch "conv1"{{.*}} -> tensor<1x8x6x6xbf16, #tarpon.layout<nhwc>>
// BF16-NEXT:    tarpon.launch "pool1"{{.*}} -> tensor<1x8x1x1xbf16, #tarpon.layout<nhwc>>
// BF16-NEXT:    tarpon.reshape
// BF16-NEXT:    tarpon.launch "prob"{{.*}} -> tensor<1x8xf32>
func.func @network(%x: tensor<1x4x6x6xf32>) -> tensor<1x8xf32> {
  %w = tarpon.constant {value = dense<0.5> : tensor<8x4x3x3xf32>} : tensor<8x4x3x3xf32>
  %p = tarpon.constant {value = dense<2.0> : tensor<8xf32>} : tensor<8xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("conv1")
  %1 = tarpon.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0e-5 : f32} : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32> loc("bn1")
  %2 = tarpon.relu %1 : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> loc("relu1")
  %3 = tarpon.global_avg_pool %2 : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32> loc("pool1")
  %4 = tarpon.reshape %3 : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
  %5 = tarpon.softmax %4 {axis = 1 : i64} : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("prob")
  return %5 : tensor<1x8xf32>
}

// A declaration has nothing to compile.
// ON: func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
