//===- RelatedProblems.h - What alike problems took -------------*- C++ -*-===//
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

/// Problems of one signature (operation, datatypes, layouts, ranks) are told
/// apart by the logarithms of their dimensions and attributes.
struct ProblemDescription {
  std::string signature;
  std::vector<double> features;
};
ProblemDescription describeProblem(const Problem &problem);

/// What to expect of candidates: the ranker's word, else the solvers' expected
/// fractions. `ranker` may be null.
std::vector<double> expectTimes(const Problem &problem,
                                llvm::ArrayRef<SolverConfig> candidates,
                                const TargetInfo &target,
                                const SolutionRanker *ranker);

/// Finds what the stores know of problems that are like the one to be searched.
class RelatedProblems {
public:
  /// The nearest problems of the same signature that have a right result in
  /// `journal` or in `system`, which may be null: the problem itself aside.
  std::vector<RelatedProblem>
  find(const Problem &problem, const Journal &journal, const Journal *system,
       const TargetInfo &target, const SolutionRanker *ranker);

private:
  struct Known {
    Problem problem;
    ProblemDescription description;
  };

  const Known *parse(const std::string &key);

  /// By key; what is no problem (an older version's) has no signature.
  std::map<std::string, Known> parsed;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_RELATEDPROBLEMS_H
