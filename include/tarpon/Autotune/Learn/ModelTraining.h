//===- ModelTraining.h - Learns from measurements ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_MODELTRAINING_H
#define TARPON_AUTOTUNE_LEARN_MODELTRAINING_H

#include "tarpon/Autotune/Learn/ForestTraining.h"
#include "tarpon/Autotune/Learn/LearnedModel.h"
#include "tarpon/Autotune/Learn/MeasuredProblems.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tarpon {

/// Chosen by leaving out one network of training after the other, and never by
/// what is held out; docs/heuristics.md has the figures.
struct TrainingOptions {
  BoostingOptions solvers, configs;
  /// Slower than the best by this many powers of two is as bad as anything
  /// that is slower still.
  double solverCap = 2, configCap = 1;
  /// How fast rows lose weight with every power of two behind the best.
  double solverFocus = 1, configFocus = 2;
  uint64_t seed = 1;

  TrainingOptions();
};

/// Trains on all of the problems, of which there is one at least; the caller
/// leaves out what is held out. `heldOut` and `split` of the result are empty.
/// The same model for the same problems and options.
LearnedModel trainModel(llvm::ArrayRef<const MeasuredProblem *> problems,
                        const TargetInfo &target,
                        const TrainingOptions &options = {});

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_MODELTRAINING_H
