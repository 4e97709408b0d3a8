//===- StoreAdmin.h - Maintenance of a store --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a user on a whole journal: count, list, check, merge, prune
// and compare. Unlike a Journal, which is for one target and one version,
// StoreAdmin sees the records of all of them.
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
  /// True if the version is not this build's version of Tarpon or LLVM.
  bool isStale = false;
  int64_t problems = 0, measurements = 0, pipelines = 0;
  /// Counts measurements of solvers, and pipelines of passes, that have another
  /// version by now.
  int64_t outdated = 0;
};

struct StoreStats {
  std::vector<ContextCount> contexts;
  /// The number of measurements by solver, by status and by stage.
  std::map<std::string, int64_t> solvers, statuses, stages;
  int64_t measurements = 0, pipelines = 0;
  /// The number of measurements and pipelines of other versions.
  int64_t stale = 0;
};

/// The best solution of a problem that one version found on one machine. The
/// machine is the target with its number of threads and its cache sizes.
struct BestSolution {
  JournalContext context;
  bool isStale = false;
  Measurement measurement;
  /// The number of right solutions that were measured.
  int64_t solutions = 0;
  /// The problem's last row; later measurements have larger numbers.
  int64_t lastRow = 0;
};

struct MergeSummary {
  int64_t measurements = 0, pipelines = 0, importedProblems = 0;
};

struct PruneSummary {
  int64_t measurements = 0, pipelines = 0;
};

/// The differences between the best solutions of two stores. Problems are
/// compared per target, number of threads and cache sizes, whatever the
/// versions; records without cache sizes are compared with those of any.
struct StoreDiff {
  struct Change {
    BestSolution here, there;
  };
  std::vector<BestSolution> onlyHere, onlyThere;
  /// Problems with another solver, or another config of the same solver.
  std::vector<Change> solutions;
  /// Problems with the same solution, whose times differ by more than the given
  /// share.
  std::vector<Change> times;
  int64_t same = 0;
};

class StoreAdmin {
public:
  /// Opens an existing store; an error if there is none.
  static runtime::Result<std::unique_ptr<StoreAdmin>>
  openForReading(const std::string &path);
  static runtime::Result<std::unique_ptr<StoreAdmin>>
  openForWriting(const std::string &path);
  /// The same of a store that is made if it is not there.
  static runtime::Result<std::unique_ptr<StoreAdmin>>
  openOrMake(const std::string &path);
  ~StoreAdmin();

  runtime::Result<StoreStats> getStats() const;

  /// The best solutions, sorted by problem.
  runtime::Result<std::vector<BestSolution>> getBestSolutions() const;
  /// The best solutions of each solver, sorted by problem.
  runtime::Result<std::vector<BestSolution>> getBestOfSolvers() const;

  /// Reads everything; an error says what is damaged or contradicts itself.
  runtime::Status check() const;

  /// Copies the records of another store that are missing here, all or none of
  /// them. Nothing is copied for a candidate that was measured here as late or
  /// later, so that the last result stays the last one.
  runtime::Result<MergeSummary> merge(const std::string &otherPath);

  /// Drops the records of other versions, and those whose checksum does not
  /// fit; a dry run only counts them.
  runtime::Result<PruneSummary> prune(bool isDryRun);

private:
  explicit StoreAdmin(std::unique_ptr<StoreFile> store);
  runtime::Result<std::vector<BestSolution>>
  findSolutions(bool ofEachSolver) const;
  runtime::Error makeInconsistencyError(const std::string &what) const;
  runtime::Status checkTables() const;
  runtime::Status checkProblems() const;

  std::unique_ptr<StoreFile> store;
};

/// Brings everything into the one file of a store that nobody else has open, so
/// that it can be renamed or copied. Closing a store does that as well, but
/// does not say so if it fails.
runtime::Status sealStore(const std::string &path);

/// Removes a store and the files that SQLite and we keep beside it. Nothing
/// happens if there is none.
void removeStore(const std::string &path);

struct PublishSummary {
  int64_t problems = 0, measurements = 0;
};

/// Writes a store to `output`, which must not be there, with the best config of
/// each solver for each problem that this build has measured, without samples.
/// This is the content of a system store. Records of other builds and of other
/// versions of solvers are left out. If the records of a target have several
/// cache sizes, those of this machine are taken; an error if it has others.
runtime::Result<PublishSummary> publishStore(const std::string &path,
                                             const std::string &output);

/// Compares two lists of best solutions. Times count as different if they
/// differ by more than `minChange` (0.05).
StoreDiff compareSolutions(const std::vector<BestSolution> &here,
                           const std::vector<BestSolution> &there,
                           double minChange);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_STOREADMIN_H
