// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of the pooling ops by their numbers.

// max_pool C1: rank
func.func @max_pool_c1(%x: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects an input of rank 3 to 5, got 2}}
  %y = tarpon.max_pool %x {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>}
       : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

// max_pool C2: kernel
func.func @max_pool_c2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects 2 entries in kernel, got 1}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C2: strides
func.func @max_pool_c2_2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects 2 entries in strides, got 3}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C2: dilations
func.func @max_pool_c2_3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects 2 entries in dilations, got 1}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C2: pads
func.func @max_pool_c2_4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects 4 entries in pads, got 2}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C3: kernel
func.func @max_pool_c3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects entries of at least 1 in kernel, got 0}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C3: strides
func.func @max_pool_c3_2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects entries of at least 1 in strides, got 0}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C3: dilations
func.func @max_pool_c3_3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects entries of at least 1 in dilations, got -1}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, -1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C3: pads
func.func @max_pool_c3_4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects entries of at least 0 in pads, got -1}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, -1>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool C4: the kernel fits
func.func @max_pool_c4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op expects the dilated kernel to fit into the padded input, got 10 and 9 in spatial dimension 0}}
  %y = tarpon.max_pool %x {kernel = array<i64: 10, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// max_pool result
func.func @max_pool_result(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool' op inferred type(s) 'tensor<1x4x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x4x6x6xf16>'}}
  %y = tarpon.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf16>
  return
}

// -----

// avg_pool C1: rank
func.func @avg_pool_c1(%x: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects an input of rank 3 to 5, got 2}}
  %y = tarpon.avg_pool %x {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>}
       : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

// avg_pool C2: kernel
func.func @avg_pool_c2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects 2 entries in kernel, got 1}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C2: strides
func.func @avg_pool_c2_2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects 2 entries in strides, got 3}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C2: dilations
func.func @avg_pool_c2_3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects 2 entries in dilations, got 1}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C2: pads
func.func @avg_pool_c2_4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects 4 entries in pads, got 2}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C3: kernel
func.func @avg_pool_c3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects entries of at least 1 in kernel, got 0}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C3: strides
func.func @avg_pool_c3_2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects entries of at least 1 in strides, got 0}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C3: dilations
func.func @avg_pool_c3_3(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects entries of at least 1 in dilations, got -1}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, -1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C3: pads
func.func @avg_pool_c3_4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects entries of at least 0 in pads, got -1}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, -1>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool C4: the kernel fits
func.func @avg_pool_c4(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op expects the dilated kernel to fit into the padded input, got 10 and 9 in spatial dimension 0}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 10, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// avg_pool result
func.func @avg_pool_result(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.avg_pool' op inferred type(s) 'tensor<1x4x6x6xf32>' are incompatible with return type(s) of operation 'tensor<1x4x6x6xf16>'}}
  %y = tarpon.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
       : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf16>
  return
}

// -----

// global_avg_pool C1: rank
func.func @global_avg_pool_c1(%x: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.global_avg_pool' op expects an input of rank 3 to 5, got 2}}
  %y = tarpon.global_avg_pool %x : (tensor<1x4xf32>) -> tensor<1x4x1x1xf32>
  return
}

// -----

// global_avg_pool C1: rank
func.func @global_avg_pool_c1_2(%x: tensor<1x4x1x1x1x1xf32>) {
  // expected-error@below {{'tarpon.global_avg_pool' op expects an input of rank 3 to 5, got 6}}
  %y = tarpon.global_avg_pool %x : (tensor<1x4x1x1x1x1xf32>) -> tensor<1x4x1x1xf32>
  return
}

// -----

// global_avg_pool result
func.func @global_avg_pool_result(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.global_avg_pool' op inferred type(s) 'tensor<1x4x1x1xf32>' are incompatible with return type(s) of operation 'tensor<1x4xf32>'}}
  %y = tarpon.global_avg_pool %x : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  return
}

// -----

// global_max_pool C1: rank
func.func @global_max_pool_c1(%x: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.global_max_pool' op expects an input of rank 3 to 5, got 2}}
  %y = tarpon.global_max_pool %x : (tensor<1x4xf32>) -> tensor<1x4x1x1xf32>
  return
}

// -----

// global_max_pool C1: rank
func.func @global_max_pool_c1_2(%x: tensor<1x4x1x1x1x1xf32>) {
  // expected-error@below {{'tarpon.global_max_pool' op expects an input of rank 3 to 5, got 6}}
  %y = tarpon.global_max_pool %x : (tensor<1x4x1x1x1x1xf32>) -> tensor<1x4x1x1xf32>
  return
}

// -----

// global_max_pool result
func.func @global_max_pool_result(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.global_max_pool' op inferred type(s) 'tensor<1x4x1x1xf32>' are incompatible with return type(s) of operation 'tensor<1x4xf32>'}}
  %y = tarpon.global_max_pool %x : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  return
}

// -----

// max_pool_indices C1: rank
func.func @max_pool_indices_c1(%x: tensor<1x4xf32>) {
  // expected-error@below {{'tarpon.max_pool_indices' op expects an input of rank 3 to 5, got 2}}
  %y:2 = tarpon.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xi64>)
  return
}

// -----

// max_pool_indices C2: kernel
func.func @max_pool_indices_c2(%x: tensor<1x4x8x8xf32>) {
  // expected-error@below {{'tarpon.max_pool_indices' op expects 2 entries in kernel, got 1}}
  %y:2 = tarpon.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>)
  return
}

// -----

// max_pool_indices C5: floats
func.func @max_pool_indices_c5(%x: tensor<1x4x8xi8>) {
  // expected-error@below {{'tarpon.max_pool_indices' op expects input to hold floats, got 'tensor<1x4x4xi8>'}}
  %y:2 = tarpon.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x8xi8>) -> (tensor<1x4x4xi8>, tensor<1x4x4xi64>)
  return
}

// -----

// max_pool_indices results
func.func @max_pool_indices_results(%x: tensor<1x4x8xf32>) {
  // expected-error@below {{'tarpon.max_pool_indices' op inferred type(s) 'tensor<1x4x4xf32>', 'tensor<1x4x4xi64>' are incompatible with return type(s) of operation 'tensor<1x4x4xf32>', 'tensor<1x4x4xi32>'}}
  %y:2 = tarpon.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x8xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xi32>)
  return
}

// -----

// max_unpool C1: rank
func.func @max_unpool_c1(%x: tensor<1x4xf32>, %i: tensor<1x4xi64>) {
  // expected-error@below {{'tarpon.max_unpool' op expects an input of rank 3 to 5, got 2}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64>} : (tensor<1x4xf32>, tensor<1x4xi64>) -> tensor<1x4xf32>
  return
}

// -----

// max_unpool C2: number of sizes
func.func @max_unpool_c2(%x: tensor<1x4x8xf32>, %i: tensor<1x4x8xi64>) {
  // expected-error@below {{'tarpon.max_unpool' op expects 1 entries in sizes, got 2}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64: 16, 1>} : (tensor<1x4x8xf32>, tensor<1x4x8xi64>) -> tensor<1x4x16xf32>
  return
}

// -----

// max_unpool C3: shape of the indices
func.func @max_unpool_c3(%x: tensor<1x4x8xf32>, %i: tensor<1x4x4xi64>) {
  // expected-error@below {{'tarpon.max_unpool' op expects indices of i64 for each element of 'tensor<1x4x8xf32>', got 'tensor<1x4x4xi64>'}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64: 16>} : (tensor<1x4x8xf32>, tensor<1x4x4xi64>) -> tensor<1x4x16xf32>
  return
}

// -----

// max_unpool C3: type of the indices
func.func @max_unpool_c3_2(%x: tensor<1x4x8xf32>, %i: tensor<1x4x8xi32>) {
  // expected-error@below {{'tarpon.max_unpool' op expects indices of i64 for each element of 'tensor<1x4x8xf32>', got 'tensor<1x4x8xi32>'}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64: 16>} : (tensor<1x4x8xf32>, tensor<1x4x8xi32>) -> tensor<1x4x16xf32>
  return
}

// -----

// max_unpool C4: floats
func.func @max_unpool_c4(%x: tensor<1x4x8xi8>, %i: tensor<1x4x8xi64>) {
  // expected-error@below {{'tarpon.max_unpool' op expects input to hold floats, got 'tensor<1x4x8xi8>'}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64: 16>} : (tensor<1x4x8xi8>, tensor<1x4x8xi64>) -> tensor<1x4x16xi8>
  return
}

// -----

// max_unpool C5: row-major
func.func @max_unpool_c5(%x: tensor<1x4x8xf32>, %i: tensor<1x4x8xi64, #tarpon.layout<nhwc>>) {
  // expected-error@below {{'tarpon.max_unpool' op expects indices to be row-major, got 'tensor<1x4x8xi64, #tarpon.layout<nhwc>>'}}
  %y = tarpon.max_unpool %x, %i {sizes = array<i64: 16>} : (tensor<1x4x8xf32>, tensor<1x4x8xi64, #tarpon.layout<nhwc>>) -> tensor<1x4x16xf32>
  return
}
