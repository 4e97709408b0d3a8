//===- RuleTables.h - The rules of each group of operations -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PROBLEM_RULES_RULETABLES_H
#define TARPON_LIB_PROBLEM_RULES_RULETABLES_H

#include "tarpon/Problem/OpRules.h"

namespace tarpon {

llvm::ArrayRef<OpRule> getConvRules();
llvm::ArrayRef<OpRule> getConvBackwardRules();
llvm::ArrayRef<OpRule> getElementwiseRules();
llvm::ArrayRef<OpRule> getGemmRules();
llvm::ArrayRef<OpRule> getIndexRules();
llvm::ArrayRef<OpRule> getMovementRules();
llvm::ArrayRef<OpRule> getNormRules();
llvm::ArrayRef<OpRule> getPoolRules();
llvm::ArrayRef<OpRule> getPoolGradientRules();
llvm::ArrayRef<OpRule> getPoolIndicesRules();
llvm::ArrayRef<OpRule> getReduceRules();
llvm::ArrayRef<OpRule> getRecurrentRules();
llvm::ArrayRef<OpRule> getResizeRules();
llvm::ArrayRef<OpRule> getSampleRules();

} // namespace tarpon

#endif // TARPON_LIB_PROBLEM_RULES_RULETABLES_H
