// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of lstm, gru and rnn by their numbers.

// rnn C1: ranks
func.func @rnn_c1(%g: tensor<5x6xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects gates and recurrent of rank 3, got 'tensor<5x6xf32>' and 'tensor<1x3x3xf32>'}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x6xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// lstm C1: gates per unit
func.func @lstm_c1(%g: tensor<5x2x12xf32>, %r: tensor<1x9x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>, %p: tensor<1x9xf32>) {
  // expected-error@below {{'tarpon.lstm' op expects 4 gates per hidden unit, got 'tensor<5x2x12xf32>' and 'tensor<1x9x3xf32>'}}
  %y = tarpon.lstm %g, %r, %l, %h, %h, %p {reversed = array<i64: 0>, activations = array<i64: 0, 1, 1>, alphas = array<f32: 0.0, 0.0, 0.0>, betas = array<f32: 0.0, 0.0, 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x12xf32>, tensor<1x9x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x9xf32>) -> tensor<7x1x2x3xf32>
  return
}

// -----

// rnn C2: the initial state
func.func @rnn_c2(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x3x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects hidden to be 'tensor<1x2x3xf32>', got 'tensor<1x3x3xf32>'}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x3x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// lstm C2: the peepholes
func.func @lstm_c2(%g: tensor<5x2x12xf32>, %r: tensor<1x12x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>, %p: tensor<1x8xf32>) {
  // expected-error@below {{'tarpon.lstm' op expects peepholes to be 'tensor<1x9xf32>', got 'tensor<1x8xf32>'}}
  %y = tarpon.lstm %g, %r, %l, %h, %h, %p {reversed = array<i64: 0>, activations = array<i64: 0, 1, 1>, alphas = array<f32: 0.0, 0.0, 0.0>, betas = array<f32: 0.0, 0.0, 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x12xf32>, tensor<1x12x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x8xf32>) -> tensor<7x1x2x3xf32>
  return
}

// -----

// gru C2: the bias
func.func @gru_c2(%g: tensor<5x2x9xf32>, %r: tensor<1x9x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@below {{'tarpon.gru' op expects bias to be 'tensor<1x3xf32>', got 'tensor<3xf32>'}}
  %y = tarpon.gru %g, %r, %l, %h, %b {reversed = array<i64: 0>, activations = array<i64: 0, 1>, alphas = array<f32: 0.0, 0.0>, betas = array<f32: 0.0, 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x9xf32>, tensor<1x9x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>, tensor<3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// rnn C2: lengths
func.func @rnn_c2_lengths(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects lengths to be 2 integers, got 'tensor<2xf32>'}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xf32>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// rnn C2: floats
func.func @rnn_c2_floats(%g: tensor<5x2x3xi32>, %r: tensor<1x3x3xi32>, %l: tensor<2xi64>, %h: tensor<1x2x3xi32>) {
  // expected-error@below {{'tarpon.rnn' op expects gates to hold floats, got 'tensor<5x2x3xi32>'}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xi32>, tensor<1x3x3xi32>, tensor<2xi64>, tensor<1x2x3xi32>) -> tensor<6x1x2x3xi32>
  return
}

// -----

// rnn C3: reversed
func.func @rnn_c3(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects reversed to be 0 or 1 for each of 1 directions}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 2>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// rnn C3: the number of activations
func.func @rnn_c3_count(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects 1 activations, alphas and betas}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1, 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// rnn C3: activations
func.func @rnn_c3_activations(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects activations from 0 to 10, got 11}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 11>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = 0.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}

// -----

// rnn C4: clip
func.func @rnn_c4(%g: tensor<5x2x3xf32>, %r: tensor<1x3x3xf32>, %l: tensor<2xi64>, %h: tensor<1x2x3xf32>) {
  // expected-error@below {{'tarpon.rnn' op expects clip not to be negative, got -1.000000e+00}}
  %y = tarpon.rnn %g, %r, %l, %h {reversed = array<i64: 0>, activations = array<i64: 1>, alphas = array<f32: 0.0>, betas = array<f32: 0.0>, clip = -1.0 : f32}
       : (tensor<5x2x3xf32>, tensor<1x3x3xf32>, tensor<2xi64>, tensor<1x2x3xf32>) -> tensor<6x1x2x3xf32>
  return
}
