//===- Reference.h - The parts of the reference solver ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per group of operations. Each plans scalar loops over the places
// of the result that follow the operation's definition word by word: they are
// what every other solver is compared with.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_REFERENCE_H
#define TARPON_KERNELS_REFERENCE_REFERENCE_H

#include "TensorAccess.h"

namespace tarpon::reference {

SolutionPlan planConv(const Problem &problem);
SolutionPlan planMatMul(const Problem &problem);
/// max_pool, avg_pool, global_max_pool, global_avg_pool
SolutionPlan planPool(const Problem &problem);
SolutionPlan planBatchNorm(const Problem &problem);
SolutionPlan planSoftmax(const Problem &problem);
SolutionPlan planLrn(const Problem &problem);
SolutionPlan planElementwise(const Problem &problem);
SolutionPlan planConcat(const Problem &problem);
SolutionPlan planTranspose(const Problem &problem);
SolutionPlan planPad(const Problem &problem);
SolutionPlan planConvert(const Problem &problem);
SolutionPlan planReshape(const Problem &problem);

/// Operand `index` of a problem, indexed by places in `indexShape`.
TensorAccess accessOperand(LaunchBuilder &launch, const Problem &problem,
                           int64_t index, llvm::ArrayRef<int64_t> indexShape);

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_REFERENCE_H
