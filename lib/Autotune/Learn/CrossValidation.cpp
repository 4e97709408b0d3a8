//===- CrossValidation.cpp - Judges training by its own networks ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/CrossValidation.h"

#include "tarpon/Autotune/Learn/LearnedRanker.h"

using namespace tarpon;

using ProblemList = std::vector<const MeasuredProblem *>;

/// Adds the result of training on the rest, unless one of the lists is empty.
static void addFold(const std::string &name, const ProblemList &training,
                    const ProblemList &left, const TrainingOptions &options,
                    std::vector<FoldResult> &folds) {
  if (left.empty() || training.empty())
    return;
  LearnedRanker ranker(trainModel(training, options));
  folds.push_back({name, rankProblems(ranker, left)});
}

std::vector<FoldResult>
tarpon::crossValidate(llvm::ArrayRef<const MeasuredProblem *> problems,
                      const TrainingOptions &options) {
  std::set<std::string> networks;
  for (const MeasuredProblem *problem : problems)
    networks.insert(problem->networks.begin(), problem->networks.end());
  std::vector<FoldResult> folds;
  for (const std::string &network : networks) {
    ProblemList training, left;
    for (const MeasuredProblem *problem : problems) {
      bool isLeftOut =
          problem->networks.size() == 1 && problem->networks.count(network);
      (isLeftOut ? left : training).push_back(problem);
    }
    addFold(network, training, left, options, folds);
  }
  return folds;
}

std::vector<FoldResult>
tarpon::leaveOutCpus(llvm::ArrayRef<const MeasuredProblem *> problems,
                     const TrainingOptions &options) {
  std::set<std::string> names;
  for (const MeasuredProblem *problem : problems)
    names.insert(problem->targetName);
  std::vector<FoldResult> folds;
  for (const std::string &name : names) {
    ProblemList training, left;
    for (const MeasuredProblem *problem : problems)
      (problem->targetName == name ? left : training).push_back(problem);
    addFold(name, training, left, options, folds);
  }
  return folds;
}
