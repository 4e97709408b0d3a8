//===- StorePublish.cpp - Selects the records to ship ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "BuildContext.h"

#include "llvm/Support/FileSystem.h"

#include <map>
#include <set>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// The best right config of each solver.
static std::vector<Measurement> chooseRows(const Journal &journal,
                                           const std::string &problem) {
  std::map<std::string, Measurement> best;
  for (Measurement &row : journal.getMeasurements(problem)) {
    if (row.status != MeasurementStatus::Ok)
      continue;
    auto [known, isNew] = best.try_emplace(row.key.solver, row);
    const Measurement &other = known->second;
    bool isBetter = row.stage != other.stage ? row.stage > other.stage
                                             : row.median < other.median;
    if (!isNew && isBetter)
      known->second = std::move(row);
  }
  std::vector<Measurement> rows;
  for (auto &[solver, row] : best) {
    // Shipped records have times, but no samples.
    row.samples.clear();
    rows.push_back(std::move(row));
  }
  return rows;
}

static Status copyProblems(const Journal &from, Journal &to,
                           const std::set<std::string> &problems,
                           PublishSummary &summary) {
  for (const std::string &problem : problems) {
    std::vector<Measurement> rows = chooseRows(from, problem);
    for (const Measurement &row : rows)
      if (Status status = to.record(row); !status)
        return status;
    summary.problems += !rows.empty();
    summary.measurements += static_cast<int64_t>(rows.size());
  }
  return runtime::success();
}

Result<PublishSummary> tarpon::publishStore(const std::string &path,
                                            const std::string &output) {
  if (llvm::sys::fs::exists(output))
    return Error{output + " is there already"};
  Result<std::unique_ptr<StoreAdmin>> store = StoreAdmin::openForReading(path);
  if (!store)
    return store.error();
  Result<std::vector<BestSolution>> solutions = (*store)->getBestSolutions();
  if (!solutions)
    return solutions.error();
  // For each target and number of threads: of several builds' records, those of
  // this build.
  std::map<std::pair<std::string, int64_t>, std::set<std::string>> problems;
  for (const BestSolution &solution : *solutions)
    // Any machine can ask a model, so that its predictions are not shipped.
    if (!solution.isStale &&
        solution.context.getTimeSource() == TimeSource::Measured)
      problems[{solution.context.target, solution.context.threads}].insert(
          solution.measurement.key.problem);
  PublishSummary summary;
  for (const auto &[where, keys] : problems) {
    JournalContext context = getBuildContext(where.first, where.second);
    Result<std::unique_ptr<Journal>> from =
        Journal::openReadOnly(path, context);
    if (!from)
      return from.error();
    Result<std::unique_ptr<Journal>> to = Journal::open(output, context);
    if (!to)
      return to.error();
    if (Status status = copyProblems(**from, **to, keys, summary); !status)
      return status.error();
  }
  if (summary.problems == 0)
    return Error{"journal " + path +
                 " has no records of this build to publish"};
  return summary;
}
