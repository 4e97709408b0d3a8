//===- KernelCompiler.h - Kernels to objects to one library -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_KERNELCOMPILER_H
#define TARPON_TARGETS_KERNELCOMPILER_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/KernelBackend.h"
#include "tarpon/Targets/KernelCache.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Compiles emitted kernels in process with the target's backend, through the
/// kernel cache. Thread-safe.
class KernelCompiler {
public:
  /// `cache` may be null: then nothing is kept beyond this object's memory.
  KernelCompiler(const TargetInfo &target, std::shared_ptr<KernelCache> cache,
                 std::unique_ptr<KernelBackend> backend);
  ~KernelCompiler();

  const TargetInfo &getTarget() const;

  /// The object file of one kernel. Emits and compiles only what neither memory
  /// nor the cache holds.
  runtime::Result<std::shared_ptr<const std::vector<char>>>
  getObject(llvm::StringRef solverId, const KernelSource &kernel);

  /// What a package holds of the kernels; each symbol once.
  runtime::Result<LinkedKernels> link(const KernelObjects &objects);

  /// What `link` makes.
  runtime::KernelForm getKernelForm() const;

  /// See KernelBackend::describeModel.
  std::string describeModel() const;

  /// Compiles a solution's kernels, and asks the backend's model what it should
  /// take.
  runtime::Result<SolutionEstimate> estimate(const Problem &problem,
                                             const Solver &solver,
                                             const PerfConfig &config);

  /// Textual forms of one kernel, for debugging and for tests that read the
  /// instructions.
  std::string printMlir(const KernelSource &kernel);
  runtime::Result<std::string> printAssembly(const KernelSource &kernel);

  struct Statistics {
    int64_t compiled = 0, fromCache = 0, fromMemory = 0;
    double compileSeconds = 0, linkSeconds = 0;
  };
  Statistics getStatistics() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tarpon

#endif // TARPON_TARGETS_KERNELCOMPILER_H
