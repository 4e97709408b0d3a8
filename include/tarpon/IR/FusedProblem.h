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

/// Computes the problem that the region poses from its ops and types, whatever
/// it holds. Passes that still decide what the region will be ask for it.
Problem getProblem(FusedOp op);

/// The problem that the region holds. A region that holds none is given it,
/// once nothing will change the region any more. Null, and an error of the
/// region, if no solver is ready for the problem (see findFault).
ProblemAttr poseProblem(FusedOp op);

/// How one tensor type is stored.
TensorDesc getTensorDesc(mlir::RankedTensorType type, bool constant);

} // namespace tarpon

#endif // TARPON_IR_FUSEDPROBLEM_H
