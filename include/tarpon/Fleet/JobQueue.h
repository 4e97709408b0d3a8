//===- JobQueue.h - Jobs, taken by lease ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker owns a job until its lease ends, by the clock of the database, and
// renews its leases while it lives. Whoever comes too late is refused: results
// are written in one transaction with the job's state, if the lease is still
// the worker's. Leases that have ended are taken back by whichever worker looks
// next. Not thread-safe: one thread at a time, with a database of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_JOBQUEUE_H
#define TARPON_FLEET_JOBQUEUE_H

#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Job.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tarpon::fleet {

/// The end of an attempt.
struct AttemptEnd {
  Cause cause = Cause::Ok;
  /// One sentence.
  std::string reason;
  /// Everything that the worker has said about the job.
  std::string log;
  /// True if another attempt would end in the same way, whatever the rules of
  /// the cause are.
  bool isFinal = false;

  /// A live database has refused a statement of the attempt. Such attempts are
  /// counted apart from those during which the database was away, and only few
  /// of them are made.
  static AttemptEnd forRefusal(const std::string &message,
                               std::string log = "");
  /// The same if the database has refused its last statement; else it was away.
  static AttemptEnd forDatabase(const Database &database,
                                const std::string &message);
};

/// The number of attempts that a live database may refuse before the job fails.
inline constexpr int64_t kMaxRefusals = 3;

/// The number of workers that may die while they compile the same round of a
/// job before it fails: the compiler itself has crashed, most likely.
inline constexpr int64_t kMaxDeaths = 3;

/// The state in which a successful attempt leaves its job.
struct NextStep {
  /// None if the job is done.
  std::optional<Phase> phase;
  int64_t round = 0;
  /// The digest of the package, for a phase that measures.
  std::string package;
  /// The milliseconds that another round may save: jobs with more go first.
  std::optional<double> gain;
};

/// The numbers of a job and of its lease.
using LeaseKey = std::pair<int64_t, int64_t>;

/// The answer to a heartbeat.
struct Renewal {
  /// Those of the leases that are still the worker's.
  std::set<LeaseKey> owned;
  /// The worker's machine is drained: no more jobs.
  bool isDraining = false;
};

/// Returns how many of a job's attempts have ended by a cause since a person
/// last retried it.
runtime::Result<int64_t> countAttempts(Database &database, int64_t job,
                                       Cause cause);

class JobQueue {
public:
  /// `leaseSeconds` is the length of the leases that are claimed or renewed.
  /// The database must outlive the queue.
  JobQueue(Database &database, int64_t worker, double leaseSeconds)
      : database(database), worker(worker), leaseSeconds(leaseSeconds) {}

  /// Takes up to `max` jobs of a session: those of the highest priority, and
  /// among them those with most to gain. No two workers get the same.
  runtime::Result<std::vector<Lease>> claim(int64_t session, Phase phase,
                                            int64_t max);

  /// The heartbeat: renews the leases that the worker holds, and no others.
  runtime::Result<Renewal> renew(const std::set<LeaseKey> &held);

  /// Takes back leases that have ended, of any worker, and returns how many.
  /// Only the job that a lost worker had begun counts as lost.
  /// Workers that were not heard of for two of their label's leases count as
  /// ended.
  runtime::Result<int64_t> reap();

  /// The same, unless some worker did it within the last tenth of a lease.
  runtime::Result<int64_t> reapInTurn();

  /// Records a successful attempt, and in the same transaction what `write`
  /// writes. Returns false, with nothing written, if the lease is lost. Calling
  /// it again after the connection broke is right: what was committed is found.
  runtime::Result<bool>
  complete(const Lease &lease, const NextStep &next, const std::string &log,
           llvm::function_ref<runtime::Status()> write = nullptr);

  /// Records a failed attempt; the job is tried again, or fails, by the rules
  /// of the cause. Returns false if the lease is lost.
  runtime::Result<bool> fail(const Lease &lease, const AttemptEnd &end);

  /// Gives back all that the worker has, begun or not, and returns how many. If
  /// `begun` is there, the job that the worker had begun has ended so.
  runtime::Result<int64_t>
  giveBackAll(const std::string &reason,
              const std::optional<AttemptEnd> &begun = std::nullopt);

private:
  runtime::Result<bool> reapOne(int64_t job);
  runtime::Status redate();
  runtime::Status endSilentWorkers();
  runtime::Result<bool> isRecorded(const Lease &lease);
  runtime::Result<int64_t> writeAttempt(const Lease &lease, int64_t owner,
                                        const AttemptEnd &end,
                                        const std::string &condition);
  runtime::Result<bool> failLeased(const Lease &lease, int64_t owner,
                                   const AttemptEnd &end);

  Database &database;
  int64_t worker;
  double leaseSeconds;
};

} // namespace tarpon::fleet

#endif // TARPON_FLEET_JOBQUEUE_H
