//===- Measurer.h - How candidates of a problem are measured ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A race decides which candidates of a problem are measured, in which order and
// for how long, and what is recorded of it. A measurer knows how one of them is
// measured: in a process of its own, on a device, or by a model of the target.
// Each measurer is for one problem and is called by one thread.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_MEASURE_MEASURER_H
#define TARPON_AUTOTUNE_MEASURE_MEASURER_H

#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tarpon {

/// A candidate that takes part in a race.
struct Contender {
  CandidateKey key;
  /// Null if it comes from a package, which may name solvers that this build
  /// does not have.
  const Solver *solver = nullptr;
  PerfConfig config;
  int64_t workspaceBytes = 0;
  /// The last measurement, of this run or an earlier one.
  std::optional<Measurement> result;

  bool isOk() const {
    return result && result->status == MeasurementStatus::Ok;
  }
};

/// How long a candidate is measured. Times are in milliseconds.
struct Effort {
  MeasurementStage stage = MeasurementStage::Race;
  int minSamples = 1;
  double minMs = 0, maxMs = 0;
  /// A candidate that cannot take less is dropped early; 0 for no such bound.
  double cutoffMs = 0;
};

/// What one measurement says of a candidate.
struct MeasureOutcome {
  MeasurementStatus status = MeasurementStatus::Failed;
  /// Why the status is not ok.
  std::string detail;
  /// A median without samples is what a model expects.
  runtime::Timing timing;
  /// Largest absolute difference from the expected results, and the relative L2
  /// one.
  double maxError = 0, relativeL2 = 0;
  /// An error if the candidate has left nothing on which others can be
  /// measured: the outcome is recorded, then the run ends.
  runtime::Status afterwards = runtime::success();
};

class Measurer {
public:
  virtual ~Measurer();

  /// Makes the results that candidates are compared with. `contenders` are all
  /// of the race, with what is known of them. Called before each measurement,
  /// and cheap where there is nothing left to do. An error means that nothing
  /// can be measured.
  virtual runtime::Status prepare(llvm::ArrayRef<Contender> contenders);

  /// How many candidates may be compiled before they are measured.
  virtual size_t getBatchSize() const;

  /// Compiles the candidates of a batch on all cores, except for those whose
  /// turn would come after the deadline. What was compiled of others may be
  /// dropped.
  virtual void buildBatch(llvm::ArrayRef<const Contender *> batch,
                          const Deadline &deadline);

  /// Compiles one candidate unless it is compiled. The error is the candidate's
  /// fault.
  virtual runtime::Status build(const Contender &contender);

  /// Runs, verifies and times a candidate that is built. Whatever the candidate
  /// does is an outcome: wrong, crashed, timed out or failed. An error means
  /// that nothing can be measured.
  virtual runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                                  const Effort &effort) = 0;

  /// The status of a candidate during whose measurements policy::
  /// kMaxInterrupted runs ended; none if measuring it cannot end a run.
  virtual std::optional<MeasurementStatus> getInterruptedStatus() const;

  /// Whether a second measurement may differ from the first one. Only then are
  /// the fastest candidates timed again.
  virtual bool isNoisy() const;

  /// Set if candidates disagree and it cannot be told which of them are right,
  /// a clause that says why: then no verdict on any of them is recorded.
  virtual std::optional<std::string> describeDispute() const;
};

/// Why results that are so far from the expected ones are wrong, if one of them
/// is off by more than `slack` tolerances (getTolerance). The text begins with
/// what `describe` says of an error: "error 0.2".
std::optional<std::string>
findWrongResult(const Problem &problem,
                llvm::ArrayRef<runtime::TensorComparison> results, double slack,
                llvm::function_ref<std::string(const std::string &)> describe);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_MEASURE_MEASURER_H
