//===- Slices.h - Tensors that lie in others --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common parts of the passes that make joins and slices.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_SLICES_H
#define TARPON_LIB_PASSES_SLICES_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::detail {

/// The layout of slices of a tensor of `type`.
LayoutAttr getSliceLayout(mlir::RankedTensorType type);

/// Returns true if a slice may start at this element of its tensor.
bool canStartAt(int64_t element, mlir::Type elementType,
                const TargetInfo &target);

/// Returns true if the solver that the region's problem would get takes
/// `sliced`, too: a copy costs less than a slower solver would.
bool takesSlice(FusedOp op, const Problem &sliced, const TargetInfo &target);

/// Returns true if that solver takes the operand `value` as a slice of this
/// pitch.
bool readsSlice(FusedOp op, mlir::Value value, int64_t pitch,
                const TargetInfo &target);

/// Updates the types inside the region after an operand's type has changed, up
/// to a convert.
void retypeOperand(FusedOp op, unsigned index);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_SLICES_H
