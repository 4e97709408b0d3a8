//===- IntegerProducts.h - Products of integers -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_INTEGERPRODUCTS_H
#define TARPON_LIB_IMPORT_INTEGERPRODUCTS_H

#include "OnnxNode.h"

namespace tarpon {

/// Sums of up to this many products of differences of bytes (255 * 255) are
/// exact in f32, whose integers are exact up to 2^24. Longer sums are computed
/// in i32 or f64.
constexpr int64_t kExactDepth = 256;

/// Returns input `index`, 0 or 1, minus the zero point two inputs behind it, in
/// f32, which holds the differences of bytes exactly. Several zero points are
/// those of dimension `axis`.
mlir::Value subtractZeroPoint(OnnxNode &node, unsigned index, int64_t axis);

/// Returns input 0 times input 1, less their zero points, which are inputs 2
/// and 3, in i32, by products that kernels for bytes compute: of a matrix of
/// bytes that is known at run time, with one zero point at most, and a constant
/// one, which fits i8 without its zero points. Null, without an error, for
/// others.
mlir::Value multiplyBytes(OnnxNode &node);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_INTEGERPRODUCTS_H
