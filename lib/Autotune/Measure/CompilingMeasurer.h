//===- CompilingMeasurer.h - Compiles what is measured ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of measurers that compile their candidates themselves.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H

#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

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
  /// A compiled candidate, or the error of compiling it.
  struct Built {
    std::string error;
    /// The package file, or the model's estimate.
    std::string package;
    double milliseconds = 0;
  };

  /// Compiles a candidate. Called by several threads at once.
  virtual Built compile(const Contender &contender) = 0;
  /// Returns true if a candidate that is not in the next batch can be dropped.
  virtual bool discard(const Built &built);

  /// The problem with standard scales (withStandardScales). Kernels are the
  /// same for all scales, as long as the same zero points are 0.
  Problem problem;
  KernelCompiler &compiler;
  std::map<CandidateKey, Built> builtCandidates;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_COMPILINGMEASURER_H
