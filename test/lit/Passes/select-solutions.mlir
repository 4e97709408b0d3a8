// RUN: graph-opt %s -tarpon-select-solutions | FileCheck %s
// RUN: graph-opt %s -tarpon-select-solutions=solver=reference-v1 | FileCheck %s --check-prefix=FORCED
// RUN: graph-opt %s -tarpon-select-solutions='vector-bits=512 threads=2' | FileCheck %s

// CHECK-LABEL:  func @attaches_solutions(
// CHECK:          tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"{{[^"]*}}">, solution = #tarpon.solution<"{{.+}}", {{.*}}, "default">}
// CHECK:            tarpon.matmul
// CHECK:          tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"{{[^"]*}}">, solution = #tarpon.solution<"{{.+}}", {{.*}}, "default">}
// CHECK:            tarpon.convert
// FORCED-LABEL: func @attaches_solutions(
// FORCED:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"{{[^"]*}}">, solution = #tarpon.solution<"reference-v1", {}, "default">}
// FORCED:           tarpon.matmul
// FORCED:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"{{[^"]*}}">, solution = #tarpon.solution<"reference-v1", {}, "default">}
// FORCED:           tarpon.convert
func.func @attaches_solutions(%x: tensor<4x4xf32>) -> tensor<4x4xf16> {
  %0 = tarpon.fused(%a = %x, %b = %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %2 = tarpon.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    tarpon.yield %2 : tensor<4x4xf32>
  }
  %1 = tarpon.fused(%a = %0) : (tensor<4x4xf32>) -> tensor<4x4xf16> {
    %2 = tarpon.convert %a : tensor<4x4xf32> -> tensor<4x4xf16>
    tarpon.yield %2 : tensor<4x4xf16>
  }
  return %1 : tensor<4x4xf16>
}

// Ops outside of regions have no solution.
// CHECK-LABEL: func @negative_not_fused(
// CHECK-NEXT:    tarpon.relu %{{.+}} : (tensor<4xf32>) -> tensor<4xf32>
func.func @negative_not_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tarpon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
