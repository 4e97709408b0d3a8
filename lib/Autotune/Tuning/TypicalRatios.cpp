//===- TypicalRatios.cpp - Ratios of times by kind of problem -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TypicalRatios.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

std::string tarpon::getKind(const Problem &problem) {
  std::string key = problem.key();
  std::string kind = key.substr(0, key.find('('));
  for (const TensorDesc &tensor :
       {problem.operands.empty() ? problem.result : problem.operands.front(),
        problem.result})
    kind += " " + std::string(runtime::dtypeName(tensor.dtype)) +
            (tensor.quantized ? "q" : "");
  return kind;
}

static const char *const kAllKinds = "";

void TypicalRatios::add(const std::string &kind, double numerator,
                        double denominator) {
  if (!(numerator > 0 && denominator > 0))
    return;
  for (const std::string &one : {kind, std::string(kAllKinds)})
    ratios[one].emplace_back(numerator / denominator, denominator);
  summaries.clear();
}

/// Returns the first ratio with at least half of the weight up to it.
static double
getWeightedMedian(const std::vector<std::pair<double, double>> &sorted,
                  double weight) {
  double half = weight / 2;
  for (const auto &[ratio, own] : sorted) {
    half -= own;
    if (half <= 0)
      return ratio;
  }
  return sorted.back().first;
}

TypicalRatio TypicalRatios::summarize(Weighted list) const {
  llvm::sort(list);
  double weight = 0, deviation = 0;
  for (const auto &[ratio, own] : list)
    weight += own;
  double typical = getWeightedMedian(list, weight);
  for (const auto &[ratio, own] : list)
    deviation += own / weight * std::abs(ratio / typical - 1);
  auto count = static_cast<double>(list.size());
  double square =
      count * deviation * deviation + priorDeviation * priorDeviation;
  return {typical, std::sqrt(square / (count + 1))};
}

TypicalRatio TypicalRatios::find(const std::string &kind) const {
  auto known = ratios.find(kind);
  bool isOfKind = known != ratios.end();
  if (!isOfKind)
    known = ratios.find(kAllKinds);
  if (known == ratios.end())
    return {1, priorDeviation};
  auto [summary, isNew] = summaries.try_emplace(known->first);
  if (isNew)
    summary->second = summarize(known->second);
  TypicalRatio typical = summary->second;
  // Other kinds say little about this one.
  if (!isOfKind)
    typical.deviation = std::max(typical.deviation, priorDeviation);
  return typical;
}
