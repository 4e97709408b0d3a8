//===- LocalWorkers.h - Workers on this machine -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_LOCALWORKERS_H
#define TARPON_FLEET_LOCALWORKERS_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon::fleet {

/// A worker as a process of this machine.
struct LocalWorker {
  /// The program with its arguments.
  std::vector<std::string> command;
  /// The number of cores that nobody else may use while it measures, nor a
  /// sibling of theirs (SMT); 0 for a builder, which takes those that are left.
  int64_t cores = 0;
};

/// Appends to the commands the cores to run on: "--cores 2,3". `free` has the
/// siblings of each core that may be used. Evaluators get one of each of the
/// last groups, whose others stay idle; if no group is left for builders, all
/// take turns ("--take-turns").
void assignCores(std::vector<LocalWorker> &workers,
                 const std::vector<std::vector<int>> &free);

/// Starts the workers, on cores that it assigns, and waits until all have
/// ended. If workers of another process that calls this have a core, waits for
/// its end first, after `onBusy` was called with the core. SIGINT and SIGTERM
/// are passed on. `look` is called about every second. An error if a worker
/// cannot be started or fails; if it refused, the others are told to end.
runtime::Status runLocalWorkers(std::vector<LocalWorker> workers,
                                llvm::function_ref<void()> look,
                                llvm::function_ref<void(int)> onBusy);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_LOCALWORKERS_H
