//===- FusedProblem.h - The problem that a fused region poses ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_FUSEDPROBLEM_H
#define TARPON_IR_FUSEDPROBLEM_H

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Problem/Problem.h"

namespace tarpon {

/// The problem that the region poses, computed from its ops and types.
Problem getProblem(FusedOp op);

/// The problem that the region holds. Computes it, and has the region hold it,
/// if it holds none yet.
ProblemAttr poseProblem(FusedOp op);

/// How one tensor type is stored. Its elements are of a type that tensors may
/// hold (see isElementType).
TensorDesc getTensorDesc(mlir::RankedTensorType type, bool constant);

} // namespace tarpon

#endif // TARPON_IR_FUSEDPROBLEM_H
