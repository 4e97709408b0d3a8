//===- RegionLayout.h - The layout that a region computes in ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_REGIONLAYOUT_H
#define TARPON_LIB_PASSES_REGIONLAYOUT_H

#include "tarpon/IR/TarponOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tarpon::detail {

/// The layout of that name; null, and an error at the op, if there is none.
LayoutAttr parsePassLayout(mlir::Operation *op, llvm::StringRef name);

/// Returns true if a convert makes the value of one in the layout.
bool isConvertedFrom(mlir::Value value, LayoutAttr layout);

/// Returns true if all ops that read a region's argument, perhaps through a
/// convert, read it as a parameter, whose layout is not chosen.
bool isParameter(mlir::Value argument);

/// Returns true if all ops of the region support the layout, and one of them
/// prefers it or `isInLayout` is true of an operand of the region that is no
/// parameter: a layout for a region that gains nothing from it costs
/// conversions. A region that converts takes any layout and prefers none.
bool computesInLayout(FusedOp op, LayoutAttr layout,
                      llvm::function_ref<bool(mlir::Value operand)> isInLayout);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_REGIONLAYOUT_H
