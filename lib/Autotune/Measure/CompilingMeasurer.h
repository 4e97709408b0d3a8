//===- CompilingMeasurer.h - Compiles what it measures ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What measurers have in common that compile their candidates themselves.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H

#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Targets/KernelCompiler.h"

#include <map>
#include <string>

namespace tarpon {

class CompilingMeasurer : public Measurer {
public:
  /// `compiler` must outlive the measurer.
  CompilingMeasurer(const Problem &problem, KernelCompiler &compiler);

  void buildBatch(llvm::ArrayRef<const Contender *> batch,
                  const Deadline &deadline) override;
  runtime::Status build(const Contender &contender) override;

protected:
  /// A candidate that was compiled, or why it cannot be.
  struct Built {
    std::string error;
    /// The package file, or what the model expects of it.
    std::string package;
    double milliseconds = 0;
  };

  /// Called by several threads at once.
  virtual Built compile(const Contender &contender) = 0;
  /// Whether to drop one that is not in the next batch.
  virtual bool discard(const Built &built);

  /// The problem as its key describes it, whose scales buildProblemPackage
  /// chooses such that results neither saturate nor vanish. Kernels are the
  /// same for all scales.
  Problem problem;
  KernelCompiler &compiler;
  std::map<CandidateKey, Built> builtCandidates;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H
