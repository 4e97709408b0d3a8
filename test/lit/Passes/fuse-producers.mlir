// RUN: graph-opt %s -tarpon-fuse-producers='target=sm_90a' | FileCheck %s
// RUN: graph-opt %s -tarpon-fuse-producers='target=gfx942' | FileCheck %s
// RUN: graph-opt %s -tarpon-fuse-producers='target=x86-64-v3' | FileCheck %s --check-prefix=HOST
// RUN: graph-opt %s -tarpon-fuse-producers='target=sm_90a' -tarpon-select-solutions='target=sm_90a' | FileCheck %s --check-prefix=SOLVED

// No solver of the host takes two operations.
// HOST-COUNT-14: tarpon.fused
// HOST-NOT:      tarpon.fused

// A depthwise convolution moves into the 1x1 convolution that reads it. The
// operands are those of the first, then those of the second.

// CHECK-LABEL: func @depthwise(
// CHECK-SAME:    %[[X:.+]]: tensor<1x32x112x112xf16, {{.*}}>, %[[R:.+]]: tensor
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[X]], %[[W:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}, %[[V:.+]] = %{{.+}}, %[[S:.+]] = %[[R]]) :
// CHECK-NEXT:      %[[C:.+]] = tarpon.conv %[[A]], %[[W]]
// CHECK-NEXT:      %[[D:.+]] = tarpon.add %[[C]], %[[B]]
// CHECK-NEXT:      %[[E:.+]] = tarpon.relu %[[D]]
// CHECK-NEXT:      %[[H:.+]] = tarpon.convert %[[E]] : {{.*}} -> tensor<1x32x112x112xf16,
// CHECK:           %[[P:.+]] = tarpon.conv %[[H]], %[[V]]
// CHECK:           tarpon.yield
// CHECK-NOT:     tarpon.fused
// CHECK:         return %[[F]]
// SOLVED-LABEL: func @depthwise(
// SOLVED:         tarpon.fused{{.*}}#tarpon.problem<"conv(1x32x112x112xf16:nhwc, 32x1x3x3xf16:const; 1x32x1x1xf32:const, 24x32x1x1xf16:const, 1x24x112x112xf16:nhwc)->1x24x112x112xf16:nhwc {dilations=1,1 group=32 pads=1,1,1,1 strides=1,1} | add(2) | relu | conv(3){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | add(4)">, solution = #tarpon.solution<"gpu-fused-conv-v1"
#nhwc = #tarpon.layout<nhwc>
func.func @depthwise(%x: tensor<1x32x112x112xf16, #nhwc>, %r: tensor<1x24x112x112xf16, #nhwc>) -> tensor<1x24x112x112xf16, #nhwc> {
  %w = tarpon.constant {value = dense<0.5> : tensor<32x1x3x3xf16>} : tensor<32x1x3x3xf16>
  %b = tarpon.constant {value = dense<0.25> : tensor<1x32x1x1xf32>} : tensor<1x32x1x1xf32>
  %v = tarpon.constant {value = dense<0.5> : tensor<24x32x1x1xf16>} : tensor<24x32x1x1xf16>
  %0 = tarpon.fused(%a0 = %x, %a1 = %w, %a2 = %b) : (tensor<1x32x112x112xf16, #nhwc>, tensor<32x1x3x3xf16>, tensor<1x32x1x1xf32>) -> tensor<1x32x112x112xf16, #nhwc> {
    %1 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 32 : i64} : (tensor<1x32x112x112xf16, #nhwc>, tensor<32x1x3x3xf16>) -> tensor<1x32x112x112xf32, #nhwc>
    %2 = tarpon.add %1, %a2 : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32>) -> tensor<1x32x112x112xf32, #nhwc>
    %3 = tarpon.relu %2 : (tensor<1x32x112x112xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    %4 = tarpon.convert %3 : tensor<1x32x112x112xf32, #nhwc> -> tensor<1x32x112x112xf16, #nhwc>
    tarpon.yield %4 : tensor<1x32x112x112xf16, #nhwc>
  }
  %5 = tarpon.fused(%a0 = %0, %a1 = %v, %a2 = %r) : (tensor<1x32x112x112xf16, #nhwc>, tensor<24x32x1x1xf16>, tensor<1x24x112x112xf16, #nhwc>) -> tensor<1x24x112x112xf16, #nhwc> {
    %6 = tarpon.convert %a2 : tensor<1x24x112x112xf16, #nhwc> -> tensor<1x24x112x112xf32, #nhwc>
    %7 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf16, #nhwc>, tensor<24x32x1x1xf16>) -> tensor<1x24x112x112xf32, #nhwc>
    %8 = tarpon.add %7, %6 : (tensor<1x24x112x112xf32, #nhwc>, tensor<1x24x112x112xf32, #nhwc>) -> tensor<1x24x112x112xf32, #nhwc>
    %9 = tarpon.convert %8 : tensor<1x24x112x112xf32, #nhwc> -> tensor<1x24x112x112xf16, #nhwc>
    tarpon.yield %9 : tensor<1x24x112x112xf16, #nhwc>
  }
  return %5 : tensor<1x24x112x112xf16, #nhwc>
}

// The scaling of squeeze-and-excitation is elementwise.

// CHECK-LABEL: func @scale(
// CHECK:         tarpon.fused(
// CHECK:           tarpon.mul
// CHECK:           tarpon.conv
// CHECK-NOT:     tarpon.fused
// CHECK:         return
func.func @scale(%x: tensor<1x32x112x112xf32, #nhwc>, %s: tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x24x112x112xf32, #nhwc> {
  %v = tarpon.constant {value = dense<0.5> : tensor<24x32x1x1xf32>} : tensor<24x32x1x1xf32>
  %0 = tarpon.fused(%a0 = %x, %a1 = %s) : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc> {
    %1 = tarpon.mul %a0, %a1 : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %1 : tensor<1x32x112x112xf32, #nhwc>
  }
  %2 = tarpon.fused(%a0 = %0, %a1 = %v) : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc> {
    %3 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc>
    tarpon.yield %3 : tensor<1x24x112x112xf32, #nhwc>
  }
  return %2 : tensor<1x24x112x112xf32, #nhwc>
}

// A value that something else reads is stored in any case.

// CHECK-LABEL: func @two_readers(
// CHECK-COUNT-3: tarpon.fused
func.func @two_readers(%x: tensor<1x32x112x112xf32, #nhwc>, %s: tensor<1x32x1x1xf32, #nhwc>) -> (tensor<1x24x112x112xf32, #nhwc>, tensor<1x32x112x112xf32, #nhwc>) {
  %v = tarpon.constant {value = dense<0.5> : tensor<24x32x1x1xf32>} : tensor<24x32x1x1xf32>
  %0 = tarpon.fused(%a0 = %x, %a1 = %s) : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc> {
    %1 = tarpon.mul %a0, %a1 : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %1 : tensor<1x32x112x112xf32, #nhwc>
  }
  %2 = tarpon.fused(%a0 = %0, %a1 = %v) : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc> {
    %3 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc>
    tarpon.yield %3 : tensor<1x24x112x112xf32, #nhwc>
  }
  %4 = tarpon.fused(%a0 = %0) : (tensor<1x32x112x112xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc> {
    %5 = tarpon.relu %a0 : (tensor<1x32x112x112xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %5 : tensor<1x32x112x112xf32, #nhwc>
  }
  return %2, %4 : tensor<1x24x112x112xf32, #nhwc>, tensor<1x32x112x112xf32, #nhwc>
}

// The engine computes 1x1 convolutions of producers: for others, two launches
// are left.

// CHECK-LABEL: func @window(
// CHECK-COUNT-2: tarpon.fused
func.func @window(%x: tensor<1x32x112x112xf32, #nhwc>, %s: tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x24x112x112xf32, #nhwc> {
  %v = tarpon.constant {value = dense<0.5> : tensor<24x32x3x3xf32>} : tensor<24x32x3x3xf32>
  %0 = tarpon.fused(%a0 = %x, %a1 = %s) : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc> {
    %1 = tarpon.mul %a0, %a1 : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %1 : tensor<1x32x112x112xf32, #nhwc>
  }
  %2 = tarpon.fused(%a0 = %0, %a1 = %v) : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x3x3xf32>) -> tensor<1x24x112x112xf32, #nhwc> {
    %3 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x3x3xf32>) -> tensor<1x24x112x112xf32, #nhwc>
    tarpon.yield %3 : tensor<1x24x112x112xf32, #nhwc>
  }
  return %2 : tensor<1x24x112x112xf32, #nhwc>
}

// Three operations make two launches.

// CHECK-LABEL: func @three(
// CHECK-COUNT-2: tarpon.fused
// CHECK-NOT:     tarpon.fused
// CHECK:         return
func.func @three(%x: tensor<1x32x112x112xf32, #nhwc>, %s: tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x24x112x112xf32, #nhwc> {
  %v = tarpon.constant {value = dense<0.5> : tensor<32x32x1x1xf32>} : tensor<32x32x1x1xf32>
  %u = tarpon.constant {value = dense<0.5> : tensor<24x32x1x1xf32>} : tensor<24x32x1x1xf32>
  %0 = tarpon.fused(%a0 = %x, %a1 = %s) : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc> {
    %1 = tarpon.mul %a0, %a1 : (tensor<1x32x112x112xf32, #nhwc>, tensor<1x32x1x1xf32, #nhwc>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %1 : tensor<1x32x112x112xf32, #nhwc>
  }
  %2 = tarpon.fused(%a0 = %0, %a1 = %v) : (tensor<1x32x112x112xf32, #nhwc>, tensor<32x32x1x1xf32>) -> tensor<1x32x112x112xf32, #nhwc> {
    %3 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32, #nhwc>, tensor<32x32x1x1xf32>) -> tensor<1x32x112x112xf32, #nhwc>
    tarpon.yield %3 : tensor<1x32x112x112xf32, #nhwc>
  }
  %4 = tarpon.fused(%a0 = %2, %a1 = %u) : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc> {
    %5 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x112x112xf32, #nhwc>, tensor<24x32x1x1xf32>) -> tensor<1x24x112x112xf32, #nhwc>
    tarpon.yield %5 : tensor<1x24x112x112xf32, #nhwc>
  }
  return %4 : tensor<1x24x112x112xf32, #nhwc>
}

// The reference takes fewer launches than a convolution in several steps, and
// is never worth it.

// CHECK-LABEL: func @several_steps(
// CHECK-COUNT-2: tarpon.fused
// CHECK-NOT:     tarpon.fused
// CHECK:         return
func.func @several_steps(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %v = tarpon.constant {value = dense<0.5> : tensor<64x64x1x1xf32>} : tensor<64x64x1x1xf32>
  %u = tarpon.constant {value = dense<0.5> : tensor<64x64x3x3xf32>} : tensor<64x64x3x3xf32>
  %0 = tarpon.fused(%a0 = %x, %a1 = %v) : (tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x28x28xf32> {
    %1 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x28x28xf32>
    tarpon.yield %1 : tensor<1x64x28x28xf32>
  }
  %2 = tarpon.fused(%a0 = %0, %a1 = %u) : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32> {
    %3 = tarpon.conv %a0, %a1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
    tarpon.yield %3 : tensor<1x64x28x28xf32>
  }
  return %2 : tensor<1x64x28x28xf32>
}
