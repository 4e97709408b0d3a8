//===- RelatedProblems.h - Measurements of similar problems -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_METHODS_RELATEDPROBLEMS_H
#define TARPON_LIB_AUTOTUNE_SEARCH_METHODS_RELATEDPROBLEMS_H

#include "tarpon/Autotune/Search/SearchMethod.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"
#include "tarpon/Autotune/Store/Journal.h"

#include <map>
#include <string>
#include <vector>

namespace tarpon {

/// Describes a problem by its signature (operation, datatypes, layouts, ranks)
/// and, within a signature, by the logarithms of its dimensions and attributes.
struct ProblemDescription {
  std::string signature;
  std::vector<double> features;
};
ProblemDescription describeProblem(const Problem &problem);

/// The expected times of candidates: the ranker's, else by the solvers'
/// expected fractions. `ranker` may be null.
std::vector<double> expectTimes(const Problem &problem,
                                llvm::ArrayRef<SolverConfig> candidates,
                                const TargetInfo &target,
                                const SolutionRanker *ranker);

/// Finds records of problems that are similar to the one to be searched.
class RelatedProblems {
public:
  /// The nearest problems of the same signature, other than the problem itself,
  /// that have a right result in `journal` or in `system`, which may be null.
  std::vector<RelatedProblem>
  find(const Problem &problem, const Journal &journal, const Journal *system,
       const TargetInfo &target, const SolutionRanker *ranker);

private:
  struct Known {
    Problem problem;
    ProblemDescription description;
  };

  const Known *parse(const std::string &key);

  /// Problems by key; a key that is not valid (an older version's) has no
  /// signature.
  std::map<std::string, Known> parsed;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_RELATEDPROBLEMS_H
