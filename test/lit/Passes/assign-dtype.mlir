// RUN: graph-opt %s -tarpon-assign-dtype=dtype=fp16 -split-input-file | FileCheck %s --check-prefixes=CHECK,FP16 -DT=f16
// RUN: graph-opt %s -tarpon-assign-dtype=dtype=bf16 -split-input-file | FileCheck %s -DT=bf16

// fp32 changes nothing.
// RUN: graph-opt %s -split-input-file > %t.before
// RUN: graph-opt %s -tarpon-assign-dtype -split-input-file > %t.after
// RUN: diff %t.before %t.after

// Filters are stored in low precision, the bias is not. The residual, which is
// the first region's result, is widened before the root.

// CHECK-LABEL: func @accumulates_in_f32(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<4x2xf32>
// CHECK-DAG:     %[[XL:.+]] = tarpon.convert %[[X]] : tensor<4x2xf32> -> tensor<4x2x[[T]]>
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {value = dense<{{.*}}> : tensor<2x2x[[T]]>}
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {value = dense<{{.*}}> : tensor<2xf32>}
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[XL]], %[[AW:.+]] = %[[W]], %[[AB:.+]] = %[[B]])
// CHECK-NEXT:      %[[M:.+]] = tarpon.matmul %[[A]], %[[AW]] : (tensor<4x2x[[T]]>, tensor<2x2x[[T]]>) -> tensor<4x2xf32>
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[AB]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:      %[[L:.+]] = tarpon.convert %[[S]] : tensor<4x2xf32> -> tensor<4x2x[[T]]>
// CHECK-NEXT:      tarpon.yield %[[L]]
// CHECK:         %[[G:.+]] = tarpon.fused(%[[A:.+]] = %[[F]], %[[AW:.+]] = %[[W]], %[[AR:.+]] = %[[F]])
// CHECK-SAME:        -> tensor<4x2xf32>
// CHECK-NEXT:      %[[R:.+]] = tarpon.convert %[[AR]] : tensor<4x2x[[T]]> -> tensor<4x2xf32>
// CHECK-NEXT:      %[[M:.+]] = tarpon.matmul %[[A]], %[[AW]]
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[R]]
// CHECK-NEXT:      tarpon.yield %[[S]]
// CHECK:         return %[[G]]
func.func @accumulates_in_f32(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = tarpon.constant {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : tensor<2x2xf32>
  %b = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %ab = %b) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> {
    %2 = tarpon.matmul %a, %aw : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = tarpon.add %2, %ab : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    tarpon.yield %3 : tensor<4x2xf32>
  }
  %1 = tarpon.fused(%a = %0, %aw = %w, %ar = %0) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> {
    %2 = tarpon.matmul %a, %aw : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = tarpon.add %2, %ar : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    tarpon.yield %3 : tensor<4x2xf32>
  }
  return %1 : tensor<4x2xf32>
}

// -----

// Elementwise ops and norms compute in f32; pooling selects what is stored.

// CHECK-LABEL: func @computes_between_converts(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x2x4x4xf32>
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[X]])
// CHECK-NEXT:      %[[S:.+]] = tarpon.sigmoid %[[A]]
// CHECK-NEXT:      %[[L:.+]] = tarpon.convert %[[S]] : tensor<1x2x4x4xf32> -> tensor<1x2x4x4x[[T]]>
// CHECK-NEXT:      tarpon.yield %[[L]]
// CHECK:         %[[P:.+]] = tarpon.fused(%[[A:.+]] = %[[F]])
// CHECK-NEXT:      %[[S:.+]] = tarpon.global_max_pool %[[A]] : (tensor<1x2x4x4x[[T]]>) -> tensor<1x2x1x1x[[T]]>
// CHECK-NEXT:      tarpon.yield %[[S]]
// CHECK:         %[[V:.+]] = tarpon.reshape %[[P]] : (tensor<1x2x1x1x[[T]]>) -> tensor<1x2x[[T]]>
// CHECK:         tarpon.fused(%[[A:.+]] = %[[V]])
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert %[[A]] : tensor<1x2x[[T]]> -> tensor<1x2xf32>
// CHECK-NEXT:      %[[S:.+]] = tarpon.softmax %[[C]]
// CHECK-NEXT:      tarpon.yield %[[S]]
func.func @computes_between_converts(%x: tensor<1x2x4x4xf32>) -> tensor<1x2xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
    %4 = tarpon.sigmoid %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    tarpon.yield %4 : tensor<1x2x4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
    %4 = tarpon.global_max_pool %a : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
    tarpon.yield %4 : tensor<1x2x1x1xf32>
  }
  %2 = tarpon.reshape %1 : (tensor<1x2x1x1xf32>) -> tensor<1x2xf32>
  %3 = tarpon.fused(%a = %2) : (tensor<1x2xf32>) -> tensor<1x2xf32> {
    %4 = tarpon.softmax %a {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    tarpon.yield %4 : tensor<1x2xf32>
  }
  return %3 : tensor<1x2xf32>
}

// -----

// A result that leaves, also through a reshape, is not rounded; who else reads
// it in low precision gets a convert.

// CHECK-LABEL: func @keeps_results(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<4xf32>
// CHECK:         %[[V:.+]] = tarpon.reshape %[[F]] : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK:         %[[C:.+]] = tarpon.convert %[[V]] : tensor<2x2xf32> -> tensor<2x2x[[T]]>
// CHECK:         %[[M:.+]] = tarpon.fused({{.*}} = %[[C]], {{.*}} = %[[C]]) {{.*}} -> tensor<2x2xf32>
// CHECK:         return %[[V]], %[[M]]
func.func @keeps_results(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %3 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %3 : tensor<4xf32>
  }
  %1 = tarpon.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = tarpon.fused(%a = %1, %b = %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
    %3 = tarpon.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tarpon.yield %3 : tensor<2x2xf32>
  }
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A convert that was in the model changes its own types.

// CHECK-LABEL: func @retypes_converts(
// CHECK:         %[[F:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.convert %{{.*}} : tensor<4xi32> -> tensor<4x[[T]]>
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused(
// CHECK-NEXT:      tarpon.convert %{{.*}} : tensor<4x[[T]]> -> tensor<4xi64>
// CHECK-NEXT:      tarpon.yield
func.func @retypes_converts(%x: tensor<4xi32>) -> tensor<4xi64> {
  %0 = tarpon.fused(%a = %x) : (tensor<4xi32>) -> tensor<4xf32> {
    %2 = tarpon.convert %a : tensor<4xi32> -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xi64> {
    %2 = tarpon.convert %a : tensor<4xf32> -> tensor<4xi64>
    tarpon.yield %2 : tensor<4xi64>
  }
  return %1 : tensor<4xi64>
}

// -----

// A convert to the storage type is there no longer.

// CHECK-LABEL: func @drops_converts(
// CHECK-NEXT:    tarpon.fused(
// FP16-SAME:       (tensor<4xf16>) -> tensor<4xf32>
func.func @drops_converts(%x: tensor<4xf16>) -> tensor<4xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf16>) -> tensor<4xf32> {
    %2 = tarpon.convert %a : tensor<4xf16> -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// -----

// Only f32 is stored differently.

// CHECK-LABEL: func @negative_other_types(
// CHECK-NOT:     {{bf16|f16|convert}}
// CHECK:         return
func.func @negative_other_types(%x: tensor<4xf64>, %y: tensor<4xi32>) -> (tensor<4xf64>, tensor<8xi32>) {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf64>) -> tensor<4xf64> {
    %4 = tarpon.relu %a : (tensor<4xf64>) -> tensor<4xf64>
    tarpon.yield %4 : tensor<4xf64>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4xf64>) -> tensor<4xf64> {
    %4 = tarpon.relu %a : (tensor<4xf64>) -> tensor<4xf64>
    tarpon.yield %4 : tensor<4xf64>
  }
  %2 = tarpon.fused(%a = %y, %b = %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32> {
    %4 = tarpon.concat %a, %b {axis = 0 : i64} : (tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32>
    tarpon.yield %4 : tensor<8xi32>
  }
  return %1, %2 : tensor<4xf64>, tensor<8xi32>
}

// -----

// Ops outside of regions keep their types.

// CHECK-LABEL: func @negative_not_fused(
// CHECK:         %[[F:.+]] = tarpon.fused(
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<4x[[T]]> -> tensor<4xf32>
// CHECK:         tarpon.relu %[[C]] : (tensor<4xf32>) -> tensor<4xf32>
func.func @negative_not_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %4 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %4 : tensor<4xf32>
  }
  %1 = tarpon.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What is behind the first result keeps its type; a reader that wants another
// gets a convert.

// CHECK-LABEL: func @several_results(
// CHECK:         %[[F:.+]]:3 = tarpon.fused({{.*}} -> (tensor<2x8x[[T]]>, tensor<2x1xf32>, tensor<2x1xf32>) {
// CHECK-NEXT:      %[[Y:.+]]:3 = tarpon.layer_norm {{.*}} -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
// CHECK-NEXT:      %[[L:.+]] = tarpon.convert %[[Y]]#0 : tensor<2x8xf32> -> tensor<2x8x[[T]]>
// CHECK-NEXT:      tarpon.yield %[[L]], %[[Y]]#1, %[[Y]]#2
// CHECK:         %[[M:.+]] = tarpon.convert %[[F]]#1 : tensor<2x1xf32> -> tensor<2x1x[[T]]>
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[F]]#0, {{.*}} = %[[M]])
// CHECK-NEXT:      tarpon.matmul {{.*}} (tensor<2x8x[[T]]>, tensor<2x1x[[T]]>) -> tensor<8x1xf32>
// CHECK:         return %[[G]], %[[F]]#2
func.func @several_results(%x: tensor<2x8xf32>) -> (tensor<8x1xf32>, tensor<2x1xf32>) {
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %2:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %2#0, %2#1, %2#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  %1 = tarpon.fused(%a = %0#0, %b = %0#1) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<8x1xf32> {
    %2 = tarpon.matmul %a, %b {transpose_lhs = true} : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<8x1xf32>
    tarpon.yield %2 : tensor<8x1xf32>
  }
  return %1, %0#2 : tensor<8x1xf32>, tensor<2x1xf32>
}

// -----

// A bitcast takes the bits of f32, in whatever type its operand is stored.

// CHECK-LABEL: func @bitcasts_what_it_was(
// CHECK:         %[[F:.+]] = tarpon.fused
// CHECK-SAME:        -> tensor<4x[[T]]>
// CHECK:         %[[W:.+]] = tarpon.convert %[[F]] : tensor<4x[[T]]> -> tensor<4xf32>
// CHECK:         tarpon.bitcast %[[W]] : (tensor<4xf32>) -> tensor<4xi32>
func.func @bitcasts_what_it_was(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = tarpon.sigmoid %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  %1 = tarpon.bitcast %0 : (tensor<4xf32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// Only the result changes: narrow weights and their scales stay as they are.

// CHECK-LABEL: func @keeps_narrow_weights(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x8xf32>
// CHECK:         %[[F:.+]] = tarpon.fused(%[[A:.+]] = %[[X]], %[[W:.+]] = %{{.+}}, %[[S:.+]] = %{{.+}}) : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8x[[T]]>
// CHECK-NEXT:      %[[M:.+]] = tarpon.block_matmul %[[A]], %[[W]], %[[S]]
// CHECK-NEXT:      %[[L:.+]] = tarpon.convert %[[M]] : tensor<1x8xf32> -> tensor<1x8x[[T]]>
// CHECK-NEXT:      tarpon.yield %[[L]]
// CHECK:         tarpon.fused(%[[A:.+]] = %[[F]], %[[W:.+]] = %{{.+}}, %[[S:.+]] = %{{.+}}) : (tensor<1x8x[[T]]>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert %[[A]] : tensor<1x8x[[T]]> -> tensor<1x8xf32>
// CHECK-NEXT:      tarpon.block_matmul %[[C]], %[[W]], %[[S]]
func.func @keeps_narrow_weights(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %w = tarpon.constant {value = dense<7> : tensor<8x1x4xui8>} : tensor<8x1x4xui8>
  %s = tarpon.constant {value = dense<0.5> : tensor<8x1xf32>} : tensor<8x1xf32>
  %0 = tarpon.fused(%a = %x, %aw = %w, %as = %s) : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32> {
    %2 = tarpon.block_matmul %a, %aw, %as {bits = 4 : i64, block_size = 8 : i64} : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
    tarpon.yield %2 : tensor<1x8xf32>
  }
  %1 = tarpon.fused(%a = %0, %aw = %w, %as = %s) : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32> {
    %2 = tarpon.block_matmul %a, %aw, %as {bits = 4 : i64, block_size = 8 : i64} : (tensor<1x8xf32>, tensor<8x1x4xui8>, tensor<8x1xf32>) -> tensor<1x8xf32>
    tarpon.yield %2 : tensor<1x8xf32>
  }
  return %1 : tensor<1x8xf32>
}
