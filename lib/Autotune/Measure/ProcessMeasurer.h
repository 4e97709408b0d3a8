//===- ProcessMeasurer.h - Measures in another process ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H

#include "Measure/CompilingMeasurer.h"
#include "Search/TempDirectory.h"
#include "tarpon/Runtime/Evaluator.h"

#include <atomic>
#include <chrono>

namespace tarpon {

/// Makes packages of candidates, which the evaluator process runs, times, and
/// compares with a package of the reference solver.
class ProcessMeasurer final : public CompilingMeasurer {
public:
  /// The conditions that depend on the device which runs the packages.
  struct Conditions {
    /// The solver whose results are right.
    const Solver *reference = nullptr;
    /// The number of tolerances by which results may differ from it; see
    /// findWrongResult.
    double slack = 1;
    /// See EvaluationRequest.
    int64_t rotateBytes = 0;
    bool coldConstants = false;
    /// A candidate that hangs is killed after so many seconds, and as many more
    /// as the reference takes at this rate.
    double baseSeconds = 0, referenceFlopsPerSecond = 1;
    /// See Measurer.
    size_t maxProposals = 1;
  };

  /// All arguments but the problem and the conditions must outlive the
  /// measurer.
  ProcessMeasurer(const Problem &problem, KernelCompiler &compiler,
                  runtime::EvaluatorProcess &evaluator,
                  const TempDirectory &directory, const Conditions &conditions);
  /// Removes the packages it has written.
  ~ProcessMeasurer() override;

  runtime::Status prepare(llvm::ArrayRef<Contender> contenders) override;
  size_t getBatchSize() const override;
  size_t getMaxProposals() const override { return conditions.maxProposals; }
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  std::optional<MeasurementStatus> getInterruptedStatus() const override;

private:
  Built compile(const Contender &contender) override;
  bool discard(const Built &built) override;
  std::chrono::milliseconds getTimeLimit() const;
  void judge(const runtime::EvaluationAnswer &answer,
             MeasureOutcome &outcome) const;

  runtime::EvaluatorProcess &evaluator;
  const TempDirectory &directory;
  Conditions conditions;
  /// The reference's package file, once it is written.
  std::string reference;
  std::atomic<int> packages = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_PROCESSMEASURER_H
