//===- ProblemWeights.h - Divides a model's time ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_PROBLEMWEIGHTS_H
#define TARPON_LIB_AUTOTUNE_TUNING_PROBLEMWEIGHTS_H

#include "Tuning/ChoicePlan.h"
#include "Tuning/TuningSchedule.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/Solver.h"

#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// The kind of a problem's search: those of one operation in one layout and
/// dtype save alike.
std::string getSearchKind(const Problem &problem, const GlobalChoice &choice);

/// Divides the time of a plan among its problems, which are given with the
/// names of their first layers.
std::vector<ScheduledProblem>
weighProblems(const std::vector<std::pair<std::string, Problem>> &problems,
              const ChoicePlan &plan, const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_PROBLEMWEIGHTS_H
