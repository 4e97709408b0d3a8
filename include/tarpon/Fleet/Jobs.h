//===- Jobs.h - The jobs of a label, for people -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The jobs as a person handles them: make, choose, retry, abort, look at.
// Workers take them through JobQueue.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_JOBS_H
#define TARPON_FLEET_JOBS_H

#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Job.h"
#include "tarpon/Fleet/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

struct LoadCount {
  /// The number of problems with the tag, of jobs that were made, of finished
  /// ones that begin anew, and of those that have not ended and have another
  /// priority than before.
  int64_t tagged = 0, made = 0, begun = 0, moved = 0;
};

/// Makes a job of each problem with the tag, unless the session has one. With
/// `again`, jobs that have ended begin anew, and what was measured for them
/// before is not looked at. A priority is also that of jobs that have not
/// ended; without one, new jobs have 0. A dry run only counts.
runtime::Result<LoadCount> loadJobs(Database &database, const Session &session,
                                    const std::string &tag,
                                    std::optional<double> priority, bool again);
runtime::Result<LoadCount> countLoad(Database &database,
                                     const std::string &label,
                                     const std::string &target,
                                     const std::string &tag, bool again);

/// Selects jobs; empty fields select all.
struct JobFilter {
  std::string label, state, cause, machine;
  /// The job's number; 0 for any.
  int64_t job = 0;

  bool isEmpty() const {
    return label.empty() && state.empty() && cause.empty() && machine.empty() &&
           job == 0;
  }
};

struct JobInfo {
  int64_t id = 0;
  std::string label, target, problem, state, phase, reason;
  int64_t round = 0, attempts = 0;
  /// The machine that has it; "" if none does.
  std::string machine;
};

runtime::Result<std::vector<JobInfo>>
listJobs(Database &database, const JobFilter &filter, int64_t max);

/// Jobs that have failed or were aborted wait again, with no attempts counted;
/// of those that failed, what was measured is not looked at again, since it may
/// be what they failed by.
/// Returns their number. An error if the filter asks for another state.
runtime::Result<int64_t> retryJobs(Database &database, const JobFilter &filter);

/// Jobs that have not ended are aborted; a worker that has one sees it at its
/// next heartbeat. It then stops to measure before the next candidate, or to
/// compile at the end of the round, and its results are refused. Returns the
/// jobs' number. An error if the filter asks for jobs that have ended.
runtime::Result<int64_t> abortJobs(Database &database, const JobFilter &filter);

/// An attempt that has ended.
struct AttemptInfo {
  int64_t lease = 0, round = 0;
  std::string phase, cause, reason, log, machine;
  /// Seconds, and seconds since 1970.
  double seconds = 0, ended = 0;
};

/// The attempts of a job in their order; an error if there is no such job.
runtime::Result<std::vector<AttemptInfo>> listAttempts(Database &database,
                                                       int64_t job);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_JOBS_H
