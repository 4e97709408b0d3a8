//===- CrossValidation.h - Judges training by its own networks --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_CROSSVALIDATION_H
#define TARPON_AUTOTUNE_LEARN_CROSSVALIDATION_H

#include "tarpon/Autotune/Learn/ModelTraining.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"

#include <string>
#include <vector>

namespace tarpon {

/// The result of training without one network or CPU.
struct FoldResult {
  /// The network, or the CPU's name in the journal.
  std::string leftOut;
  std::vector<RankedProblem> ranked;
};

/// Leaves out one network of the problems after the other, trains on the rest
/// and ranks the shapes that no other network has. Training options are chosen
/// by the result; the problems that are held out for good take no part.
std::vector<FoldResult>
crossValidate(llvm::ArrayRef<const MeasuredProblem *> problems,
              const TrainingOptions &options = {});

/// Leaves out one CPU after the other, trains on the problems of the rest and
/// ranks all that were left out. Empty for the problems of one CPU.
std::vector<FoldResult>
leaveOutCpus(llvm::ArrayRef<const MeasuredProblem *> problems,
             const TrainingOptions &options = {});

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_CROSSVALIDATION_H
