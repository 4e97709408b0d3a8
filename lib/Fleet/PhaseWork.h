//===- PhaseWork.h - The work of a phase of a job ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_PHASEWORK_H
#define TARPON_LIB_FLEET_PHASEWORK_H

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Session.h"

#include <functional>
#include <string>

namespace tarpon::fleet {

/// How a phase of a job has ended.
struct PhaseResult {
  /// Other than ok: the attempt has failed.
  AttemptEnd end;
  /// Where the job goes, and what is written with it, if it has not.
  NextStep next;
  std::function<runtime::Status()> write;

  static PhaseResult fail(Cause cause, std::string reason) {
    return {{cause, std::move(reason), ""}, {}, nullptr};
  }
  /// A statement of the phase has failed.
  static PhaseResult failDatabase(const Database &database,
                                  const std::string &message) {
    return {AttemptEnd::forDatabase(database, message), {}, nullptr};
  }
};

/// Does one phase of the jobs of a session. Made once per session and worker.
class PhaseWork {
public:
  virtual ~PhaseWork() = default;

  /// The phase of a lease, with its log. `isLost` tells when nobody waits for
  /// the result any more.
  virtual PhaseResult run(const Lease &lease, std::string &log,
                          const std::function<bool()> &isLost) = 0;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_PHASEWORK_H
