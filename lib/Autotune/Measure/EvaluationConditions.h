//===- EvaluationConditions.h - How packages are measured -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONCONDITIONS_H
#define TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONCONDITIONS_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include <cstddef>
#include <cstdint>

namespace tarpon {

/// The conditions of measurements in the evaluator process. They depend on the
/// problem and on the description of the target alone, so that a machine which
/// compiles nothing measures like one that does.
struct EvaluationConditions {
  int64_t threads = 1;
  /// The number of tolerances by which results may differ from the reference's;
  /// see findWrongResult.
  double slack = 1;
  /// See TargetTraits::getProductRounding.
  double rounding = 0;
  /// See EvaluationRequest.
  int64_t rotateBytes = 0;
  int64_t coldConstantBytes = 0;
  /// A candidate that hangs is killed after so many seconds, and as many more
  /// as the reference takes at this rate.
  double baseSeconds = 0, referenceFlopsPerSecond = 1;
};

/// The conditions for packages of that form: those of code objects run on a
/// GPU, or on an emulated one if the target is.
EvaluationConditions getEvaluationConditions(const Problem &problem,
                                             const TargetInfo &target,
                                             runtime::KernelForm form);

/// Returns the number of candidates of the problem that may be compiled before
/// they are measured. Their packages hold its constants.
size_t getMaxBatch(const Problem &problem);

/// Returns the solver whose results are right; an error if there is none for
/// the problem.
runtime::Result<const Solver *>
findEvaluationReference(const Problem &problem, const TargetInfo &target,
                        runtime::KernelForm form);

/// Returns true if devices of the target have times. An emulated GPU has none,
/// and the name of a real one.
bool hasTimes(const TargetInfo &target);

/// Returns an error unless this machine has the GPU of that description. The
/// GPU is closed again: the evaluator opens it, too.
runtime::Status checkMeasuringDevice(const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_EVALUATIONCONDITIONS_H
