//===- BundleEvaluator.h - Measures bundles of candidates -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_BUNDLE_BUNDLEEVALUATOR_H
#define TARPON_AUTOTUNE_BUNDLE_BUNDLEEVALUATOR_H

#include "tarpon/Autotune/Bundle/CandidateBundle.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/OutputPipe.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// The half of a search that has the device. Compiles nothing. Otherwise a
/// candidate is measured as Tuner does it, in the evaluator process, under the
/// same conditions and rules. Not thread-safe: one thread at a time.
class BundleEvaluator {
public:
  /// `progress` must outlive the evaluator. The process is started when it is
  /// needed, and serves all bundles. On the emulated GPU (`onEmulatedDevice`)
  /// it is tarpon-emulator, beside the evaluator: candidates are verified, and
  /// their times are the model's that the bundle has.
  BundleEvaluator(const std::string &evaluatorProgram, Progress &progress,
                  bool onEmulatedDevice = false);
  ~BundleEvaluator();

  /// Measures the candidates of a bundle file and returns one measurement of
  /// each, in their order; those whose turn comes after the deadline are left
  /// out. One that could not be compiled has failed with that error. Whatever
  /// a candidate does is an outcome; an error means that nothing can be
  /// measured. The problem's earlier measurements (`known`) tell which
  /// candidates are too slow to be timed for long, and where a final continues.
  runtime::Result<std::vector<Measurement>>
  measure(const std::string &path, llvm::ArrayRef<Measurement> known,
          Deadline deadline = Deadline::never());

  /// The errors that the process and its candidates write: see
  /// EvaluatorProcess.
  void keepErrors();
  runtime::OutputTail takeErrors();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_BUNDLE_BUNDLEEVALUATOR_H
