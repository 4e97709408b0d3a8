//===- FeatureBins.h - Features divided into bins ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_LEARN_FEATUREBINS_H
#define TARPON_LIB_AUTOTUNE_LEARN_FEATUREBINS_H

#include "tarpon/Autotune/Learn/ForestTraining.h"

#include <cstdint>
#include <vector>

namespace tarpon {

/// Represents every feature as a small number, so that one pass over a leaf's
/// rows finds its best cut.
class FeatureBins {
public:
  static constexpr size_t kMaxBins = 256;

  explicit FeatureBins(const TrainingRows &rows);

  /// The bins of one row, one byte for each column.
  const uint8_t *row(size_t index) const {
    return bins.data() + index * cuts.size();
  }
  /// A feature is in bin `b` or an earlier one if it is at most
  /// cuts(column)[b]. The last bin has no cut.
  const std::vector<float> &getCuts(size_t column) const {
    return cuts[column];
  }

private:
  std::vector<std::vector<float>> cuts;
  std::vector<uint8_t> bins;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_LEARN_FEATUREBINS_H
