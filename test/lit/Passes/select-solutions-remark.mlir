// RUN: graph-opt %s -tarpon-select-solutions=solver=conv-igemm-v1 -verify-diagnostics

func.func @solver_is_not_applicable(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark-re@below {{takes the solver '{{.+}}': 'conv-igemm-v1' {{.+}}}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
