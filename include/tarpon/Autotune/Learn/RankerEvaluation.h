//===- RankerEvaluation.h - Quality of a ranker's choices -------*- C++ -*-===//
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

/// A ranker's first choice for a problem, beside the tuned solution.
struct RankedProblem {
  const MeasuredProblem *problem = nullptr;
  std::string solver, config;
  /// The fraction of the tuned speed, at most 1: 0 if the choice was rejected
  /// when it was measured, none if it was never measured.
  std::optional<double> fraction;
};

/// Asks the ranker for its first choices, each for the machine that has
/// measured the problem; problems on which it abstains are left out.
std::vector<RankedProblem>
rankProblems(const SolutionRanker &ranker,
             llvm::ArrayRef<const MeasuredProblem *> problems);

/// Summarises by kind, in alphabetical order, then over all kinds ("all"). A
/// rejected choice counts as a thousandth of the tuned speed in the mean.
std::vector<RankingError>
summarizeRanking(llvm::ArrayRef<RankedProblem> ranked);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_RANKEREVALUATION_H
