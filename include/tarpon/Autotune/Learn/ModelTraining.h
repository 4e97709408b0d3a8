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

/// The defaults were chosen by leaving out one network of training after the
/// other, never by the networks that are held out; docs/heuristics.md has the
/// figures.
struct TrainingOptions {
  BoostingOptions solvers, configs;
  /// The slowdown against the best solution, in powers of two, beyond which all
  /// solutions count as equally bad.
  double solverCap = 2, configCap = 1;
  /// The rate at which rows lose weight with every power of two behind the
  /// best.
  double solverFocus = 1, configFocus = 2;
  uint64_t seed = 1;

  TrainingOptions();
};

/// Trains on all of the problems, of which there is at least one; the caller
/// leaves out the held-out ones. They may come from several CPUs, with the same
/// number of threads. The errors and `split` of the result are empty.
/// Deterministic: the same problems and options give the same model.
LearnedModel trainModel(llvm::ArrayRef<const MeasuredProblem *> problems,
                        const TrainingOptions &options = {});

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_MODELTRAINING_H
