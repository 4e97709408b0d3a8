// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of resize by their numbers.

// resize C1
func.func @c1_count(%x: tensor<1x2x4xf32>) {
  // expected-error@below {{'tarpon.resize' op expects 3 entries in sizes and scales, got 2 and 3}}
  %y = tarpon.resize %x {sizes = array<i64: 1, 2>, scales = array<f64: 1.0, 1.0, 2.0>, roi = array<f64>, mode = 0 : i32, coordinates = 3 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  return
}

// -----

func.func @c1_positive(%x: tensor<1x2x4xf32>) {
  // expected-error@below {{'tarpon.resize' op expects positive sizes and scales, got 8 and 0}}
  %y = tarpon.resize %x {sizes = array<i64: 1, 2, 8>, scales = array<f64: 1.0, 1.0, 0.0>, roi = array<f64>, mode = 0 : i32, coordinates = 3 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  return
}

// -----

// resize C2
func.func @c2(%x: tensor<1x2x4xf32>) {
  // expected-error@below {{'tarpon.resize' op expects no entry or 6 in roi, got 2}}
  %y = tarpon.resize %x {sizes = array<i64: 1, 2, 8>, scales = array<f64: 1.0, 1.0, 2.0>, roi = array<f64: 0.0, 1.0>, mode = 0 : i32, coordinates = 3 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  return
}

// -----

// resize C3
func.func @c3(%x: tensor<1x2x4xi32>) {
  // expected-error@below {{'tarpon.resize' op expects float or quantised elements in mode linear, got 'i32'}}
  %y = tarpon.resize %x {sizes = array<i64: 1, 2, 8>, scales = array<f64: 1.0, 1.0, 2.0>, roi = array<f64>, mode = 1 : i32, coordinates = 3 : i32} : (tensor<1x2x4xi32>) -> tensor<1x2x8xi32>
  return
}

// -----

// resize C4
func.func @c4(%x: tensor<1x2x4xf32, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.resize' op expects batch and channels to stay as they are in nhwc}}
  %y = tarpon.resize %x {sizes = array<i64: 1, 4, 8>, scales = array<f64: 1.0, 2.0, 2.0>, roi = array<f64>, mode = 0 : i32, coordinates = 3 : i32} : (tensor<1x2x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x4x8xf32, #tarpon.layout<nhwc>>
  return
}
