//===- ProcessMeasurer.h - Measures in another process ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H

#include "Measure/CompilingMeasurer.h"
#include "Measure/PackageEvaluation.h"
#include "Search/TempDirectory.h"

#include <atomic>

namespace tarpon {

/// Makes packages of candidates, which the evaluator process runs, times, and
/// compares with a package of the reference solver.
class ProcessMeasurer final : public CompilingMeasurer {
public:
  /// All arguments but the problem and the evaluation must outlive the
  /// measurer. The results of `reference` are right.
  ProcessMeasurer(const Problem &problem, KernelCompiler &compiler,
                  const TempDirectory &directory, const Solver &reference,
                  PackageEvaluation evaluation, size_t maxProposals);
  /// Removes the packages it has written.
  ~ProcessMeasurer() override;

  runtime::Status prepare(llvm::ArrayRef<Contender> contenders) override;
  size_t getBatchSize() const override;
  size_t getMaxProposals() const override { return maxProposals; }
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  std::optional<MeasurementStatus> getInterruptedStatus() const override;

private:
  Built compile(const Contender &contender) override;
  bool discard(const Built &built) override;

  const TempDirectory &directory;
  const Solver &referenceSolver;
  PackageEvaluation evaluation;
  size_t maxProposals;
  /// The reference's package file, once it is written.
  std::string reference;
  std::atomic<int> packages = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H
