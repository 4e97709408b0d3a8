//===- RankerEvaluation.h - How good first choices are ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_RANKEREVALUATION_H
#define TARPON_AUTOTUNE_LEARN_RANKEREVALUATION_H

#include "tarpon/Autotune/Learn/LearnedModel.h"
#include "tarpon/Autotune/Learn/MeasuredProblems.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// One first choice beside what tuning found.
struct RankedProblem {
  const MeasuredProblem *problem = nullptr;
  std::string solver, config;
  /// Of the tuned speed, at most 1: 0 if the choice was rejected when it was
  /// measured, none if it never was.
  std::optional<double> fraction;
};

/// Asks the ranker; problems on which it abstains are left out.
std::vector<RankedProblem>
rankProblems(const SolutionRanker &ranker,
             llvm::ArrayRef<const MeasuredProblem *> problems,
             const TargetInfo &target);

/// By kind, in alphabetical order, then of "all". A rejected choice counts as
/// a thousandth of the tuned speed in the mean.
std::vector<RankingError>
summarizeRanking(llvm::ArrayRef<RankedProblem> ranked);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_RANKEREVALUATION_H
