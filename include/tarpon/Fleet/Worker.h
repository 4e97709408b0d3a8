//===- Worker.h - Takes jobs until there are none ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_WORKER_H
#define TARPON_FLEET_WORKER_H

#include "tarpon/Fleet/Job.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

struct WorkerOptions {
  /// The database's address, and the label whose jobs are taken.
  std::string url, label;
  /// The target whose jobs are taken; "" for all that the machine fits.
  std::string target;
  /// A builder compiles; an evaluator measures.
  Phase phase = Phase::Compile;
  /// See findEvaluatorProgram.
  std::string evaluatorProgram;
  /// No more jobs are taken after so many seconds.
  std::optional<double> seconds;
  /// The cores to run on; empty for all that the process may use. Nobody else
  /// should use those of an evaluator.
  std::vector<int> cores;
  /// Works on a job only while no other worker of this machine that takes turns
  /// does: builders and evaluators share cores.
  bool takesTurns = false;
  /// Slurm's number of the job that started the worker; "" for none.
  std::string slurmJob;
  /// Returns what the process has written to its standard error since the last
  /// call, for the log of a job; null where nobody keeps it.
  std::function<std::string()> takeErrors;
  /// Polled often. When it returns true, the jobs are given back and the
  /// process ends.
  std::function<bool()> shouldEnd;
};

struct WorkerSummary {
  int64_t completed = 0, failed = 0, lost = 0;
};

/// Keeps the environment and the memory of this process, which may hold
/// credentials, from other processes of its user. Workers do so by themselves.
void hideProcess();

/// Runs a worker until no job of the label is left for it, time is up, its
/// machine is drained, or it is told to end. A database that does not answer is
/// waited for: for as long as the worker's leases hold, and then for five
/// minutes, with the jobs lost.
///
/// `say` is called with a line for each step. An error means that the worker
/// could do nothing: it differs from every session of the label, the database
/// cannot be used, or jobs wait for the other role and no worker of it lives.
runtime::Result<WorkerSummary>
runWorker(const WorkerOptions &options,
          llvm::function_ref<void(llvm::StringRef)> say);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_WORKER_H
