// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of grid_sample, roi_align and non_max_suppression, by their
// numbers.

// grid_sample C1: rank
func.func @grid_sample_c1(%x: tensor<2x3xf32>, %g: tensor<2x5xf32>) {
  // expected-error@below {{'tarpon.grid_sample' op expects an input of rank 3 to 5, got 'tensor<2x3xf32>'}}
  %y = tarpon.grid_sample %x, %g {mode = 1 : i32, padding = 0 : i32} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// grid_sample C2: coordinates
func.func @grid_sample_c2(%x: tensor<2x3x4xf32>, %g: tensor<2x5x2xf32>) {
  // expected-error@below {{'tarpon.grid_sample' op expects a grid with the images of the input and 1 coordinates, got 'tensor<2x5x2xf32>'}}
  %y = tarpon.grid_sample %x, %g {mode = 1 : i32, padding = 0 : i32} : (tensor<2x3x4xf32>, tensor<2x5x2xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// grid_sample C3: floats
func.func @grid_sample_c3(%x: tensor<2x3x4xf32>, %g: tensor<2x5x1xi64>) {
  // expected-error@below {{'tarpon.grid_sample' op expects grid to hold floats, got 'tensor<2x5x1xi64>'}}
  %y = tarpon.grid_sample %x, %g {mode = 1 : i32, padding = 0 : i32} : (tensor<2x3x4xf32>, tensor<2x5x1xi64>) -> tensor<2x3x5xf32>
  return
}

// -----

// grid_sample C4: layout
func.func @grid_sample_c4(%x: tensor<2x3x4xf32, #tarpon.layout<nhwc>>, %g: tensor<2x5x1xf32>) {
  // expected-error@below {{'tarpon.grid_sample' op expects input to be row-major, got 'tensor<2x3x4xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.grid_sample %x, %g {mode = 1 : i32, padding = 0 : i32} : (tensor<2x3x4xf32, #tarpon.layout<nhwc>>, tensor<2x5x1xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// roi_align C1: rank
func.func @roi_align_c1(%x: tensor<2x3x8xf32>, %c: tensor<7x4xf32>, %i: tensor<7xi64>) {
  // expected-error@below {{'tarpon.roi_align' op expects an input of rank 4, got 'tensor<2x3x8xf32>'}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = 2 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// roi_align C2: shapes
func.func @roi_align_c2(%x: tensor<2x3x8x9xf32>, %c: tensor<7x5xf32>, %i: tensor<7xi64>) {
  // expected-error@below {{'tarpon.roi_align' op expects corners of shape [7, 4], got 'tensor<7x5xf32>'}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = 2 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xf32>, tensor<7x5xf32>, tensor<7xi64>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// roi_align C3: images
func.func @roi_align_c3(%x: tensor<2x3x8x9xf32>, %c: tensor<7x4xf32>, %i: tensor<7xi32>) {
  // expected-error@below {{'tarpon.roi_align' op expects images of i64, got 'tensor<7xi32>'}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = 2 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xf32>, tensor<7x4xf32>, tensor<7xi32>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// roi_align C4: floats
func.func @roi_align_c4(%x: tensor<2x3x8x9xi32>, %c: tensor<7x4xf32>, %i: tensor<7xi64>) {
  // expected-error@below {{'tarpon.roi_align' op expects input to hold floats, got 'tensor<2x3x8x9xi32>'}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = 2 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xi32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// roi_align C5: samples
func.func @roi_align_c5(%x: tensor<2x3x8x9xf32>, %c: tensor<7x4xf32>, %i: tensor<7xi64>) {
  // expected-error@below {{'tarpon.roi_align' op expects samples of 0 or more, got -1}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = -1 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// roi_align C6: layout
func.func @roi_align_c6(%x: tensor<2x3x8x9xf32, #tarpon.layout<nhwc>>, %c: tensor<7x4xf32>, %i: tensor<7xi64>) {
  // expected-error@below {{'tarpon.roi_align' op expects input to be row-major, got 'tensor<2x3x8x9xf32, #tarpon.layout<nhwc>>'}}
  %y = tarpon.roi_align %x, %c, %i {half_pixel = true, samples = 2 : i64, scale = 1.0 : f64, sizes = array<i64: 3, 5>, takes_max = false} : (tensor<2x3x8x9xf32, #tarpon.layout<nhwc>>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x3x3x5xf32>
  return
}

// -----

// non_max_suppression C1: shapes
func.func @non_max_suppression_c1(%b: tensor<2x6x5xf32>, %s: tensor<2x4x6xf32>, %o: tensor<2x4x6xi64>) {
  // expected-error@below {{'tarpon.non_max_suppression' op expects boxes of shape [2, 6, 4], got 'tensor<2x6x5xf32>'}}
  %y:2 = tarpon.non_max_suppression %b, %s, %o {center_point = false, has_least = true, least_score = 0.5 : f64, limit = 3 : i64, most_overlap = 0.5 : f64} : (tensor<2x6x5xf32>, tensor<2x4x6xf32>, tensor<2x4x6xi64>) -> (tensor<24x3xi64>, tensor<1xi64>)
  return
}

// -----

// non_max_suppression C2: types
func.func @non_max_suppression_c2(%b: tensor<2x6x4xf32>, %s: tensor<2x4x6xf16>, %o: tensor<2x4x6xi64>) {
  // expected-error@below {{'tarpon.non_max_suppression' op expects boxes and scores of one type, got 'tensor<2x6x4xf32>' and 'tensor<2x4x6xf16>'}}
  %y:2 = tarpon.non_max_suppression %b, %s, %o {center_point = false, has_least = true, least_score = 0.5 : f64, limit = 3 : i64, most_overlap = 0.5 : f64} : (tensor<2x6x4xf32>, tensor<2x4x6xf16>, tensor<2x4x6xi64>) -> (tensor<24x3xi64>, tensor<1xi64>)
  return
}

// -----

// non_max_suppression C3: limit
func.func @non_max_suppression_c3(%b: tensor<2x6x4xf32>, %s: tensor<2x4x6xf32>, %o: tensor<2x4x6xi64>) {
  // expected-error@below {{'tarpon.non_max_suppression' op expects a positive limit, got 0}}
  %y:2 = tarpon.non_max_suppression %b, %s, %o {center_point = false, has_least = true, least_score = 0.5 : f64, limit = 0 : i64, most_overlap = 0.5 : f64} : (tensor<2x6x4xf32>, tensor<2x4x6xf32>, tensor<2x4x6xi64>) -> (tensor<24x3xi64>, tensor<1xi64>)
  return
}

// -----

// non_max_suppression C4: layout
func.func @non_max_suppression_c4(%b: tensor<2x6x4xf32>, %s: tensor<2x4x6xf32, #tarpon.layout<nhwc>>, %o: tensor<2x4x6xi64>) {
  // expected-error@below {{'tarpon.non_max_suppression' op expects scores to be row-major, got 'tensor<2x4x6xf32, #tarpon.layout<nhwc>>'}}
  %y:2 = tarpon.non_max_suppression %b, %s, %o {center_point = false, has_least = true, least_score = 0.5 : f64, limit = 3 : i64, most_overlap = 0.5 : f64} : (tensor<2x6x4xf32>, tensor<2x4x6xf32, #tarpon.layout<nhwc>>, tensor<2x4x6xi64>) -> (tensor<24x3xi64>, tensor<1xi64>)
  return
}
