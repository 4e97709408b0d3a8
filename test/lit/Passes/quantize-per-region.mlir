// RUN: graph-opt %s -tarpon-quantize -split-input-file | FileCheck %s

// A change of the precision costs no launch: the region in front of it writes the
// other type.

// CHECK-LABEL: func @alternates(
// CHECK-COUNT-1: = tarpon.convert %{{.*}} -> tensor<2x2x!quant.uniform<u8:f32, 1.000000e+00>>
// CHECK-NOT:     = tarpon.convert
// CHECK:         tarpon.fused({{.*}} -> tensor<2x2xf32> attributes {tarpon.precision = "int8"
// CHECK-NEXT:      tarpon.matmul {{.*}}!quant.uniform<u8{{.*}}!quant.uniform<i8{{.*}} -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>> attributes {tarpon.precision = "fp32"
// CHECK-NEXT:      tarpon.matmul {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} : (tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>>, tensor<2x2x!quant.uniform<i8{{.*}} -> tensor<2x2xf32>
!x = tensor<2x2xf32>
func.func @alternates(%x: !x {tarpon.range = array<f32: 0.0, 255.0>}) -> !x {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 127.5>} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  %2 = tarpon.fused(%a = %1, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  return %2 : !x
}

// -----

// Readers disagree: the value has the type of the region that makes it, and those
// in fp32 share one convert.

// CHECK-LABEL: func @stores_makers_bytes(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<2x2x[[T:!quant.uniform<u8:f32, 5.0+e-01>]]>
// CHECK-NEXT:      tarpon.relu
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<2x2x[[T]]> -> tensor<2x2xf32>
// CHECK-NOT:     = tarpon.convert %[[F]]
// CHECK:         tarpon.fused({{.*}} = %[[C]], {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK:         tarpon.fused({{.*}} = %[[F]], {{.*}} : (tensor<2x2x[[T]]>, tensor<2x2x!quant{{.*}}) -> tensor<2x2xf32>
// CHECK:         tarpon.fused({{.*}} = %[[C]], {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
!x = tensor<2x2xf32>
func.func @stores_makers_bytes(%x: !x) -> (!x, !x, !x) {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %4 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %4 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %3 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %1, %2, %3 : !x, !x, !x
}

// -----

// The same from a region in fp32.

// CHECK-LABEL: func @stores_makers_floats(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<2x2xf32>
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<2x2xf32> -> tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>>
// CHECK-NOT:     = tarpon.convert %[[F]]
// CHECK:         tarpon.fused({{.*}} = %[[C]],
// CHECK:         tarpon.fused({{.*}} = %[[C]],
// CHECK:         tarpon.fused({{.*}} = %[[F]],
!x = tensor<2x2xf32>
func.func @stores_makers_floats(%x: !x) -> (!x, !x, !x) {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 127.5>} {
    %4 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %4 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %3 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %1, %2, %3 : !x, !x, !x
}

// -----

// No reader has the precision of the region: the first of them decides, through a
// reshape as well.

// CHECK-LABEL: func @stores_first_readers(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<4x!quant.uniform<u8:f32, 5.000000e-01>>
// CHECK:         %[[V:.+]] = tarpon.reshape %[[F]] : (tensor<4x!quant{{.*}}) -> tensor<2x2x!quant
// CHECK:         %[[C:.+]] = tarpon.convert %[[V]] : tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>> -> tensor<2x2xf32>
// CHECK:         tarpon.fused({{.*}} = %[[V]],
// CHECK:         tarpon.fused({{.*}} = %[[C]],
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<4xf32>
// CHECK:         tarpon.reshape %[[F]] : (tensor<4xf32>) -> tensor<2x2xf32>
!v = tensor<4xf32>
!x = tensor<2x2xf32>
func.func @stores_first_readers(%x: !v) -> (!x, !x, !x, !x) {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x) : (!v) -> !v attributes {tarpon.precision = "fp16", tarpon.range = array<f32: 0.0, 127.5>} {
    %8 = tarpon.relu %a : (!v) -> !v
    tarpon.yield %8 : !v
  }
  %1 = tarpon.reshape %0 : (!v) -> !x
  %2 = tarpon.fused(%a = %1, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %8 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %8 : !x
  }
  %3 = tarpon.fused(%a = %1, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %8 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %8 : !x
  }
  %4 = tarpon.fused(%a = %x) : (!v) -> !v attributes {tarpon.precision = "fp16", tarpon.range = array<f32: 0.0, 127.5>} {
    %8 = tarpon.relu %a : (!v) -> !v
    tarpon.yield %8 : !v
  }
  %5 = tarpon.reshape %4 : (!v) -> !x
  %6 = tarpon.fused(%a = %5, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %8 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %8 : !x
  }
  %7 = tarpon.fused(%a = %5, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %8 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %8 : !x
  }
  return %2, %3, %6, %7 : !x, !x, !x, !x
}

// -----

// A residual that is stored in u8 for another region is converted inside.

// CHECK-LABEL: func @reads_residual_inside(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<2x2x[[T:!quant.uniform<u8:f32, 5.0+e-01>]]>
// CHECK-NOT:     = tarpon.convert %[[F]]
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[F]], {{.*}} -> tensor<2x2xf32> attributes {tarpon.precision = "int8"
// CHECK-NOT:     = tarpon.convert %[[G]]
// CHECK:         tarpon.fused({{.*}} = %[[G]], {{.*}} = %{{.+}}, %[[R:.+]] = %[[F]])
// CHECK-NEXT:      tarpon.convert %[[R]] : tensor<2x2x[[T]]> -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.matmul {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.add
!x = tensor<2x2xf32>
func.func @reads_residual_inside(%x: !x) -> !x {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %3 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "int8"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  %2 = tarpon.fused(%a = %1, %b = %w, %r = %0) : (!x, !x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    %4 = tarpon.add %3, %r : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %2 : !x
}

// -----

// The producers of a concat write what it reads, in whatever they compute. Its own
// result has the type that covers theirs, be the concat in int8 or not: means of
// what filters read are known for that type alone.

// CHECK-LABEL: func @concat_of_mixed_producers(
// CHECK:         tarpon.fused({{.*}} -> tensor<2x!quant.uniform<u8:f32, 5.000000e-01>> attributes {tarpon.precision = "int8"
// CHECK:         tarpon.fused({{.*}} -> tensor<2x!quant.uniform<u8:f32, 1.000000e+00>> attributes {tarpon.precision = "fp32"
// CHECK:         tarpon.fused({{.*}} -> tensor<4x!quant.uniform<u8:f32, 1.000000e+00>> attributes {tarpon.precision = "int8"}
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.concat {{.*}} -> tensor<4x!quant
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} -> tensor<2xf32> attributes {tarpon.precision = "int8"
// CHECK:         tarpon.fused({{.*}} -> tensor<2xf32> attributes {tarpon.precision = "fp32"
// CHECK:         tarpon.fused({{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4x!quant.uniform<u8:f32, 1.000000e+00>> attributes {tarpon.precision = "fp32"
// CHECK-NEXT:      tarpon.concat {{.*}} -> tensor<4xf32>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
!x = tensor<2xf32>
!y = tensor<4xf32>
func.func @concat_of_mixed_producers(%x: !x) -> !y {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %7 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %7 : !x
  }
  %1 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 255.0>} {
    %7 = tarpon.sigmoid %a : (!x) -> !x
    tarpon.yield %7 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %1) : (!x, !x) -> !y attributes {tarpon.precision = "int8"} {
    %7 = tarpon.concat %a, %b {axis = 0 : i64} : (!x, !x) -> !y
    tarpon.yield %7 : !y
  }
  %3 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %7 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %7 : !x
  }
  %4 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 255.0>} {
    %7 = tarpon.sigmoid %a : (!x) -> !x
    tarpon.yield %7 : !x
  }
  %5 = tarpon.fused(%a = %3, %b = %4) : (!x, !x) -> !y attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 510.0>} {
    %7 = tarpon.concat %a, %b {axis = 0 : i64} : (!x, !x) -> !y
    tarpon.yield %7 : !y
  }
  %6 = tarpon.fused(%a = %2, %b = %5) : (!y, !y) -> !y attributes {tarpon.precision = "int8"} {
    %7 = tarpon.add %a, %b : (!y, !y) -> !y
    tarpon.yield %7 : !y
  }
  return %6 : !y
}

// -----

// A pool in fp32 reads floats and writes u8 for what follows, in the type that it
// would read; one in int8 selects among bytes and writes floats.

// CHECK-LABEL: func @pools_between(
// CHECK:         tarpon.fused({{.*}} -> tensor<1x2x4x4xf32> attributes {tarpon.precision = "int8"
// CHECK:         tarpon.fused({{.*}} -> tensor<1x2x1x1x[[T:!quant.uniform<u8:f32, 5.0+e-01>]]> attributes {tarpon.precision = "fp32"
// CHECK-NEXT:      tarpon.global_max_pool {{.*}} -> tensor<1x2x1x1xf32>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} -> tensor<1x2x4x4x[[T]]> attributes {tarpon.precision = "int8"
// CHECK-NEXT:      tarpon.convert {{.*}} : tensor<1x2x1x1x[[T]]> -> tensor<1x2x1x1xf32>
// CHECK-NEXT:      tarpon.mul
// CHECK:         tarpon.fused({{.*}} -> tensor<1x2x1x1xf32> attributes {tarpon.precision = "int8"
// CHECK-NEXT:      tarpon.global_max_pool {{.*}} -> tensor<1x2x1x1x[[T]]>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
!x = tensor<1x2x4x4xf32>
!p = tensor<1x2x1x1xf32>
func.func @pools_between(%x: !x) -> !p {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %5 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %5 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !p attributes {tarpon.precision = "fp32", tarpon.range = array<f32: 0.0, 63.75>} {
    %5 = tarpon.global_max_pool %a : (!x) -> !p
    tarpon.yield %5 : !p
  }
  %2 = tarpon.fused(%a = %x, %b = %1) : (!x, !p) -> !x attributes {tarpon.precision = "int8", tarpon.range = array<f32: 0.0, 127.5>} {
    %5 = tarpon.mul %a, %b : (!x, !p) -> !x
    tarpon.yield %5 : !x
  }
  %3 = tarpon.fused(%a = %2) : (!x) -> !p attributes {tarpon.precision = "int8"} {
    %5 = tarpon.global_max_pool %a : (!x) -> !p
    tarpon.yield %5 : !p
  }
  %4 = tarpon.fused(%a = %3) : (!p) -> !p attributes {tarpon.precision = "fp32"} {
    %5 = tarpon.sigmoid %a : (!p) -> !p
    tarpon.yield %5 : !p
  }
  return %4 : !p
}

// -----

// The softmax in fp32 computes in f32 anyway: it converts bytes inside. Regions
// without a mark are in int8.

// CHECK-LABEL: func @computes_in_f32_anyway(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<2x2x!quant.uniform<u8:f32, 5.000000e-01>> {{.*}} {
// CHECK-NOT:     = tarpon.convert %[[F]]
// CHECK:         tarpon.fused(%[[A:.+]] = %[[F]])
// CHECK-NEXT:      tarpon.convert %[[A]]
// CHECK-NEXT:      tarpon.softmax
// CHECK:         tarpon.fused({{.*}} = %[[F]],
// CHECK-NEXT:      tarpon.matmul {{.*}}!quant
!x = tensor<2x2xf32>
func.func @computes_in_f32_anyway(%x: !x) -> (!x, !x) {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.range = array<f32: 0.0, 127.5>} {
    %3 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !x attributes {tarpon.precision = "fp32"} {
    %3 = tarpon.softmax %a {axis = 1 : i64} : (!x) -> !x
    tarpon.yield %3 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  return %1, %2 : !x, !x
}

// -----

// Without a region in int8, nothing is quantised and no range is needed. Means
// are dropped all the same.

// CHECK-LABEL: func @negative_no_region_in_int8(
// CHECK-NOT:     {{quant|convert|_means}}
// CHECK:         return
!x = tensor<2x2xf32>
func.func @negative_no_region_in_int8(%x: !x) -> !x {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp16", tarpon.input_means = array<f32: 1.0, 1.0>, tarpon.stored_means = array<f32: 1.0, 1.0>} {
    %2 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %2 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %2 : !x
  }
  return %1 : !x
}

// -----

// The last softmax does not want bytes, in int8 either.

// CHECK-LABEL: func @negative_logits_of_int8(
// CHECK:         tarpon.fused({{.*}} -> tensor<2x2xf32> attributes {tarpon.precision = "fp32"}
// CHECK:         tarpon.fused({{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tarpon.precision = "int8"}
!x = tensor<2x2xf32>
func.func @negative_logits_of_int8(%x: !x) -> !x {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp32"} {
    %2 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !x attributes {tarpon.precision = "int8"} {
    %2 = tarpon.softmax %a {axis = 1 : i64} : (!x) -> !x
    tarpon.yield %2 : !x
  }
  return %1 : !x
}
