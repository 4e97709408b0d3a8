//===- StoreAdmin.h - Looking after a store ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a user does with a journal as a whole: count, list, check, merge, prune
// and compare. Unlike a Journal, which knows one target and one version, this
// sees the records of all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_STOREADMIN_H
#define TARPON_AUTOTUNE_STORE_STOREADMIN_H

#include "tarpon/Autotune/Store/Journal.h"

#include <map>

namespace tarpon {

/// The records of one target, number of threads and version.
struct ContextCount {
  JournalContext context;
  /// They are of another version of Tarpon or LLVM than this one.
  bool isStale = false;
  int64_t problems = 0, measurements = 0, pipelines = 0;
  /// Counts measurements of solvers, and pipelines of passes, that have another
  /// version by now.
  int64_t outdated = 0;
};

struct StoreStats {
  std::vector<ContextCount> contexts;
  /// Measurements by solver, by status and by stage.
  std::map<std::string, int64_t> solvers, statuses, stages;
  int64_t measurements = 0, pipelines = 0;
  /// Measurements and pipelines of other versions.
  int64_t stale = 0;
};

/// The best solution of a problem that one version found on one target.
struct BestSolution {
  JournalContext context;
  bool isStale = false;
  Measurement measurement;
  /// Solutions of the problem that were measured and right.
  int64_t solutions = 0;
  /// The last row of the problem's: what was measured later has a larger one.
  int64_t lastRow = 0;
};

struct MergeSummary {
  int64_t measurements = 0, pipelines = 0, importedProblems = 0;
};

struct PruneSummary {
  int64_t measurements = 0, pipelines = 0;
};

/// How the best solutions of two stores differ. Problems are compared per
/// target and number of threads, whatever the versions.
struct StoreDiff {
  struct Change {
    BestSolution here, there;
  };
  std::vector<BestSolution> onlyHere, onlyThere;
  /// Another solver, or another config of it.
  std::vector<Change> solutions;
  /// The same solution, with times that differ by more than was asked for.
  std::vector<Change> times;
  int64_t same = 0;
};

class StoreAdmin {
public:
  /// Opens a store that is there; an error otherwise.
  static runtime::Result<std::unique_ptr<StoreAdmin>>
  openForReading(const std::string &path);
  static runtime::Result<std::unique_ptr<StoreAdmin>>
  openForWriting(const std::string &path);
  ~StoreAdmin();

  runtime::Result<StoreStats> getStats() const;

  /// Sorted by problem.
  runtime::Result<std::vector<BestSolution>> getBestSolutions() const;

  /// Reads everything; an error says what is damaged or contradicts itself.
  runtime::Status check() const;

  /// Takes the records of another store that are missing here, all or none of
  /// them. Of a candidate that was measured here as late or later, nothing is
  /// taken, so that the last result stays the last one.
  runtime::Result<MergeSummary> merge(const std::string &otherPath);

  /// Drops the records of other versions, and those that are not what was
  /// written (their checksum does not fit); a dry run only counts them.
  runtime::Result<PruneSummary> prune(bool isDryRun);

private:
  explicit StoreAdmin(std::unique_ptr<StoreFile> store);
  runtime::Error makeInconsistencyError(const std::string &what) const;
  runtime::Status checkTables() const;
  runtime::Status checkProblems() const;

  std::unique_ptr<StoreFile> store;
};

struct PublishSummary {
  int64_t problems = 0, measurements = 0;
};

/// Writes a store to `output`, which must not be there, with the best config of
/// each solver for each problem that this build has measured, without samples:
/// what a system store holds.
runtime::Result<PublishSummary> publishStore(const std::string &path,
                                             const std::string &output);

/// The differences, with times that changed by more than `minChange` (0.05).
StoreDiff compareSolutions(const std::vector<BestSolution> &here,
                           const std::vector<BestSolution> &there,
                           double minChange);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_STOREADMIN_H
