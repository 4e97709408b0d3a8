// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of fused regions and launches by their numbers.

// fused C1: types of the arguments
func.func @fused_c1(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects region arguments of the operands' types 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = "tarpon.fused"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %1 = tarpon.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    tarpon.yield %1 : tensor<2xf32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// fused C1: number of the arguments
func.func @fused_c1_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects region arguments of the operands' types 'tensor<4xf32>', 'tensor<4xf32>', got 'tensor<4xf32>'}}
  %0 = "tarpon.fused"(%x, %x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// fused C2: the result's type
func.func @fused_c2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield the result's type 'tensor<4xf16>', got 'tensor<4xf32>'}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf16> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C2: a yield
func.func @fused_c2_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield one value for each of 1 result}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    func.return %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C2: a value for each result
func.func @fused_c2_3(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield one value for each of 3 results}}
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %1#0, %1#1 : tensor<2x4xf32>, tensor<2x1xf32>
  }
  return
}

// -----

// fused C2: the type of another result
func.func @fused_c2_4(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield the result's type 'tensor<2x1xf16>', got 'tensor<2x1xf32>'}}
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf16>) {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %1#0, %1#1, %1#2 : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  return
}

// -----

// fused C2: a result
func.func @fused_c2_5(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield one value for each of 0 results}}
  tarpon.fused(%a = %x) : (tensor<4xf32>) -> () {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// yield: its parent
func.func @yield_outside(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.yield' op expects parent op 'tarpon.fused'}}
  tarpon.yield %x : tensor<4xf32>
}

// -----

// fused C3: other dialects
func.func @fused_c3(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects tarpon ops without regions, got arith.negf}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = arith.negf %a : tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C3: nested regions
func.func @fused_c3_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects tarpon ops without regions, got tarpon.fused}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.fused(%b = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      %2 = tarpon.relu %b : (tensor<4xf32>) -> tensor<4xf32>
      tarpon.yield %2 : tensor<4xf32>
    }
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C9
func.func @fused_c7() {
  // expected-error@below {{'tarpon.fused' op expects a root that problems have, got tarpon.constant}}
  %0 = tarpon.fused() : () -> tensor<4xf32> {
    %1 = tarpon.constant {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C4
func.func @fused_c4(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects elementwise ops and converts behind the root tarpon.relu, got tarpon.softmax}}
  %0 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %1 = tarpon.relu %a : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = tarpon.softmax %1 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    tarpon.yield %2 : tensor<2x4xf32>
  }
  return
}

// -----

// fused C4: a value between two operations of another type
func.func @fused_c4_between(%x: tensor<1x4x8x8xf16>, %w: tensor<4x4x1x1xf16>) {
  // expected-error@below {{'tarpon.fused' op expects the value between two operations to be stored like the first operand, 'tensor<1x4x8x8xf16>', got 'tensor<1x4x8x8xf32>'}}
  %0 = tarpon.fused(%a = %x, %b = %w) : (tensor<1x4x8x8xf16>, tensor<4x4x1x1xf16>) -> tensor<1x4x8x8xf32> {
    %1 = tarpon.convert %a : tensor<1x4x8x8xf16> -> tensor<1x4x8x8xf32>
    %2 = tarpon.relu %1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %3 = tarpon.convert %b : tensor<4x4x1x1xf16> -> tensor<4x4x1x1xf32>
    %4 = tarpon.conv %2, %3 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    tarpon.yield %4 : tensor<1x4x8x8xf32>
  }
  return
}

// -----

// fused C4: a second op that adds up products
func.func @fused_c4_twice(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@below {{'tarpon.fused' op expects elementwise ops and converts behind the root tarpon.relu, got tarpon.conv}}
  %0 = tarpon.fused(%a = %x, %b = %w, %c = %w) : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
    %1 = tarpon.relu %a : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %2 = tarpon.conv %1, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    %3 = tarpon.conv %2, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    tarpon.yield %3 : tensor<1x4x8x8xf32>
  }
  return
}

// -----

// fused C4: the chain as a filter
func.func @fused_c4_filter(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) {
  // expected-error@below {{'tarpon.fused' op expects elementwise ops and converts behind the root tarpon.relu, got tarpon.conv}}
  %0 = tarpon.fused(%a = %w, %b = %x) : (tensor<4x4x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
    %1 = tarpon.relu %a : (tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32>
    %2 = tarpon.conv %b, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    tarpon.yield %2 : tensor<1x4x8x8xf32>
  }
  return
}

// -----

// fused C5: two roots
func.func @fused_c5(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects ops that take the result of the one before and region arguments, got tarpon.sigmoid}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tarpon.sigmoid %a : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tarpon.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %3 : tensor<4xf32>
  }
  return
}

// -----

// fused C5: results from further back
func.func @fused_c5_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects ops that take the result of the one before and region arguments, got tarpon.mul}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tarpon.sigmoid %1 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tarpon.mul %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %3 : tensor<4xf32>
  }
  return
}

// -----

// fused C5: the last one is yielded
func.func @fused_c5_3(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield the result of the last op of the chain}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tarpon.sigmoid %1 : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C5: a root
func.func @fused_c5_4(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects a root operation, got an empty region}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    tarpon.yield %a : tensor<4xf32>
  }
  return
}

// -----

// fused C5: the chain goes on from the first result
func.func @fused_c5_5(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects ops that take the result of the one before and region arguments, got tarpon.relu}}
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    %2 = tarpon.relu %1#1 : (tensor<2x1xf32>) -> tensor<2x1xf32>
    tarpon.yield %2, %1#1, %1#2 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  return
}

// -----

// fused C6: the other results in order
func.func @fused_c6(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield the other results of the root tarpon.layer_norm as they are}}
  %0:3 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %1#0, %1#2, %1#1 : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  }
  return
}

// -----

// fused C6: all of them
func.func @fused_c6_2(%x: tensor<2x4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects to yield the other results of the root tarpon.layer_norm as they are}}
  %0 = tarpon.fused(%a = %x) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %1:3 = tarpon.layer_norm %a {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    tarpon.yield %1#0 : tensor<2x4xf32>
  }
  return
}

// -----

// fused C8: the operation
func.func @fused_c8(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects the problem that its ops and types pose, got #tarpon.problem<"sigmoid(4xf32)->4xf32">}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"sigmoid(4xf32)->4xf32">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C8: the types
func.func @fused_c8_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects the problem that its ops and types pose, got #tarpon.problem<"relu(4xf16)->4xf32">}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf16)->4xf32">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C8: a variable operand
func.func @fused_c8_3(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.fused' op expects the problem that its ops and types pose, got #tarpon.problem<"relu(4xf32:const)->4xf32">}}
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xf32:const)->4xf32">} {
    %1 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// fused C8: scales
func.func @fused_c8_4(%x: tensor<4x!quant.uniform<u8:f32, 0.5:128>>) {
  // expected-error@below {{'tarpon.fused' op expects the problem that its ops and types pose, got #tarpon.problem<"relu(4xu8q)->4xf32", 2.500000e-01 : 128>}}
  %0 = tarpon.fused(%a = %x) : (tensor<4x!quant.uniform<u8:f32, 0.5:128>>) -> tensor<4xf32> attributes {problem = #tarpon.problem<"relu(4xu8q)->4xf32", 2.500000e-01 : 128>} {
    %1 = tarpon.convert %a : tensor<4x!quant.uniform<u8:f32, 0.5:128>> -> tensor<4xf32>
    %2 = tarpon.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %2 : tensor<4xf32>
  }
  return
}

// -----

// fused: isolated from above
func.func @fused_isolated(%x: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@below {{use of undeclared SSA value name}}
    %1 = tarpon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tarpon.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// launch C1: the result
func.func @launch_c1(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects an offset that is not negative or -1, got -2}}
  %0 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, offset = -2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// launch C1: another result
func.func @launch_c1_3(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects an offset that is not negative or -1, got -3}}
  %0:2 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, offset = 0 : i64, more_offsets = array<i64: -3>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// launch C3
func.func @launch_c3(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects more_offsets to have 1 entries, got 2}}
  %0:2 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, offset = 0 : i64, more_offsets = array<i64: 64, 128>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// launch C3: a result
func.func @launch_c3_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects at least one result}}
  tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<4xf32>) -> ()
  return
}

// -----

// launch C1: the workspace
func.func @launch_c1_2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects the workspace's offset to be a multiple of 64 or -1, got 32}}
  %0 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, workspace_offset = 32 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// launch C2
func.func @launch_c2(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.launch' op expects workspace_bytes not to be negative, got -1}}
  %0 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, workspace_bytes = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// launch C4: indices
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.launch' op expects may_overwrite to have indices of inputs, got 1}}
  %0 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, may_overwrite = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// launch C4: one result
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tarpon.launch' op expects one result if it may overwrite inputs, got 2}}
  %0:2 = tarpon.launch "l"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, may_overwrite = array<i64: 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
