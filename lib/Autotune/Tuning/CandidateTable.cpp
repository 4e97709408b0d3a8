//===- CandidateTable.cpp - A table of the choices that were tried --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace tarpon;

/// Summarises the sources of the layers' solutions: "measured 21, default 2".
static std::string summarizeSources(const CandidateRecord &candidate) {
  std::map<std::string, int64_t> counts;
  for (const LayerRecord &layer : candidate.layers)
    ++counts[layer.source];
  std::string text;
  for (const auto &[source, count] : counts)
    text += (text.empty() ? "" : ", ") + source + " " + std::to_string(count);
  return text;
}

static std::string judge(const CandidateRecord &candidate, bool isWinner) {
  if (!candidate.failure.empty())
    return candidate.failure;
  if (isWinner)
    return "winner";
  return candidate.accuracy && !candidate.accuracy->withinBudget
             ? "over the error budget"
             : "";
}

std::string tarpon::formatCandidates(const TuningFile &record) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("  %-6s%-8s%-8s%12s%20s  %-28s%s\n", "dtype", "layout",
                     "fusion", "error", "time", "layers", "");
  for (auto [index, candidate] : llvm::enumerate(record.candidates)) {
    bool isWinner = static_cast<int64_t>(index) == record.winner;
    const GlobalChoice &choice = candidate.choice;
    os << llvm::format("%c %-6s%-8s%-8s", isWinner ? '*' : ' ',
                       getPrecisionName(choice.dtype).data(),
                       choice.layout.name().c_str(),
                       getFusionName(choice.fusion).data());
    if (candidate.accuracy)
      os << llvm::format("%12.2e", candidate.accuracy->value);
    else
      os << llvm::format("%12s", "-");
    if (candidate.pipeline &&
        candidate.pipeline->getTimeSource() == TimeSource::Modelled)
      os << llvm::format("%12.3f ms model", candidate.pipeline->median);
    else if (candidate.pipeline)
      os << llvm::format("%10.3f +- %.3f ms", candidate.pipeline->median,
                         candidate.pipeline->mad);
    else
      os << llvm::format("%20s", "-");
    os << llvm::format("  %-28s%s\n", summarizeSources(candidate).c_str(),
                       judge(candidate, isWinner).c_str());
  }
  return text;
}
