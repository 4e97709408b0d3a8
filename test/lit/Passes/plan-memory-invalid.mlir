// RUN: graph-opt %s -tarpon-plan-memory -verify-diagnostics

func.func @not_a_launch(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.relu' op has no place in memory: it is not a launch}}
  %0 = tarpon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
