// The module says what it is for: every pass runs from the file alone.
// RUN: sed 's/TARGET/"gfx942:cu=228"/' %s | graph-opt -tarpon-choose='dtype=fp16 layout=nhwc' -tarpon-lower | FileCheck %s --check-prefix=GPU
// RUN: sed 's/TARGET/"cascadelake", {threads = 2}/' %s | graph-opt -tarpon-choose='dtype=fp16 layout=nhwc' -tarpon-lower | FileCheck %s --check-prefix=CPU
// RUN: sed 's/TARGET/"x86-64-v3", {threads = 2}/' %s | graph-opt -tarpon-choose -tarpon-lower | FileCheck %s --check-prefix=CPU

// An option of a pass or of a pipeline takes its place.
// RUN: sed 's/TARGET/"x86-64-v3"/' %s | graph-opt -tarpon-choose='dtype=fp16 layout=nhwc target=gfx1100' -tarpon-lower='target=gfx1100' | FileCheck %s --check-prefix=GPU
// RUN: sed 's/TARGET/"gfx942"/' %s | graph-opt -tarpon-fuse -tarpon-select-solutions='target=x86-64-v3 threads=2' -tarpon-lower-to-launches='target=x86-64-v3' | FileCheck %s --check-prefix=CPU

// RUN: sed 's/TARGET/"gfx942"/' %s | not graph-opt -tarpon-fuse -tarpon-select-solutions=target=vax 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown target 'vax', expected host, gfx90a

// A solution for one target is none for another.
// RUN: sed 's/TARGET/"gfx942"/' %s | not graph-opt -tarpon-fuse -tarpon-select-solutions -tarpon-lower-to-launches=target=x86-64-v3 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expects the id of a solver, got "gpu-

// GPU:     tarpon.launch "conv1"{{.*}}#tarpon.solution<"gpu-igemm-v1"
// GPU-NOT: tarpon.launch {{.*}}#tarpon.solution<"{{(conv|gemm|elementwise|softmax)}}-
// CPU:     tarpon.launch "conv1"{{.*}}#tarpon.solution<"conv-
// CPU-NOT: #tarpon.solution<"gpu-
module attributes {tarpon.target = #tarpon.target<TARGET>} {
  func.func @network(%x: tensor<1x16x6x6xf32>) -> tensor<1x32x6x6xf32> {
    %w = tarpon.constant {value = dense<0.5> : tensor<32x16x3x3xf32>} : tensor<32x16x3x3xf32>
    %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x6x6xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x6x6xf32> loc("conv1")
    %1 = tarpon.relu %0 : (tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
    return %1 : tensor<1x32x6x6xf32>
  }
}
