//===- CrossValidation.cpp - Judges training by its own networks ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/CrossValidation.h"

#include "tarpon/Autotune/Learn/LearnedRanker.h"

using namespace tarpon;

std::vector<FoldResult>
tarpon::crossValidate(llvm::ArrayRef<const MeasuredProblem *> problems,
                      const TargetInfo &target,
                      const TrainingOptions &options) {
  std::set<std::string> networks;
  for (const MeasuredProblem *problem : problems)
    networks.insert(problem->networks.begin(), problem->networks.end());
  std::vector<FoldResult> folds;
  for (const std::string &network : networks) {
    std::vector<const MeasuredProblem *> training, left;
    for (const MeasuredProblem *problem : problems) {
      bool isLeftOut =
          problem->networks.size() == 1 && problem->networks.count(network);
      (isLeftOut ? left : training).push_back(problem);
    }
    if (left.empty() || training.empty())
      continue;
    LearnedRanker ranker(trainModel(training, target, options));
    folds.push_back({network, rankProblems(ranker, left, target)});
  }
  return folds;
}
