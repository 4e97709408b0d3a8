// RUN: graph-opt %s -tarpon-raise-attention='target=x86-64-v3' | FileCheck %s
// RUN: graph-opt %s -tarpon-raise-attention='target=gfx942:cu=304' | FileCheck %s --check-prefix=FP32
// RUN: graph-opt %s -tarpon-raise-attention='target=sm_90a dtype=fp16' | FileCheck %s --check-prefix=HALF
// RUN: graph-opt %s -tarpon-raise-attention='target=gfx1100 dtype=bf16' | FileCheck %s --check-prefix=HALF

// On GPUs, the fused solver is one of f16 and bf16, and of channels in whole
// vectors.
// FP32-NOT: tarpon.attention
// HALF-LABEL: func @plain(
// HALF:         tarpon.attention
// HALF-LABEL: func @split_scale(
// HALF:         tarpon.attention
// HALF-LABEL: func @causal(
// HALF-NOT:     tarpon.attention
// HALF-LABEL: func @mask_of_heads(

// The scores are divided by a number, and the keys are transposed by a flag.

// CHECK-LABEL: func @plain(
// CHECK-SAME:    %[[Q:.+]]: tensor<1x2x48x16xf32>, %[[K:.+]]: tensor<1x2x40x16xf32>, %[[V:.+]]: tensor<1x2x40x8xf32>)
// CHECK-NEXT:    %[[A:.+]] = tarpon.attention %[[Q]], %[[K]], %[[V]] {scale = 2.500000e-01 : f64}
// CHECK-NEXT:    return %[[A]]
func.func @plain(%q: tensor<1x2x48x16xf32>, %k: tensor<1x2x40x16xf32>, %v: tensor<1x2x40x8xf32>) -> tensor<1x2x48x8xf32> {
  %c = tarpon.constant {value = dense<4.0> : tensor<f32>} : tensor<f32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x2x48x16xf32>, tensor<1x2x40x16xf32>) -> tensor<1x2x48x40xf32>
  %d = tarpon.div %s, %c : (tensor<1x2x48x40xf32>, tensor<f32>) -> tensor<1x2x48x40xf32>
  %p = tarpon.softmax %d {axis = 3 : i64} : (tensor<1x2x48x40xf32>) -> tensor<1x2x48x40xf32>
  %y = tarpon.matmul %p, %v : (tensor<1x2x48x40xf32>, tensor<1x2x40x8xf32>) -> tensor<1x2x48x8xf32>
  return %y : tensor<1x2x48x8xf32>
}

// Queries and keys are scaled, and the keys transposed together with the heads;
// a mask of the keys is added.

// CHECK-LABEL: func @split_scale(
// CHECK-SAME:    %[[Q:.+]]: tensor<1x2x48x16xf32>, %[[X:.+]]: tensor<1x40x2x16xf32>, %[[V:.+]]: tensor<1x2x40x8xf32>, %[[M:.+]]: tensor<1x1x1x40xf32>)
// CHECK-NEXT:    %[[H:.+]] = tarpon.reshape %[[X]]
// CHECK-NEXT:    %[[T:.+]] = tarpon.transpose %[[H]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT:    %[[K:.+]] = tarpon.reshape %[[T]] : {{.*}} -> tensor<1x2x40x16xf32>
// CHECK-NEXT:    tarpon.attention %[[Q]], %[[K]], %[[V]], %[[M]] {scale = 2.500000e-01 : f64}
// CHECK-NEXT:    return
func.func @split_scale(%q: tensor<1x2x48x16xf32>, %x: tensor<1x40x2x16xf32>, %v: tensor<1x2x40x8xf32>, %m: tensor<1x1x1x40xf32>) -> tensor<1x2x48x8xf32> {
  %c = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %0 = tarpon.mul %q, %c : (tensor<1x2x48x16xf32>, tensor<f32>) -> tensor<1x2x48x16xf32>
  %1 = tarpon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x40x2x16xf32>) -> tensor<1x2x16x40xf32>
  %2 = tarpon.mul %c, %1 : (tensor<f32>, tensor<1x2x16x40xf32>) -> tensor<1x2x16x40xf32>
  %s = tarpon.matmul %0, %2 : (tensor<1x2x48x16xf32>, tensor<1x2x16x40xf32>) -> tensor<1x2x48x40xf32>
  %d = tarpon.add %m, %s : (tensor<1x1x1x40xf32>, tensor<1x2x48x40xf32>) -> tensor<1x2x48x40xf32>
  %p = tarpon.softmax %d {axis = 3 : i64} : (tensor<1x2x48x40xf32>) -> tensor<1x2x48x40xf32>
  %y = tarpon.matmul %p, %v : (tensor<1x2x48x40xf32>, tensor<1x2x40x8xf32>) -> tensor<1x2x48x8xf32>
  return %y : tensor<1x2x48x8xf32>
}

// A constant mask that hides later keys, and a selection that never selects, as
// the importer writes the standard's Attention.

// CHECK-LABEL: func @causal(
// CHECK-NEXT:    tarpon.attention %{{.+}}, %{{.+}}, %{{.+}} {causal = true, scale = 1.000000e+00 : f64} : (tensor<1x20x4xf32>, tensor<1x21x4xf32>, tensor<1x21x4xf32>)
// CHECK-NEXT:    return
func.func @causal(%q: tensor<1x20x4xf32>, %k: tensor<1x21x4xf32>) -> tensor<1x20x4xf32> {
  %zero = tarpon.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %never = tarpon.constant {value = dense<false> : tensor<20x1xi1>} : tensor<20x1xi1>
  %m = tarpon.constant {value = dense<[[0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<20x21xf32>} : tensor<20x21xf32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x20x4xf32>, tensor<1x21x4xf32>) -> tensor<1x20x21xf32>
  %d = tarpon.add %s, %m : (tensor<1x20x21xf32>, tensor<20x21xf32>) -> tensor<1x20x21xf32>
  %p = tarpon.softmax %d {axis = 2 : i64} : (tensor<1x20x21xf32>) -> tensor<1x20x21xf32>
  %w = tarpon.where %never, %zero, %p : (tensor<20x1xi1>, tensor<f32>, tensor<1x20x21xf32>) -> tensor<1x20x21xf32>
  %y = tarpon.matmul %w, %k : (tensor<1x20x21xf32>, tensor<1x21x4xf32>) -> tensor<1x20x4xf32>
  return %y : tensor<1x20x4xf32>
}

// A triangle over heads hides keys of whole heads, and stays a mask.

// CHECK-LABEL: func @mask_of_heads(
// CHECK:         tarpon.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {scale = 1.000000e+00 : f64}
func.func @mask_of_heads(%q: tensor<20x20x4xf32>, %k: tensor<20x20x4xf32>) -> tensor<20x20x4xf32> {
  %m = tarpon.constant {value = dense<[[[0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<20x1x20xf32>} : tensor<20x1x20xf32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<20x20x4xf32>, tensor<20x20x4xf32>) -> tensor<20x20x20xf32>
  %d = tarpon.add %s, %m : (tensor<20x20x20xf32>, tensor<20x1x20xf32>) -> tensor<20x20x20xf32>
  %p = tarpon.softmax %d {axis = 2 : i64} : (tensor<20x20x20xf32>) -> tensor<20x20x20xf32>
  %y = tarpon.matmul %p, %k : (tensor<20x20x20xf32>, tensor<20x20x4xf32>) -> tensor<20x20x4xf32>
  return %y : tensor<20x20x4xf32>
}

// Left alone: probabilities that something else reads, another axis, factors
// that are no numbers, values that are transposed, batches that are broadcast,
// few queries, f64.

// CHECK-LABEL: func @used_twice(
// CHECK-NOT:     tarpon.attention
func.func @used_twice(%q: tensor<1x48x16xf32>) -> (tensor<1x48x16xf32>, tensor<1x48x48xf32>) {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %p, %q : (tensor<1x48x48xf32>, tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
  return %y, %p : tensor<1x48x16xf32>, tensor<1x48x48xf32>
}

// CHECK-LABEL: func @scores_leave(
// CHECK-NOT:     tarpon.attention
func.func @scores_leave(%q: tensor<1x48x16xf32>) -> (tensor<1x48x16xf32>, tensor<1x48x48xf32>) {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %p, %q : (tensor<1x48x48xf32>, tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
  return %y, %s : tensor<1x48x16xf32>, tensor<1x48x48xf32>
}

// CHECK-LABEL: func @other_axis(
// CHECK-NOT:     tarpon.attention
func.func @other_axis(%q: tensor<1x48x16xf32>) -> tensor<1x48x16xf32> {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %s {axis = 1 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %p, %q : (tensor<1x48x48xf32>, tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
  return %y : tensor<1x48x16xf32>
}

// CHECK-LABEL: func @factors(
// CHECK-NOT:     tarpon.attention
func.func @factors(%q: tensor<1x48x16xf32>, %c: tensor<f32>) -> tensor<1x48x16xf32> {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %d = tarpon.mul %s, %c : (tensor<1x48x48xf32>, tensor<f32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %d {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %p, %q : (tensor<1x48x48xf32>, tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
  return %y : tensor<1x48x16xf32>
}

// CHECK-LABEL: func @turned_values(
// CHECK-NOT:     tarpon.attention
func.func @turned_values(%q: tensor<1x48x16xf32>, %v: tensor<1x16x48xf32>) -> tensor<1x48x16xf32> {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %p, %v {transpose_rhs = true} : (tensor<1x48x48xf32>, tensor<1x16x48xf32>) -> tensor<1x48x16xf32>
  return %y : tensor<1x48x16xf32>
}

// CHECK-LABEL: func @shared_keys(
// CHECK-NOT:     tarpon.attention
func.func @shared_keys(%q: tensor<2x48x16xf32>, %k: tensor<1x48x16xf32>) -> tensor<2x48x16xf32> {
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<2x48x16xf32>, tensor<1x48x16xf32>) -> tensor<2x48x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<2x48x48xf32>) -> tensor<2x48x48xf32>
  %y = tarpon.matmul %p, %k : (tensor<2x48x48xf32>, tensor<1x48x16xf32>) -> tensor<2x48x16xf32>
  return %y : tensor<2x48x16xf32>
}

// CHECK-LABEL: func @few_queries(
// CHECK-NOT:     tarpon.attention
func.func @few_queries(%q: tensor<1x1x16xf32>, %k: tensor<1x48x16xf32>) -> tensor<1x1x16xf32> {
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x1x16xf32>, tensor<1x48x16xf32>) -> tensor<1x1x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x1x48xf32>) -> tensor<1x1x48xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x1x48xf32>, tensor<1x48x16xf32>) -> tensor<1x1x16xf32>
  return %y : tensor<1x1x16xf32>
}

// CHECK-LABEL: func @doubles(
// CHECK-NOT:     tarpon.attention
func.func @doubles(%q: tensor<1x48x16xf64>) -> tensor<1x48x16xf64> {
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf64>, tensor<1x48x16xf64>) -> tensor<1x48x48xf64>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x48x48xf64>) -> tensor<1x48x48xf64>
  %y = tarpon.matmul %p, %q : (tensor<1x48x48xf64>, tensor<1x48x16xf64>) -> tensor<1x48x16xf64>
  return %y : tensor<1x48x16xf64>
}

// CHECK-LABEL: func @selects_a_softmax(
// CHECK-NOT:     tarpon.attention
// CHECK:         return
func.func @selects_a_softmax(%q: tensor<1x48x16xf32>) -> tensor<1x48x16xf32> {
  %never = tarpon.constant {value = dense<false> : tensor<48x1xi1>} : tensor<48x1xi1>
  %s = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %p = tarpon.softmax %s {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %t = tarpon.matmul %q, %q {transpose_rhs = true} : (tensor<1x48x16xf32>, tensor<1x48x16xf32>) -> tensor<1x48x48xf32>
  %o = tarpon.softmax %t {axis = 2 : i64} : (tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %w = tarpon.where %never, %o, %p : (tensor<48x1xi1>, tensor<1x48x48xf32>, tensor<1x48x48xf32>) -> tensor<1x48x48xf32>
  %y = tarpon.matmul %w, %q : (tensor<1x48x48xf32>, tensor<1x48x16xf32>) -> tensor<1x48x16xf32>
  return %y : tensor<1x48x16xf32>
}

// Scores are replaced by the least float, as GPT-2 hides later tokens.

// CHECK-LABEL: func @selects_causal(
// CHECK-NEXT:    tarpon.attention %{{.+}}, %{{.+}}, %{{.+}} {causal = true, scale = 1.000000e+00 : f64} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>, tensor<1x17x8xf32>)
// CHECK-NEXT:    return
func.func @selects_causal(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>) -> tensor<1x17x8xf32> {
  %least = tarpon.constant {value = dense<0xFF7FFFFF> : tensor<f32>} : tensor<f32>
  %seen = tarpon.constant {value = dense<[[[true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]]]> : tensor<1x17x17xi1>} : tensor<1x17x17xi1>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %m = tarpon.where %seen, %s, %least : (tensor<1x17x17xi1>, tensor<1x17x17xf32>, tensor<f32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %m {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}

// A constant condition of keys becomes numbers that are added.

// CHECK-LABEL: func @selects_keys(
// CHECK-NEXT:    %[[M:.+]] = tarpon.constant {value = dense<{{.*}}0.000000e+00, -3.40282347E+38{{.*}}> : tensor<17xf32>}
// CHECK-NEXT:    tarpon.attention %{{.+}}, %{{.+}}, %{{.+}}, %[[M]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT:    return
func.func @selects_keys(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>) -> tensor<1x17x8xf32> {
  %least = tarpon.constant {value = dense<0xFF7FFFFF> : tensor<f32>} : tensor<f32>
  %hidden = tarpon.constant {value = dense<[false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true]> : tensor<17xi1>} : tensor<17xi1>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %m = tarpon.where %hidden, %least, %s : (tensor<17xi1>, tensor<f32>, tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %m {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}

// A condition that is known at run time only selects numbers that are added.

// CHECK-LABEL: func @selects_at_run_time(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<1x1x17xi1>)
// CHECK-DAG:     %[[ZERO:.+]] = tarpon.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-DAG:     %[[LEAST:.+]] = tarpon.constant {value = dense<-3.40282347E+38> : tensor<f32>}
// CHECK:         %[[M:.+]] = tarpon.where %[[C]], %[[ZERO]], %[[LEAST]] : (tensor<1x1x17xi1>, tensor<f32>, tensor<f32>) -> tensor<1x1x17xf32>
// CHECK-NEXT:    tarpon.attention %{{.+}}, %{{.+}}, %{{.+}}, %[[M]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT:    return
func.func @selects_at_run_time(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>, %c: tensor<1x1x17xi1>) -> tensor<1x17x8xf32> {
  %least = tarpon.constant {value = dense<0xFF7FFFFF> : tensor<f32>} : tensor<f32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %m = tarpon.where %c, %s, %least : (tensor<1x1x17xi1>, tensor<1x17x17xf32>, tensor<f32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %m {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}

// A number that hides nothing is a score like others.

// CHECK-LABEL: func @selects_a_score(
// CHECK-NOT:     tarpon.attention
// CHECK:         return
func.func @selects_a_score(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>, %c: tensor<1x1x17xi1>) -> tensor<1x17x8xf32> {
  %low = tarpon.constant {value = dense<-100.0> : tensor<f32>} : tensor<f32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %m = tarpon.where %c, %s, %low : (tensor<1x1x17xi1>, tensor<1x17x17xf32>, tensor<f32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %m {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}

// PyTorch's exporter transposes keys of three dimensions. They are read where
// they lie.

// CHECK-LABEL: func @reshaped_keys(
// CHECK-SAME:    %[[Q:.+]]: tensor<1x2x48x16xf32>, %[[K:.+]]: tensor<1x2x40x16xf32>)
// CHECK-NEXT:    tarpon.attention %[[Q]], %[[K]], %[[K]] {scale = 5.000000e-01 : f64}
// CHECK-NEXT:    return
func.func @reshaped_keys(%q: tensor<1x2x48x16xf32>, %k: tensor<1x2x40x16xf32>) -> tensor<1x2x48x16xf32> {
  %c = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %r = tarpon.reshape %k : (tensor<1x2x40x16xf32>) -> tensor<2x40x16xf32>
  %t = tarpon.transpose %r {permutation = array<i64: 0, 2, 1>} : (tensor<2x40x16xf32>) -> tensor<2x16x40xf32>
  %u = tarpon.reshape %t : (tensor<2x16x40xf32>) -> tensor<1x2x16x40xf32>
  %d = tarpon.mul %u, %c : (tensor<1x2x16x40xf32>, tensor<f32>) -> tensor<1x2x16x40xf32>
  %s = tarpon.matmul %q, %d : (tensor<1x2x48x16xf32>, tensor<1x2x16x40xf32>) -> tensor<1x2x48x40xf32>
  %p = tarpon.softmax %s {axis = 3 : i64} : (tensor<1x2x48x40xf32>) -> tensor<1x2x48x40xf32>
  %y = tarpon.matmul %p, %k : (tensor<1x2x48x40xf32>, tensor<1x2x40x16xf32>) -> tensor<1x2x48x16xf32>
  return %y : tensor<1x2x48x16xf32>
}

// It also writes zeros for weights that are NaN, which they never are without a
// mask; a mask of zeros hides nothing.

// CHECK-LABEL: func @guarded(
// CHECK-NEXT:    tarpon.attention %{{.+}}, %{{.+}}, %{{.+}} {scale = 1.000000e+00 : f64}
// CHECK-NEXT:    return
func.func @guarded(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>) -> tensor<1x17x8xf32> {
  %zero = tarpon.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %m = tarpon.constant {value = dense<0.0> : tensor<17x17xf32>} : tensor<17x17xf32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %a = tarpon.add %s, %m : (tensor<1x17x17xf32>, tensor<17x17xf32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %a {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %e = tarpon.equal %p, %p : (tensor<1x17x17xf32>, tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %n = tarpon.equal %e, %zero : (tensor<1x17x17xf32>, tensor<f32>) -> tensor<1x17x17xf32>
  %b = tarpon.convert %n : tensor<1x17x17xf32> -> tensor<1x17x17xi1>
  %w = tarpon.where %b, %zero, %p : (tensor<1x17x17xi1>, tensor<f32>, tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %w, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}

// A mask that is known at run time may hide a whole row by infinities.

// CHECK-LABEL: func @guarded_masks(
// CHECK-NOT:     tarpon.attention
// CHECK:         return
func.func @guarded_masks(%q: tensor<1x17x8xf32>, %k: tensor<1x17x8xf32>, %m: tensor<17x17xf32>) -> tensor<1x17x8xf32> {
  %zero = tarpon.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %s = tarpon.matmul %q, %k {transpose_rhs = true} : (tensor<1x17x8xf32>, tensor<1x17x8xf32>) -> tensor<1x17x17xf32>
  %a = tarpon.add %s, %m : (tensor<1x17x17xf32>, tensor<17x17xf32>) -> tensor<1x17x17xf32>
  %p = tarpon.softmax %a {axis = 2 : i64} : (tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %e = tarpon.equal %p, %p : (tensor<1x17x17xf32>, tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %n = tarpon.equal %e, %zero : (tensor<1x17x17xf32>, tensor<f32>) -> tensor<1x17x17xf32>
  %b = tarpon.convert %n : tensor<1x17x17xf32> -> tensor<1x17x17xi1>
  %w = tarpon.where %b, %zero, %p : (tensor<1x17x17xi1>, tensor<f32>, tensor<1x17x17xf32>) -> tensor<1x17x17xf32>
  %y = tarpon.matmul %w, %k : (tensor<1x17x17xf32>, tensor<1x17x8xf32>) -> tensor<1x17x8xf32>
  return %y : tensor<1x17x8xf32>
}
