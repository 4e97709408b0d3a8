//===- CandidateTrial.h - Runs candidates elsewhere first -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_CANDIDATETRIAL_H
#define TARPON_LIB_AUTOTUNE_MEASURE_CANDIDATETRIAL_H

#include "Search/TempDirectory.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/Package.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <optional>
#include <string>

namespace tarpon {

/// Runs packages of one candidate in the evaluator process, before they run in
/// this one: a kernel that faults ends what its process has on a GPU.
class CandidateTrial {
public:
  explicit CandidateTrial(const std::string &evaluatorProgram)
      : evaluator(evaluatorProgram) {}

  /// Returns true if the evaluator can run this package, whose solution is
  /// known to run. Only the first call makes the package, which may be large.
  bool isUsable(llvm::function_ref<runtime::Package()> makePackage,
                double flops);

  /// Returns the answer if the candidate has made the evaluator or its device
  /// fail, or has not ended in time.
  std::optional<runtime::EvaluationAnswer>
  findFault(const runtime::Package &package, double flops);

private:
  runtime::Result<runtime::EvaluationAnswer>
  run(const runtime::Package &package, double flops);

  runtime::EvaluatorProcess evaluator;
  std::unique_ptr<TempDirectory> directory;
  std::optional<bool> usable;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_CANDIDATETRIAL_H
