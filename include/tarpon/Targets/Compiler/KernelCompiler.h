//===- KernelCompiler.h - Compiles, caches and links kernels ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_COMPILER_KERNELCOMPILER_H
#define TARPON_TARGETS_COMPILER_KERNELCOMPILER_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCache.h"
#include "tarpon/Targets/KernelBackend.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Compiles emitted kernels in process with the target's backend, through the
/// kernel cache. Thread-safe.
class KernelCompiler {
public:
  /// `cache` may be null: then kernels are kept only in this object's memory.
  KernelCompiler(const TargetInfo &target, std::shared_ptr<KernelCache> cache,
                 std::unique_ptr<KernelBackend> backend);
  ~KernelCompiler();

  const TargetInfo &getTarget() const;

  /// Returns the object file of one kernel. Emits and compiles it only if
  /// neither memory nor the cache holds it.
  runtime::Result<std::shared_ptr<const std::vector<char>>>
  getObject(llvm::StringRef solverId, const KernelSource &kernel);

  /// Links the kernels of a package; each symbol once.
  runtime::Result<LinkedKernels> link(const KernelObjects &objects);

  /// The form of the result of `link`.
  runtime::KernelForm getKernelForm() const;

  /// See KernelBackend::describeCostModel.
  std::string describeCostModel() const;

  /// Compiles a solution's kernels, and estimates its time by the backend's
  /// model.
  runtime::Result<SolutionEstimate> estimate(const Problem &problem,
                                             const Solver &solver,
                                             const PerfConfig &config);

  /// Print one kernel, for debugging and for tests that read the instructions.
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

#endif // TARPON_TARGETS_COMPILER_KERNELCOMPILER_H
