//===- BilinearScheme.h - Products of blocks by fewer products --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scheme multiplies two matrices of `parts` by `parts` blocks: each of its
// products is a sum of blocks of the left-hand side times a sum of blocks of
// the right-hand side, and each block of the result is a sum of products.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_STRASSEN_BILINEARSCHEME_H
#define TARPON_LIB_KERNELS_HOST_STRASSEN_BILINEARSCHEME_H

#include <cstdint>
#include <vector>

namespace tarpon::strassen {

/// A block, at row * parts + column, and its sign.
struct Term {
  int64_t block;
  int sign;
};

/// The first term of a sum of left-hand blocks is positive.
using Sum = std::vector<Term>;

/// One of the products, and the blocks of the result that it is added to.
struct Product {
  Sum left, right, result;
};

struct BilinearScheme {
  int64_t parts = 1;
  std::vector<Product> products;

  int64_t rank() const { return static_cast<int64_t>(products.size()); }
  int64_t blocks() const { return parts * parts; }
};

/// Seven products for two parts, and with more levels the same for the blocks
/// of the blocks. Strassen, "Gaussian Elimination is not Optimal", Numerische
/// Mathematik 13, 1969.
BilinearScheme makeStrassenScheme(int64_t levels);

} // namespace tarpon::strassen

#endif // TARPON_LIB_KERNELS_HOST_STRASSEN_BILINEARSCHEME_H
