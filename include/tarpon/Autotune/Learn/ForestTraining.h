//===- ForestTraining.h - Grows regression trees ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradient boosting with squared error (Friedman 2001; see Forest.h), on
// features that were cut into bins, each tree growing at the leaf that gains
// most (Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision
// Tree", NeurIPS 2017). Rows and features are drawn anew for each tree
// (Friedman, "Stochastic Gradient Boosting", 2002).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_FORESTTRAINING_H
#define TARPON_AUTOTUNE_LEARN_FORESTTRAINING_H

#include "tarpon/Autotune/Learn/Forest.h"

#include <cstdint>
#include <vector>

namespace tarpon {

/// Rows of features with what is to be predicted of them.
struct TrainingRows {
  size_t columns = 0;
  /// One row behind the other.
  std::vector<float> features;
  std::vector<float> targets;
  /// How much an error counts; positive.
  std::vector<float> weights;

  size_t size() const { return targets.size(); }
};

struct BoostingOptions {
  int trees = 150;
  int leaves = 16;
  /// How much of what a tree says is taken.
  double learningRate = 0.1;
  /// A leaf has rows of so much weight at least, where the mean weight is 1.
  double minLeafWeight = 4;
  /// Added to the weight of a leaf: draws its answer towards 0.
  double shrinkage = 2;
  /// Parts of the rows and of the features that a tree sees.
  double rowShare = 0.8, columnShare = 0.7;
  uint64_t seed = 1;
};

/// The same forest for the same rows, options and seed, on one thread.
Forest growForest(const TrainingRows &rows, const BoostingOptions &options);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_FORESTTRAINING_H
