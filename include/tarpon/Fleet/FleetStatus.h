//===- FleetStatus.h - The state of a fleet ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_FLEETSTATUS_H
#define TARPON_FLEET_FLEETSTATUS_H

#include "tarpon/Fleet/Database.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

/// The jobs of a session.
struct SessionStatus {
  std::string label, target;
  /// The number of jobs by what they are at: "waiting to compile",
  /// "measuring", "done", "failed", ...
  std::map<std::string, int64_t> counts;
  int64_t total = 0, ended = 0;
  /// Jobs that have ended per second, over the last five minutes; and the
  /// seconds that the others will take at that rate, none if there is no rate.
  double rate = 0;
  std::optional<double> secondsLeft;
};

struct MachineStatus {
  std::string name, cpu, state;
  int64_t cores = 0, builders = 0, evaluators = 0, jobs = 0;
  /// Seconds since one of its workers was heard of.
  double silence = 0;
  /// Why its last worker has ended; "" while one lives.
  std::string reason;
};

/// Attempts that have ended for the same cause, other than success.
struct CauseStatus {
  std::string cause;
  int64_t attempts = 0, jobs = 0;
  /// The latest reason.
  std::string reason;
};

/// Candidates that have failed in the same way: "crashed", "timed-out",
/// "wrong", "failed". Their problems may have right ones all the same.
struct CandidateStatus {
  std::string status;
  int64_t candidates = 0, problems = 0;
  /// The latest one, with what it says.
  std::string latest;
};

struct FleetStatus {
  std::vector<SessionStatus> sessions;
  std::vector<MachineStatus> machines;
  std::vector<CauseStatus> causes;
  std::vector<CandidateStatus> candidates;
};

/// The jobs of a label's sessions, or of all; cheap enough to ask each second.
runtime::Result<std::vector<SessionStatus>>
getSessionStatus(Database &database, const std::string &label);

/// The state of a label's sessions, or of all; machines are all.
runtime::Result<FleetStatus> getStatus(Database &database,
                                       const std::string &label);

/// The beginning of what a worker says of a session that it cannot serve.
inline constexpr llvm::StringLiteral kLeftAlone = "left alone: ";

/// The number of the last worker that has begun.
runtime::Result<int64_t> getLastWorker(Database &database);

/// Why workers of a label that have begun after `worker`, and have ended, left
/// sessions alone: each reason once.
runtime::Result<std::vector<std::string>>
listRefusals(Database &database, const std::string &label, int64_t worker);

/// Lets workers of a machine end after their jobs, or lets it take jobs again.
/// An error if no worker ever ran there.
runtime::Status setDraining(Database &database, const std::string &machine,
                            bool isDraining);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_FLEETSTATUS_H
