//===- FusedProblem.h - The problem that a fused region poses ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_FUSEDPROBLEM_H
#define TARPON_IR_FUSEDPROBLEM_H

#include "tarpon/IR/TarponOps.h"

namespace tarpon {

/// The operation of problems that an op is. The verifier of regions accepts
/// only such ops.
OpKind getOpKind(mlir::Operation *op);

/// Computes the problem that the region poses from its ops and types, whatever
/// problem it holds. Passes that still change the region use this.
Problem getProblem(FusedOp op);

/// Returns the problem that the region holds. A region that holds none gets it;
/// it must not change any more. Null, after an error of the region, if no
/// solver is ready for the problem (see findFault).
ProblemAttr poseProblem(FusedOp op);

/// The storage of a tensor type.
TensorDesc getTensorDesc(mlir::RankedTensorType type, bool constant);

} // namespace tarpon

#endif // TARPON_IR_FUSEDPROBLEM_H
