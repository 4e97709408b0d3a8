//===- ProductRounding.h - Rounding of products' factors --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_PRODUCTROUNDING_H
#define TARPON_SOLVER_PRODUCTROUNDING_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/TargetInfo.h"

namespace tarpon {

/// Returns the relative error that a product of two elements may have because
/// the target's solvers round them to fewer bits than they are stored in. 0 if
/// none does, as everywhere without a user's permission.
double getProductRounding(const Problem &problem, const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_SOLVER_PRODUCTROUNDING_H
