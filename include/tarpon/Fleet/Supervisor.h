//===- Supervisor.h - Survives what crashes a builder -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_SUPERVISOR_H
#define TARPON_FLEET_SUPERVISOR_H

#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Worker.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tarpon::fleet {

/// Runs a builder in a process of its own. If that crashes, or ends in the
/// middle of a job, this is an attempt of the job, and another builder goes on.
/// Returns the exit status, in both processes; call it while the program has no
/// other threads.
int superviseBuilder(WorkerOptions options,
                     llvm::function_ref<int(const WorkerOptions &)> run);

/// Records that a worker's process on this machine has ended: the job that it
/// had begun has crashed it, and the others of its claim are given back.
/// `log` is what it has written. Returns false if it had none, or has told its
/// end itself.
runtime::Result<bool> recordCrash(Database &database, const std::string &label,
                                  int64_t process, const std::string &how,
                                  const std::string &log);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_SUPERVISOR_H
