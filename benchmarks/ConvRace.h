//===- ConvRace.h - The fastest solution of one problem ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does the tuning of graph-opt compile for a layer in one process and in
// seconds: all configs of all solvers are raced, and clearly slower ones are
// dropped after a few samples. Nothing is checked against the reference solver,
// which would take minutes on large problems: see test/unit/Kernels for that.
// But the candidates must agree with each other.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_BENCHMARKS_CONVRACE_H
#define TARPON_BENCHMARKS_CONVRACE_H

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <chrono>
#include <string>
#include <vector>

namespace tarpon::benchmarks {

/// A solution with as many sets of buffers as are used in turn.
class Entrant {
public:
  static runtime::Result<Entrant> create(const Problem &problem,
                                         const Solver &solver,
                                         const PerfConfig &config,
                                         KernelCompiler &compiler);
  static runtime::Result<Entrant> create(runtime::Package package,
                                         int64_t threads);

  void run() {
    // Runs on the host do not fail.
    (void)instances[next].run();
    next = (next + 1) % instances.size();
  }
  /// Returns true if the tuner measures it with its constants in memory.
  bool hasColdConstants() {
    runtime::MeasureOptions options;
    options.coldConstantBytes = policy::kColdConstantBytes;
    return runtime::hasColdConstants(instances.front().executor(), options);
  }
  /// The next run reads its constants from memory.
  void flushConstants() { instances[next].executor().flushConstants(); }
  /// The result on seeded operands.
  const runtime::HostTensor &getResult();

private:
  std::vector<runtime::Instance> instances;
  size_t next = 0;
};

struct RaceResult {
  const Solver *solver = nullptr;
  PerfConfig config;
  double medianMs = 0;
  /// The number of configs, and of those that were run in time.
  int64_t candidates = 0, measured = 0;
  /// Who gave another result than the first candidate, or failed: and why.
  std::vector<std::string> rejected;
  double seconds = 0;
};

/// The fastest candidate. Compiling counts for the time limit, too; the first
/// candidate is measured in any case.
runtime::Result<RaceResult> race(const Problem &problem,
                                 KernelCompiler &compiler, double limitSeconds);

} // namespace tarpon::benchmarks

#endif // TARPON_BENCHMARKS_CONVRACE_H
