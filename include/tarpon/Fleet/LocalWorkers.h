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
  /// The number of cores that nobody else may use while it measures; 0 for a
  /// builder, which takes those that are left.
  int64_t cores = 0;
};

/// Appends to the commands the cores to run on: "--cores 2,3". Evaluators get
/// the last of `free` for themselves; if none is left for builders, all take
/// turns ("--take-turns").
void assignCores(std::vector<LocalWorker> &workers, std::vector<int> free);

/// Starts the workers, on cores that it assigns, and waits until all have
/// ended. SIGINT and SIGTERM are passed on. `look` is called about every
/// second. An error if a worker cannot be started or fails; if it refused, the
/// others are told to end.
runtime::Status runLocalWorkers(std::vector<LocalWorker> workers,
                                llvm::function_ref<void()> look);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_LOCALWORKERS_H
