//===- KernelCompiler.h - Kernels to objects to one library -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_HOST_KERNELCOMPILER_H
#define TARPON_TARGETS_HOST_KERNELCOMPILER_H

#include "tarpon/Kernels/Solver.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Host/KernelCache.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Compiles emitted kernels in process with MLIR and LLVM, through the kernel
/// cache. Thread-safe.
class KernelCompiler {
public:
  /// `cache` may be null: then nothing is kept beyond this object's memory.
  KernelCompiler(const TargetInfo &target, std::shared_ptr<KernelCache> cache);
  ~KernelCompiler();

  const TargetInfo &getTarget() const;

  /// The object file of one kernel. Emits and compiles only what neither memory
  /// nor the cache holds.
  runtime::Result<std::shared_ptr<const std::vector<char>>>
  getObject(llvm::StringRef solverId, const KernelSource &kernel);

  /// The shared object that exports the kernels; each symbol once.
  runtime::Result<std::vector<char>>
  link(const std::map<std::string, std::shared_ptr<const std::vector<char>>>
           &objects);

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

#endif // TARPON_TARGETS_HOST_KERNELCOMPILER_H
