//===- PointwiseConv.h - Convolutions that mix channels only ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_POINTWISECONV_H
#define TARPON_LIB_PASSES_POINTWISECONV_H

#include "tarpon/IR/TarponOps.h"

namespace tarpon::detail {

/// Returns true if each result pixel is a matrix product of the input pixel at
/// its place with one constant filter, in f32, outside of regions.
bool isPointwise(ConvOp op);

/// The type with another size in one dimension.
mlir::RankedTensorType withDim(mlir::RankedTensorType type, int64_t dim,
                               int64_t size);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_POINTWISECONV_H
