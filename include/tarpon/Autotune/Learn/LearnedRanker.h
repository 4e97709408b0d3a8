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

/// Answers for problems of kinds and a number of threads that its model was
/// trained on, on all CPUs of the architecture; its source is "heuristic". A
/// solver that the model
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
  /// estimated; "" if the model was judged on none. Says so if the CPU took no
  /// part in training.
  std::string describeError(const Problem &problem,
                            const TargetInfo &target) const;

  const LearnedModel &getModel() const { return model; }

private:
  LearnedModel model;
};

/// The file in a folder of stores with the model for all CPUs of the target's
/// architecture: "x86-64.model".
std::string getModelPath(llvm::StringRef folder, const TargetInfo &target);

/// Writes a model into a file of its own.
runtime::Status writeModelFile(const LearnedModel &model,
                               const std::string &path);

/// Makes a ranker with the first model that there is: of the target in the
/// user's store or in the system store (null for none), then of any CPU in the
/// user's folder or, if there is a system store's `folder`, there. Returns null
/// if there is none. A model that cannot be used is skipped, and a sentence
/// about it is added to `remarks`.
std::unique_ptr<LearnedRanker>
loadLearnedRanker(const TargetInfo &target, const Journal &user,
                  const Journal *system, std::vector<std::string> &remarks);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_LEARNEDRANKER_H
