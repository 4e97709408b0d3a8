// RUN: graph-opt %s -tarpon-assign-dtype -split-input-file | FileCheck %s

// Filters are stored in the type of their region; a region writes what the next
// one reads. The attributes are gone.

// CHECK-LABEL: func @halves_beside_floats(
// CHECK-DAG:     %[[H:.+]] = tarpon.constant {{.*}} : tensor<2x2xf16>
// CHECK-DAG:     %[[B:.+]] = tarpon.constant {{.*}} : tensor<2x2xbf16>
// CHECK-DAG:     %[[W:.+]] = tarpon.constant {{.*}} : tensor<2x2xf32>
// CHECK-DAG:     %[[X:.+]] = tarpon.convert %{{.+}} : tensor<2x2xf32> -> tensor<2x2xf16>
// CHECK-NOT:     = tarpon.convert
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} = %[[X]], {{.*}} = %[[H]]) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32> {
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[F]], {{.*}} = %[[W]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xbf16> {
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} = %[[G]], {{.*}} = %[[B]]) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32> {
!x = tensor<2x2xf32>
func.func @halves_beside_floats(%x: !x) -> !x {
  %w = tarpon.constant {value = dense<1.0> : !x} : !x
  %0 = tarpon.fused(%a = %x, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp16"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  %2 = tarpon.fused(%a = %1, %b = %w) : (!x, !x) -> !x attributes {tarpon.precision = "bf16"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %3 : !x
  }
  return %2 : !x
}

// -----

// Readers disagree: the region's own type, or else the first reader's. The other
// readers share one convert.

// CHECK-LABEL: func @readers_disagree(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<2x2xf16>
// CHECK:         %[[C:.+]] = tarpon.convert %[[F]] : tensor<2x2xf16> -> tensor<2x2xf32>
// CHECK-NOT:     = tarpon.convert %[[F]]
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[C]], {{.*}} = %[[C]]) {{.*}} -> tensor<2x2xf16>
// CHECK:         %[[D:.+]] = tarpon.convert %[[G]] : tensor<2x2xf16> -> tensor<2x2xbf16>
// CHECK:         tarpon.fused({{.*}} = %[[F]], {{.*}} = %[[G]])
// CHECK:         tarpon.fused({{.*}} = %[[D]], {{.*}} = %[[D]])
!x = tensor<2x2xf32>
func.func @readers_disagree(%x: !x) -> (!x, !x) {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp16"} {
    %4 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %4 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %0) : (!x, !x) -> !x attributes {tarpon.precision = "fp32"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %2 = tarpon.fused(%a = %0, %b = %1) : (!x, !x) -> !x attributes {tarpon.precision = "fp16"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  %3 = tarpon.fused(%a = %1, %b = %1) : (!x, !x) -> !x attributes {tarpon.precision = "bf16"} {
    %4 = tarpon.matmul %a, %b : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %2, %3 : !x, !x
}

// -----

// A residual is read in any float type; a concat and a pool work in the type of
// their own region, whatever the types of producers and readers.

// CHECK-LABEL: func @passes_elements_on(
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} -> tensor<1x2x4x4xf16>
// CHECK-NOT:     tarpon.convert %[[F]]
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[F]], {{.*}} -> tensor<1x4x4x4xbf16> {
// CHECK-NEXT:      tarpon.concat {{.*}} -> tensor<1x4x4x4xf16>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[P:.+]] = tarpon.fused({{.*}} = %[[G]]) : (tensor<1x4x4x4xbf16>) -> tensor<1x4x1x1xf16> {
// CHECK-NEXT:      tarpon.global_max_pool {{.*}} -> tensor<1x4x1x1xbf16>
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[V:.+]] = tarpon.reshape %[[P]] : (tensor<1x4x1x1xf16>) -> tensor<2x2xf16>
// CHECK:         %[[M:.+]] = tarpon.fused({{.*}} = %[[V]], {{.*}} -> tensor<2x2xf32>
// CHECK-NOT:     = tarpon.convert
// CHECK:         tarpon.fused({{.*}} = %[[M]], {{.*}} = %[[M]], %[[R:.+]] = %[[V]]) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>)
// CHECK-NEXT:      tarpon.convert %[[R]] : tensor<2x2xf16> -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.matmul
!x = tensor<1x2x4x4xf32>
!c = tensor<1x4x4x4xf32>
!p = tensor<1x4x1x1xf32>
!m = tensor<2x2xf32>
func.func @passes_elements_on(%x: !x) -> !m {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "fp32"} {
    %6 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %6 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %0) : (!x, !x) -> !c attributes {tarpon.precision = "fp16"} {
    %6 = tarpon.concat %a, %b {axis = 1 : i64} : (!x, !x) -> !c
    tarpon.yield %6 : !c
  }
  %2 = tarpon.fused(%a = %1) : (!c) -> !p attributes {tarpon.precision = "bf16"} {
    %6 = tarpon.global_max_pool %a : (!c) -> !p
    tarpon.yield %6 : !p
  }
  %3 = tarpon.reshape %2 : (!p) -> !m
  %4 = tarpon.fused(%a = %3, %b = %3) : (!m, !m) -> !m attributes {tarpon.precision = "fp16"} {
    %6 = tarpon.matmul %a, %b : (!m, !m) -> !m
    tarpon.yield %6 : !m
  }
  %5 = tarpon.fused(%a = %4, %b = %4, %r = %3) : (!m, !m, !m) -> !m attributes {tarpon.precision = "fp32"} {
    %6 = tarpon.matmul %a, %b : (!m, !m) -> !m
    %7 = tarpon.add %6, %r : (!m, !m) -> !m
    tarpon.yield %7 : !m
  }
  return %5 : !m
}

// -----

// A region in int8 reads bytes as before, gives its reader halves, and takes a
// residual in any type. One that reads bytes for a region in fp16 has one convert.

// CHECK-LABEL: func @int8_was_assigned_before(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x2x[[Q:!quant.uniform<u8:f32, 5.0+e-01>]]>
// CHECK:         %[[C:.+]] = tarpon.convert %[[X]] : tensor<2x2x[[Q]]> -> tensor<2x2xf32>
// CHECK:         %[[D:.+]] = tarpon.convert %[[C]] : tensor<2x2xf32> -> tensor<2x2xf16>
// CHECK:         %[[F:.+]] = tarpon.fused({{.*}} = %[[X]], {{.*}} : (tensor<2x2x[[Q]]>, tensor<2x2x!quant{{.*}}) -> tensor<2x2xf16> {
// CHECK-NEXT:      tarpon.matmul {{.*}}!quant
// CHECK-NEXT:      tarpon.convert {{.*}} : tensor<2x2xf32> -> tensor<2x2xf16>
// CHECK-NEXT:      tarpon.yield
// CHECK:         %[[G:.+]] = tarpon.fused({{.*}} = %[[F]], {{.*}} = %[[D]]) : {{.*}} -> tensor<2x2x[[Q]]> {
// CHECK-NEXT:      tarpon.matmul {{.*}} : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
// CHECK:         tarpon.fused({{.*}} = %[[G]], {{.*}}, %[[R:.+]] = %[[F]]) : {{.*}} -> tensor<2x2xf32> {
// CHECK-NEXT:      tarpon.convert %[[R]] : tensor<2x2xf16> -> tensor<2x2xf32>
// CHECK-NEXT:      tarpon.matmul {{.*}}!quant
!x = tensor<2x2xf32>
!q = tensor<2x2x!quant.uniform<u8:f32, 0.5>>
!w = tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {1.0, 1.0}>>
func.func @int8_was_assigned_before(%x: !q) -> !x {
  %w = tarpon.constant {value = dense<1> : tensor<2x2xi8>, quantized_type = !w} : !w
  %c = tarpon.convert %x : !q -> !x
  %0 = tarpon.fused(%a = %x, %b = %w) : (!q, !w) -> !x attributes {tarpon.precision = "int8"} {
    %3 = tarpon.matmul %a, %b : (!q, !w) -> !x
    tarpon.yield %3 : !x
  }
  %1 = tarpon.fused(%a = %0, %b = %c) : (!x, !x) -> !q attributes {tarpon.precision = "fp16"} {
    %3 = tarpon.matmul %a, %b : (!x, !x) -> !x
    %4 = tarpon.convert %3 : !x -> !q
    tarpon.yield %4 : !q
  }
  %2 = tarpon.fused(%a = %1, %b = %w, %r = %0) : (!q, !w, !x) -> !x attributes {tarpon.precision = "int8"} {
    %3 = tarpon.matmul %a, %b : (!q, !w) -> !x
    %4 = tarpon.add %3, %r : (!x, !x) -> !x
    tarpon.yield %4 : !x
  }
  return %2 : !x
}

// -----

// Only int8 and fp32: there is nothing to store in another type.

// CHECK-LABEL: func @negative_no_halves(
// CHECK:           tarpon.relu %{{.+}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NOT:     {{f16|convert|precision}}
// CHECK:         return
!x = tensor<2x2xf32>
func.func @negative_no_halves(%x: !x) -> !x {
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8"} {
    %2 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  %1 = tarpon.fused(%a = %0) : (!x) -> !x attributes {tarpon.precision = "fp32"} {
    %2 = tarpon.relu %a : (!x) -> !x
    tarpon.yield %2 : !x
  }
  return %1 : !x
}
