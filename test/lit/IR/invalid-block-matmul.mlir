// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of tarpon.block_matmul by their numbers.

// C1
func.func @c1(%x: tensor<1x64xf32>, %w: tensor<8x2x12xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects 4 or 8 bits, got 3}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 3 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x12xui8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C2
func.func @c2(%x: tensor<1x60xf32>, %w: tensor<8x5x6xui8>, %s: tensor<8x5xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects blocks of a multiple of 8 elements, got 12}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 12 : i64} : (tensor<1x60xf32>, tensor<8x5x6xui8>, tensor<8x5xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C2: positive
func.func @c2_2(%x: tensor<1x60xf32>, %w: tensor<8x5x6xui8>, %s: tensor<8x5xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects blocks of a multiple of 8 elements, got -8}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = -8 : i64} : (tensor<1x60xf32>, tensor<8x5x6xui8>, tensor<8x5xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C3: the lhs
func.func @c3(%x: tensor<64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects a lhs of rank 2 or more and weights of rank 3, got 1 and 3}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<8xf32>
  return
}

// -----

// C3: the weights
func.func @c3_2(%x: tensor<1x64xf32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects a lhs of rank 2 or more and weights of rank 3, got 2 and 2}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x32xui8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C4: a third block begins at 64
func.func @c4(%x: tensor<1x65xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects weights of 3 blocks of 16 bytes, got 2 of 16}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x65xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C4: the bytes of a block
func.func @c4_2(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects weights of 2 blocks of 32 bytes, got 2 of 16}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 8 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C5: one operand of zero points
func.func @c5(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // expected-error@below {{'tarpon.block_matmul' op expects one operand of zero points at most, got 2}}
  %y = tarpon.block_matmul %x, %w, %s, %z, %z {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>, tensor<8x2xui8>, tensor<8x2xui8>) -> tensor<1x8xf32>
  return
}

// -----

// C5: packed zero points
func.func @c5_2(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>, %z: tensor<8x1xui8>) {
  // expected-error@below {{'tarpon.block_matmul' op expects scales and zero points of 8 x 2 elements}}
  %y = tarpon.block_matmul %x, %w, %s, %z {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>, tensor<8x1xui8>) -> tensor<1x8xf32>
  return
}

// -----

// C6: the lhs
func.func @c6(%x: tensor<1x64xf16>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects a lhs of f32, got 'f16'}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf16>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<1x8xf16>
  return
}

// -----

// C6: the weights
func.func @c6_2(%x: tensor<1x64xf32>, %w: tensor<8x2x16xi8>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects weights of ui8, got 'i8'}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xi8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

// C6: the scales
func.func @c6_3(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf16>) {
  // expected-error@below {{'tarpon.block_matmul' op expects scales of f32, got 'f16'}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf16>) -> tensor<1x8xf32>
  return
}

// -----

// C6: the zero points
func.func @c6_4(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xi8>) {
  // expected-error@below {{'tarpon.block_matmul' op expects zero points of ui8, got 'i8'}}
  %y = tarpon.block_matmul %x, %w, %s, %z {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>, tensor<8x2xi8>) -> tensor<1x8xf32>
  return
}

// -----

// C7
func.func @c7(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8, #tarpon.layout<nhwc>>, %s: tensor<8x2xf32>) {
  // expected-error@below {{'tarpon.block_matmul' op expects weights to be row-major, got 'tensor<8x2x16xui8, #tarpon.layout<nhwc>>'}}
  %y = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8, #tarpon.layout<nhwc>>, tensor<8x2xf32>) -> tensor<1x8xf32>
  return
}
