//===- KernelBackend.h - How a target's kernels are compiled ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_KERNELBACKEND_H
#define TARPON_TARGETS_KERNELBACKEND_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Compiled kernels by symbol.
using KernelObjects =
    std::map<std::string, std::shared_ptr<const std::vector<char>>>;

/// What a package holds of its kernels.
struct LinkedKernels {
  std::vector<char> bytes;
  /// Where each symbol is, if they are code objects.
  std::vector<runtime::CodeObjectRange> codeObjects;
};

/// A solution whose kernels are compiled.
struct CompiledSolution {
  const Problem &problem;
  const PerfConfig &config;
  const SolutionPlan &plan;
  /// The solver's, see Solver::expectedFraction.
  double expectedFraction;
  /// One per launch, as `compile` gave them.
  std::vector<std::shared_ptr<const std::vector<char>>> objects;
};

/// What a model of the target says of a solution.
struct SolutionEstimate {
  double milliseconds = 0;
  /// Per launch: what the kernel takes of the target, and where its time goes.
  std::string report;
};

/// Stateless and thread-safe.
class KernelBackend {
public:
  virtual ~KernelBackend() = default;

  /// All that decides what a kernel becomes, beside its solver and symbol: part
  /// of the key under which it is kept.
  virtual std::string describe() const = 0;

  /// Emits and compiles one kernel; what is kept of it in the cache.
  virtual runtime::Result<std::vector<char>>
  compile(const KernelSource &kernel) const = 0;

  virtual runtime::Result<LinkedKernels>
  link(const KernelObjects &objects) const = 0;

  /// What `link` makes. Only packages of code objects can hold candidates: one
  /// code object more changes none of the others.
  virtual runtime::KernelForm getKernelForm() const {
    return runtime::KernelForm::SharedObject;
  }

  /// Names the model that `estimate` goes by, and its version; empty for none.
  virtual std::string describeModel() const { return ""; }

  /// What a solution should take, without running it. May be called by several
  /// threads at a time.
  virtual runtime::Result<SolutionEstimate>
  estimate(const CompiledSolution & /*solution*/) const {
    return runtime::Error{"there is no model of the target"};
  }

  /// The kernel as its solver emitted it, and as assembly text.
  virtual std::string printMlir(const KernelSource &kernel) const = 0;
  virtual runtime::Result<std::string>
  printAssembly(const KernelSource &kernel) const = 0;
};

} // namespace tarpon

#endif // TARPON_TARGETS_KERNELBACKEND_H
