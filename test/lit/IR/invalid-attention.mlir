// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of tarpon.attention by their numbers.

// C1: ranks
func.func @c1(%q: tensor<1x2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<1x2x8x4xf32>) {
  // expected-error@below {{'tarpon.attention' op expects operands of one rank, 3 or more, got 4, 3 and 4}}
  %y = tarpon.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x2x8x4xf32>, tensor<2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  return
}

// -----

// C1: batch dimensions
func.func @c1_2(%q: tensor<2x8x4xf32>, %k: tensor<1x8x4xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error@below {{'tarpon.attention' op expects operands with the same batch dimensions}}
  %y = tarpon.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<1x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// C2: channels
func.func @c2(%q: tensor<2x8x4xf32>, %k: tensor<2x8x5xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error@below {{'tarpon.attention' op expects a query and a key with as many channels, got 4 and 5}}
  %y = tarpon.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<2x8x5xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// C3: positions
func.func @c3(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x9x4xf32>) {
  // expected-error@below {{'tarpon.attention' op expects a key and a value with as many positions, got 8 and 9}}
  %y = tarpon.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x9x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// C4: the mask's shape
func.func @c4(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %m: tensor<9x8xf32>) {
  // expected-error@below {{'tarpon.attention' op expects a mask that broadcasts to the scores}}
  %y = tarpon.attention %q, %k, %k, %m {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>, tensor<9x8xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// C4: two masks
func.func @c4_2(%q: tensor<2x8x4xf32>, %m: tensor<8x8xf32>) {
  // expected-error@below {{'tarpon.attention' op expects one mask at most, got 2}}
  %y = tarpon.attention %q, %q, %q, %m, %m {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// C5: causal
func.func @c5(%q: tensor<2x9x4xf32>, %k: tensor<2x8x4xf32>) {
  // expected-error@below {{'tarpon.attention' op expects no more queries than keys where it is causal, got 9 and 8}}
  %y = tarpon.attention %q, %k, %k {scale = 1.0 : f64, causal = true} : (tensor<2x9x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x9x4xf32>
  return
}

// -----

// C6: floats
func.func @c6(%q: tensor<2x8x4xi32>) {
  // expected-error@below {{'tarpon.attention' op expects operands to hold floats, got 'tensor<2x8x4xi32>'}}
  %y = tarpon.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x8x4xi32>, tensor<2x8x4xi32>, tensor<2x8x4xi32>) -> tensor<2x8x4xi32>
  return
}

// -----

// C7: row-major
func.func @c7(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.attention' op expects operands to be row-major, got 'tensor<2x8x4xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.attention %q, %k, %q {scale = 1.0 : f64} : (tensor<2x8x4xf32>, tensor<2x8x4xf32, #tarpon.layout<nhwc>>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return
}
