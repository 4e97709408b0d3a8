//===- Measurer.h - Measures the candidates of a problem --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A race decides which candidates of a problem are measured, in which order and
// for how long, and what is recorded of it. A measurer measures one of them: in
// a process of its own, on a device, or by a model of the target. Each measurer
// is for one problem and is called by one thread.
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

/// A candidate of a race.
struct Contender {
  CandidateKey key;
  /// Null if it comes from a package, which may name solvers that this build
  /// does not have.
  const Solver *solver = nullptr;
  PerfConfig config;
  int64_t workspaceBytes = 0;
  /// The last measurement, from this run or an earlier one.
  std::optional<Measurement> result;

  bool isOk() const {
    return result && result->status == MeasurementStatus::Ok;
  }
};

/// The length of a candidate's measurement. Times are in milliseconds.
struct Effort {
  MeasurementStage stage = MeasurementStage::Race;
  int minSamples = 1;
  double minMs = 0, maxMs = 0;
  /// A candidate is dropped early if it cannot take less than this; 0 for no
  /// such bound.
  double cutoffMs = 0;
};

/// The result of one measurement of a candidate.
struct MeasureOutcome {
  MeasurementStatus status = MeasurementStatus::Failed;
  /// Explains why the status is not ok.
  std::string detail;
  /// The times. A median without samples is a model's prediction.
  runtime::Timing timing;
  /// The largest absolute difference from the expected results, and the
  /// relative L2 error.
  double maxError = 0, relativeL2 = 0;
  /// An error if no other candidate can be measured any more after this one:
  /// the outcome is recorded, then the run ends.
  runtime::Status afterwards = runtime::success();
};

class Measurer {
public:
  virtual ~Measurer();

  /// Makes the results that candidates are compared with. `contenders` are all
  /// candidates of the race, with their known results. Called before each
  /// measurement, and cheap if there is nothing left to do. An error means that
  /// nothing can be measured.
  virtual runtime::Status prepare(llvm::ArrayRef<Contender> contenders);

  /// The number of candidates that may be compiled before they are measured.
  virtual size_t getBatchSize() const;

  /// The largest number of candidates that a search method proposes at once, so
  /// that cores can compile them.
  virtual size_t getMaxProposals() const;

  /// Compiles the candidates of a batch on all cores, except for those whose
  /// turn would come after the deadline. The objects of other candidates may be
  /// dropped.
  virtual void buildBatch(llvm::ArrayRef<const Contender *> batch,
                          const Deadline &deadline);

  /// Compiles one candidate unless it is compiled. The error is the candidate's
  /// fault.
  virtual runtime::Status build(const Contender &contender);

  /// Runs, verifies and times a candidate that is built. Any behaviour of the
  /// candidate is an outcome: wrong, crashed, timed out or failed. An error
  /// means that nothing can be measured.
  virtual runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                                  const Effort &effort) = 0;

  /// The status to record for a candidate during whose measurements
  /// policy::kMaxInterrupted runs died; none if measuring it cannot end a run.
  virtual std::optional<MeasurementStatus> getInterruptedStatus() const;

  /// Returns true if a second measurement may differ from the first one. Only
  /// then are the fastest candidates timed again.
  virtual bool isNoisy() const;

  /// If candidates disagree and it is unknown which are right, returns a clause
  /// that says why: then no verdict on any of them is recorded.
  virtual std::optional<std::string> describeDispute() const;
};

/// Explains why results with such errors are wrong, if one error exceeds
/// `slack` tolerances (getTolerance) of products with that rounding; none
/// otherwise. The text begins with the description of an error by `describe`:
/// "error 0.2".
std::optional<std::string>
findWrongResult(const Problem &problem,
                llvm::ArrayRef<runtime::TensorComparison> results, double slack,
                llvm::function_ref<std::string(const std::string &)> describe,
                double rounding = 0);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_MEASURE_MEASURER_H
