// RUN: graph-opt %s -tarpon-lower-to-launches -split-input-file -verify-diagnostics

func.func @no_solution(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.fused' op has no solution}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown_solver(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.fused' op expects the id of a solver, got "nobody-v7"}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {solution = #tarpon.solution<"nobody-v7", "", "default">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @solver_does_not_apply(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re@below {{'tarpon.fused' op has a solver that is not applicable: "conv-igemm-v1" {{.+}}}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {solution = #tarpon.solution<"conv-igemm-v1", "", "default">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @config_is_not_valid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.fused' op expects a perf config of "reference-v1", got "tile_m=3"}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {solution = #tarpon.solution<"reference-v1", "tile_m=3", "default">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Each operand of the root is one of the region.
func.func @no_graph_poses_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.fused' op expects a problem that a graph can pose: add has 2 operands, got 1}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {solution = #tarpon.solution<"reference-v1", "", "default">} {
    %1 = tarpon.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @not_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.relu' op cannot be launched outside of a fused region}}
  %0 = tarpon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
