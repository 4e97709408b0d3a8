//===- SubSolution.h - Builds solutions from other solutions ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_SUBSOLUTION_H
#define TARPON_LIB_KERNELS_COMMON_SUBSOLUTION_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Appends the launches of the first-ranking solver for `problem` in its
/// default config; they read `operands` and write `result`. They must need
/// neither workspace nor constant operands.
void appendSolution(SolutionPlan &plan, const Problem &problem,
                    const TargetInfo &target,
                    llvm::ArrayRef<BufferSlot> operands, BufferSlot result);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_SUBSOLUTION_H
