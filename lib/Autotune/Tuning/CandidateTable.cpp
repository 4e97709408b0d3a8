//===- CandidateTable.cpp - A table of the choices that were tried --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/CandidateSummary.h"
#include "tarpon/Autotune/Tuning/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;

/// Summarises the sources of the layers' solutions: "measured 21, default 2".
static std::string summarizeSources(const CandidateRecord &candidate) {
  std::string text;
  for (const auto &[source, count] : countSources(candidate))
    text += (text.empty() ? "" : ", ") + source + " " + std::to_string(count);
  return text;
}

/// Says with what each point of the front is replayed.
static void printFront(llvm::raw_ostream &os, const TuningFile &record) {
  std::vector<size_t> front = record.getFront();
  if (front.size() < 2)
    return;
  os << "  front of time and error, for --replay with --point:\n";
  for (auto [point, index] : llvm::enumerate(front)) {
    const CandidateRecord &candidate = record.candidates[index];
    os << llvm::format("  %3d %12.3f ms %10.2e  %s\n", static_cast<int>(point),
                       candidate.pipeline->median, candidate.accuracy->value,
                       candidate.choice.regions.empty()
                           ? candidate.choice.name().c_str()
                           : summarizeRegions(candidate.choice).c_str());
  }
}

/// Returns the metric of a candidate that was judged; null if none was.
static const MetricRecord *findMetric(const TuningFile &record) {
  for (const CandidateRecord &candidate : record.candidates)
    if (candidate.accuracy && candidate.accuracy->metric)
      return &*candidate.accuracy->metric;
  return nullptr;
}

static void printAccuracy(llvm::raw_ostream &os,
                          const std::optional<AccuracyRecord> &accuracy,
                          bool hasMetric) {
  if (accuracy)
    os << llvm::format("%12.2e", accuracy->value);
  else
    os << llvm::format("%12s", "-");
  if (accuracy && accuracy->metric)
    os << llvm::format("%10.4g", accuracy->metric->getDrop());
  else if (hasMetric)
    os << llvm::format("%10s", "-");
}

std::string tarpon::formatCandidates(const TuningFile &record) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const MetricRecord *metric = findMetric(record);
  if (metric)
    os << "  " << metric->name
       << llvm::format(" of fp32: %.4g, of others at most %.4g less\n",
                       metric->reference, metric->budget);
  os << llvm::format("  %-6s%-8s%-8s%12s%s%20s  %-28s%s\n", "dtype", "layout",
                     "fusion", "error", metric ? "      drop" : "", "time",
                     "layers", "");
  for (auto [index, candidate] : llvm::enumerate(record.candidates)) {
    bool isWinner = static_cast<int64_t>(index) == record.winner;
    const GlobalChoice &choice = candidate.choice;
    os << llvm::format(
        "%c %-6s%-8s%-8s", isWinner ? '*' : ' ', choice.getDtypeName().c_str(),
        choice.getLayoutName().c_str(), choice.getFusionName().c_str());
    printAccuracy(os, candidate.accuracy, metric != nullptr);
    if (candidate.pipeline &&
        candidate.pipeline->getTimeSource() == TimeSource::Modelled)
      os << llvm::format("%12.3f ms model", candidate.pipeline->median);
    else if (candidate.pipeline)
      os << llvm::format("%10.3f +- %.3f ms", candidate.pipeline->median,
                         candidate.pipeline->mad);
    else
      os << llvm::format("%20s", "-");
    os << llvm::format("  %-28s%s\n", summarizeSources(candidate).c_str(),
                       judge(record, index).c_str());
  }
  printFront(os, record);
  return text;
}
