//===- Slices.h - Tensors that lie in others --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts that the passes that make joins and slices share.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_SLICES_H
#define TARPON_LIB_PASSES_SLICES_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::detail {

/// The layout of slices of a tensor of `type`.
LayoutAttr getSliceLayout(mlir::RankedTensorType type);

/// Whether the solver that the region's problem would be given takes `sliced`,
/// too: what a copy costs is less than what a slower solver would.
bool takesSlice(FusedOp op, const Problem &sliced, const TargetInfo &target);

/// The same if the operand `value` is a slice of this pitch.
bool readsSlice(FusedOp op, mlir::Value value, int64_t pitch,
                const TargetInfo &target);

/// Follows the new type of an operand inside of the region, up to a convert.
void retypeOperand(FusedOp op, unsigned index);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_SLICES_H
