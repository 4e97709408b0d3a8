//===- PartPlans.h - Solutions of two operations ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem with a producer is solved by two solutions, one after the other,
// and a value in the workspace between them:
//
//   [value][workspace of the producer's solution, then of the consumer's]
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_PARTPLANS_H
#define TARPON_LIB_KERNELS_COMMON_PARTPLANS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Renumbers the operands of a solution: operand i becomes places[i].
void renumberOperands(SolutionPlan &plan, llvm::ArrayRef<int64_t> places);

/// The operands of the problem that those of its consumer are, the first one of
/// which is `first`.
std::vector<int64_t> listConsumerOperands(const Problem &problem,
                                          int64_t first);

/// The workspace of both parts, whose solutions take so many bytes themselves.
int64_t getPartsWorkspace(const Problem &problem, int64_t ofProducer,
                          int64_t ofConsumer);

/// The solution of a problem with a producer. `producer` and `consumer` are
/// solutions of its parts.
SolutionPlan joinPlans(const Problem &problem, SolutionPlan producer,
                       SolutionPlan consumer);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_PARTPLANS_H
