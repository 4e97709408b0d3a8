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

/// Rows of features with the values to predict.
struct TrainingRows {
  size_t columns = 0;
  /// The rows, one after the other.
  std::vector<float> features;
  std::vector<float> targets;
  /// The weight of each row's error; positive.
  std::vector<float> weights;

  size_t size() const { return targets.size(); }
};

struct BoostingOptions {
  int trees = 150;
  int leaves = 16;
  /// The learning rate: each tree's answer is multiplied by it.
  double learningRate = 0.1;
  /// The least weight of a leaf's rows, where the mean weight of a row is 1.
  double minLeafWeight = 4;
  /// A constant that is added to the weight of a leaf and draws its answer
  /// towards 0.
  double shrinkage = 2;
  /// The shares of the rows and of the features that a tree is grown from.
  double rowShare = 0.8, columnShare = 0.7;
  uint64_t seed = 1;
};

/// Grows a forest. The result depends on rows, options and seed only; one
/// thread is used.
Forest growForest(const TrainingRows &rows, const BoostingOptions &options);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_FORESTTRAINING_H
