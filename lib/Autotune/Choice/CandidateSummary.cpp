//===- CandidateSummary.cpp - Candidates in few words -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/CandidateSummary.h"

using namespace tarpon;

std::map<std::string, int64_t>
tarpon::countSources(const CandidateRecord &candidate) {
  std::map<std::string, int64_t> counts;
  for (const LayerRecord &layer : candidate.layers)
    ++counts[layer.source];
  return counts;
}

std::string tarpon::summarizeRegions(const GlobalChoice &choice) {
  std::map<RegionChoice, int64_t> counts;
  for (const RegionChoice &region : choice.regions)
    ++counts[region];
  std::string text;
  for (const auto &[region, count] : counts)
    text += (text.empty() ? "" : ", ") + printRegionChoice(region) + " " +
            std::to_string(count);
  return text;
}

std::string tarpon::judge(const TuningFile &record, size_t index) {
  const CandidateRecord &candidate = record.candidates[index];
  if (!candidate.failure.empty())
    return candidate.failure;
  if (static_cast<int64_t>(index) == record.winner)
    return "winner";
  if (!candidate.accuracy || candidate.accuracy->withinBudget)
    return "";
  return candidate.accuracy->budget ? "over the error budget"
                                    : "its metric drops too much";
}
