//===- Job.h - The words of jobs --------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_JOB_H
#define TARPON_FLEET_JOB_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

/// A round of a job is compiled by a builder, then measured by an evaluator. A
/// builder also decides whether another round is worth it.
enum class Phase : uint8_t { Compile, Measure };

/// "compile", "measure".
llvm::StringRef getPhaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

/// waiting -> leased -> waiting (the next phase, or again) -> ... -> done,
/// failed or aborted, as the database spells them.
inline constexpr llvm::StringLiteral kWaiting = "waiting", kLeased = "leased",
                                     kDone = "done", kFailed = "failed",
                                     kAborted = "aborted";

/// The cause for which an attempt has ended.
enum class Cause : uint8_t {
  Ok,       ///< the phase was completed
  Compile,  ///< nothing could be compiled
  Wrong,    ///< no candidate gave right results
  Crash,    ///< every candidate crashed
  Hang,     ///< every candidate ran longer than its limit
  Memory,   ///< memory ran out
  Disk,     ///< a disk is full or broken
  Package,  ///< the package is missing, or is not what a builder recorded
  Device,   ///< the device does not answer
  Lost,     ///< the worker was not heard of for a whole lease
  Database, ///< the database did not answer in time
  Returned, ///< the worker gave the job back: it ended, or is drained
  Aborted   ///< somebody aborted the job
};

/// The rules of a cause.
struct CauseRule {
  llvm::StringLiteral name;
  /// The number of attempts that may end so before the job fails.
  int64_t maxAttempts;
  /// The pause before the second attempt in seconds, which doubles with each
  /// further one.
  double backoffSeconds;
  /// True if the package has to be made again.
  bool recompiles = false;
  /// True if the machine is to blame: it pauses, so that others get its jobs.
  bool pauses = false;
};

const CauseRule &getRule(Cause cause);
std::optional<Cause> parseCause(llvm::StringRef name);
/// The names of all causes.
std::vector<llvm::StringRef> getCauseNames();

/// A job that a worker owns until its lease ends.
struct Lease {
  int64_t job = 0, lease = 0, session = 0, problem = 0;
  /// The problem's key.
  std::string key;
  Phase phase = Phase::Compile;
  int64_t round = 0;
  /// The digest of the package to measure.
  std::string package;
  /// How long it lasts without a sign of life of its worker.
  double seconds = 60;
};

} // namespace tarpon::fleet

#endif // TARPON_FLEET_JOB_H
