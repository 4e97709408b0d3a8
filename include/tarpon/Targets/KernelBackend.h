//===- KernelBackend.h - Compiles the kernels of a target -------*- C++ -*-===//
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

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// Compiled kernels by symbol.
using KernelObjects =
    std::map<std::string, std::shared_ptr<const std::vector<char>>>;

/// The kernels of a package.
struct LinkedKernels {
  std::vector<char> bytes;
  /// The place of each symbol, for code objects.
  std::vector<runtime::CodeObjectRange> codeObjects;
};

/// A solution whose kernels are compiled.
struct CompiledSolution {
  const Problem &problem;
  const PerfConfig &config;
  const SolutionPlan &plan;
  /// See Solver::expectedFraction.
  double expectedFraction;
  /// The objects that `compile` returned, one per launch.
  std::vector<std::shared_ptr<const std::vector<char>>> objects;
};

/// A model's estimate of a solution.
struct SolutionEstimate {
  double milliseconds = 0;
  /// The resources that each launch's kernel uses, and where its time goes.
  std::string report;
};

/// The resources that a kernel uses, as its compiled form says.
struct KernelFigures {
  /// Their titles and values: {"lanes", 256}, {"VGPR", 64}. All kernels of a
  /// backend have the same titles.
  std::vector<std::pair<std::string, int64_t>> values;
  /// The kernel keeps registers in memory.
  bool spills = false;
};

/// Stateless and thread-safe.
class KernelBackend {
public:
  virtual ~KernelBackend() = default;

  /// Describes everything that decides the result of compiling a kernel, beside
  /// its solver and symbol: a part of its key in the cache.
  virtual std::string describe() const = 0;

  /// Emits and compiles one kernel. Returns the bytes that are kept in the
  /// cache.
  virtual runtime::Result<std::vector<char>>
  compile(const KernelSource &kernel) const = 0;

  virtual runtime::Result<LinkedKernels>
  link(const KernelObjects &objects) const = 0;

  /// The form of the result of `link`. Only packages of code objects can hold
  /// candidates: one code object more changes none of the others.
  virtual runtime::KernelForm getKernelForm() const {
    return runtime::KernelForm::SharedObject;
  }

  /// The name and version of the model behind `estimate`; empty if there is
  /// none.
  virtual std::string describeCostModel() const { return ""; }

  /// Estimates the time of a solution, without running it. Several threads may
  /// call it at a time.
  virtual runtime::Result<SolutionEstimate>
  estimate(const CompiledSolution & /*solution*/) const {
    return runtime::Error{"there is no model of the target"};
  }

  /// Reads the figures of one of the kernels that `link` returned.
  virtual runtime::Result<KernelFigures>
  readFigures(const std::string & /*symbol*/,
              llvm::ArrayRef<char> /*object*/) const {
    return runtime::Error{"the target's kernels say nothing of the resources "
                          "that they use"};
  }

  /// Print the kernel as its solver emitted it, and as assembly text.
  virtual std::string printMlir(const KernelSource &kernel) const = 0;
  virtual runtime::Result<std::string>
  printAssembly(const KernelSource &kernel) const = 0;
};

} // namespace tarpon

#endif // TARPON_TARGETS_KERNELBACKEND_H
