//===- FeatureBins.cpp - Features divided into bins -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FeatureBins.h"

#include <algorithm>

using namespace tarpon;

/// Chooses cuts between neighbouring values; if there are more values than
/// bins, such that bins have equally many rows, as far as equal values allow.
static std::vector<float> chooseCuts(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  std::vector<float> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  size_t most = FeatureBins::kMaxBins;
  std::vector<float> cuts;
  auto cutBelow = [&](float above) {
    auto it = std::lower_bound(distinct.begin(), distinct.end(), above);
    if (it == distinct.begin())
      return;
    float below = *(it - 1);
    float cut = below + (above - below) / 2;
    // Rounding must not put both values on one side.
    if (!(cut < above))
      cut = below;
    if (cuts.empty() || cut > cuts.back())
      cuts.push_back(cut);
  };
  if (distinct.size() <= most) {
    for (float value : distinct)
      cutBelow(value);
    return cuts;
  }
  for (size_t i = 1; i < most; ++i)
    cutBelow(values[i * values.size() / most]);
  return cuts;
}

FeatureBins::FeatureBins(const TrainingRows &rows)
    : cuts(rows.columns), bins(rows.features.size()) {
  std::vector<float> column(rows.size());
  for (size_t c = 0; c < rows.columns; ++c) {
    for (size_t i = 0; i < rows.size(); ++i)
      column[i] = rows.features[i * rows.columns + c];
    cuts[c] = chooseCuts(column);
    for (size_t i = 0; i < rows.size(); ++i) {
      auto bin = std::lower_bound(cuts[c].begin(), cuts[c].end(), column[i]);
      bins[i * rows.columns + c] = static_cast<uint8_t>(bin - cuts[c].begin());
    }
  }
}
