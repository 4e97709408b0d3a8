//===- StorePublish.cpp - Selects the records to ship ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "BuildContext.h"
#include "Sqlite/Sqlite.h"

#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <sqlite3.h>

#include <map>
#include <set>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {
/// A target with a number of threads, and the records of it.
struct PublishedTarget {
  std::string name;
  int64_t threads;

  auto operator<=>(const PublishedTarget &) const = default;
};
using PublishedRecords = std::map<PublishedTarget, std::vector<BestSolution>>;
} // namespace

/// Any machine can ask a model, so that its predictions are not shipped.
static PublishedRecords collect(std::vector<BestSolution> solutions) {
  PublishedRecords records;
  for (BestSolution &solution : solutions)
    if (!solution.isStale && isOfThisBuild(solution.context) &&
        solution.context.getTimeSource() == TimeSource::Measured)
      records[{solution.context.target, solution.context.threads}].push_back(
          std::move(solution));
  return records;
}

/// The cache sizes of this machine; "" if it is not such a target.
static std::string getOwnCaches(const PublishedTarget &target) {
  auto host = findTarget("host", {target.threads, "native", /*device=*/""});
  if (!host)
    return "";
  JournalContext here = JournalContext::forTarget((*host)->getInfo());
  return here.target == target.name ? here.caches : "";
}

/// Keeps the records of one machine: times of several are not comparable.
static Status keepOneMachine(const std::string &path,
                             const PublishedTarget &target,
                             std::vector<BestSolution> &solutions) {
  std::set<std::string> sizes;
  for (const BestSolution &solution : solutions)
    if (!solution.context.caches.empty())
      sizes.insert(solution.context.caches);
  if (sizes.size() < 2)
    return runtime::success();
  std::string own = getOwnCaches(target);
  if (!sizes.count(own))
    return Error{
        "journal " + path + " has records of " + target.name +
        " with several cache sizes, none of which is this machine's: " +
        llvm::join(sizes, ", ")};
  llvm::erase_if(solutions, [&](const BestSolution &solution) {
    return !solution.context.caches.empty() && solution.context.caches != own;
  });
  return runtime::success();
}

/// Opens the output once for each context: records keep theirs.
static Status write(const std::vector<BestSolution> &solutions,
                    const std::string &output, PublishSummary &summary) {
  std::map<std::string, std::unique_ptr<Journal>> journals;
  std::set<std::string> problems;
  for (const BestSolution &solution : solutions) {
    std::unique_ptr<Journal> &journal = journals[solution.context.caches];
    if (!journal) {
      Result<std::unique_ptr<Journal>> opened =
          Journal::open(output, solution.context);
      if (!opened)
        return opened.error();
      journal = std::move(*opened);
    }
    // Shipped records have times, but no samples.
    if (Status status = journal->record(solution.measurement); !status)
      return status;
    problems.insert(solution.measurement.key.problem);
    ++summary.measurements;
  }
  summary.problems += static_cast<int64_t>(problems.size());
  return runtime::success();
}

static Result<PublishSummary> writeAll(const PublishedRecords &records,
                                       const std::string &output) {
  PublishSummary summary;
  for (const auto &[target, list] : records)
    if (Status status = write(list, output, summary); !status)
      return status.error();
  return summary;
}

void tarpon::removeStore(const std::string &path) {
  for (const char *suffix : {"", "-wal", "-journal", "-shm", ".lock"})
    (void)llvm::sys::fs::remove(path + suffix); // most are not there
}

Status tarpon::sealStore(const std::string &path) {
  sqlite3 *database = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  std::string mode;
  if (code == SQLITE_OK) {
    SqlStatement statement(database, "PRAGMA journal_mode = DELETE");
    mode = statement.next() ? statement.text(0) : "";
  }
  std::string reason = sqlite3_errcode(database) == SQLITE_OK
                           ? "its log cannot be written into it"
                           : sqlite3_errmsg(database);
  sqlite3_close(database);
  if (mode == "delete")
    return runtime::success();
  return Error{"cannot write " + path + ": " + reason};
}

/// Writes under another name first, so that there is a whole store or none.
static Result<PublishSummary> writeWhole(const PublishedRecords &records,
                                         const std::string &output) {
  std::string partial = output + ".partial";
  removeStore(partial); // of a run that was killed
  Result<PublishSummary> summary = writeAll(records, partial);
  if (summary)
    if (Status status = sealStore(partial); !status)
      summary = status.error();
  if (summary)
    if (std::error_code error = llvm::sys::fs::rename(partial, output))
      summary = Error{"cannot write " + output + ": " + error.message()};
  if (!summary)
    removeStore(partial);
  return summary;
}

Result<PublishSummary> tarpon::publishStore(const std::string &path,
                                            const std::string &output) {
  if (llvm::sys::fs::exists(output))
    return Error{output + " is there already"};
  Result<std::unique_ptr<StoreAdmin>> store = StoreAdmin::openForReading(path);
  if (!store)
    return store.error();
  Result<std::vector<BestSolution>> solutions = (*store)->getBestOfSolvers();
  if (!solutions)
    return solutions.error();
  PublishedRecords records = collect(std::move(*solutions));
  if (records.empty())
    return Error{"journal " + path +
                 " has no records of this build to publish"};
  for (auto &[target, list] : records)
    if (Status status = keepOneMachine(path, target, list); !status)
      return status.error();
  return writeWhole(records, output);
}
