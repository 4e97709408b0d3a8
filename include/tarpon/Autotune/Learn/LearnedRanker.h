//===- LearnedRanker.h - Ranks solutions by a learned model -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_LEARNEDRANKER_H
#define TARPON_AUTOTUNE_LEARN_LEARNEDRANKER_H

#include "tarpon/Autotune/Learn/LearnedModel.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"

#include <memory>
#include <optional>
#include <string>

namespace tarpon {

/// Answers for problems of kinds, a target and a number of threads that its
/// model was trained on; its source is "heuristic". A solver that the model
/// does not know comes behind those that it knows, by expected fraction and
/// with its default config; the reference comes last.
class LearnedRanker : public SolutionRanker {
public:
  explicit LearnedRanker(LearnedModel model) : model(std::move(model)) {}

  std::vector<Solution> rank(const Problem &problem,
                             const TargetInfo &target) const override;

  /// Gives NaN for configs of solvers that the model does not know.
  std::vector<double> expectMs(const Problem &problem,
                               llvm::ArrayRef<SolverConfig> candidates,
                               const TargetInfo &target) const override;

  /// Explains why rank() has no answer, in a sentence without a full stop; none
  /// if it has one.
  std::optional<std::string> explainAbstention(const Problem &problem,
                                               const TargetInfo &target) const;

  /// Describes the error of the answers for such a problem, and how it was
  /// estimated; "" if the model was judged on none.
  std::string describeError(const Problem &problem) const;

  const LearnedModel &getModel() const { return model; }

private:
  LearnedModel model;
};

/// Makes a ranker with the model of the user's store, else of the system store
/// (null for none). Returns null if neither has one. A model that cannot be
/// used is skipped, and a sentence about it is added to `remarks`.
std::unique_ptr<LearnedRanker>
loadLearnedRanker(const Journal &user, const Journal *system,
                  std::vector<std::string> &remarks);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_LEARNEDRANKER_H
