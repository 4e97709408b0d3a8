// RUN: graph-opt %s -tarpon-select-solutions | FileCheck %s
// RUN: graph-opt %s -tarpon-select-solutions=solver=reference-v1 | FileCheck %s --check-prefix=FORCED
// RUN: graph-opt %s -tarpon-select-solutions='target=x86-64-v4 threads=2' | FileCheck %s

// CHECK-LABEL:  func @attaches_solutions(
// CHECK:          tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"matmul(4x4xf32, 4x4xf32)->4x4xf32 {{[^"]*}}">, solution = #tarpon.solution<"{{.+}}", "{{.*}}", "default">}
// CHECK:            tarpon.matmul
// CHECK:          tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"convert(4x4xf32)->4x4xf16">, solution = #tarpon.solution<"{{.+}}", "{{.*}}", "default">}
// CHECK:            tarpon.convert
// FORCED-LABEL: func @attaches_solutions(
// FORCED:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"matmul(4x4xf32, 4x4xf32)->4x4xf32 {{[^"]*}}">, solution = #tarpon.solution<"reference-v1", "", "default">}
// FORCED:           tarpon.matmul
// FORCED:         tarpon.fused({{.*}}) {{.*}} attributes {problem = #tarpon.problem<"convert(4x4xf32)->4x4xf16">, solution = #tarpon.solution<"reference-v1", "", "default">}
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

// A region whose types nothing will change keeps its problem, which has the scales
// that keys leave out.
// CHECK-LABEL: func @scales(
// CHECK:         problem = #tarpon.problem<"relu(8xu8q)->8xi8q", 5.000000e-01 : 128, 2.500000e-01>
func.func @scales(%x: tensor<8x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<8x!quant.uniform<i8:f32, 0.25>> {
  %0 = tarpon.fused(%a = %x) : (tensor<8x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<8x!quant.uniform<i8:f32, 0.25>> {
    %1 = tarpon.convert %a : tensor<8x!quant.uniform<u8:f32, 0.5:128>> -> tensor<8xf32>
    %2 = tarpon.relu %1 : (tensor<8xf32>) -> tensor<8xf32>
    %3 = tarpon.convert %2 : tensor<8xf32> -> tensor<8x!quant.uniform<i8:f32, 0.25>>
    tarpon.yield %3 : tensor<8x!quant.uniform<i8:f32, 0.25>>
  }
  return %0 : tensor<8x!quant.uniform<i8:f32, 0.25>>
}
