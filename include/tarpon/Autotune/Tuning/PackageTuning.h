//===- PackageTuning.h - Tunes a package where its GPU is -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package with candidates (tarpon/Runtime/Candidates.h) was compiled where
// there was no GPU. On a machine with the GPU, the candidates of each distinct
// problem are compared with the solution that a model chose and raced, and the
// finalists are timed in turn; every layer gets the fastest right candidate.
// Policy.h has the constants. Nothing is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_TUNING_PACKAGETUNING_H
#define TARPON_AUTOTUNE_TUNING_PACKAGETUNING_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Targets/Target.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// Returns the best measured solution in the journal, if there is any.
std::optional<Solution> findMeasured(const Journal &journal,
                                     const Problem &problem,
                                     const TargetInfo &target);

struct PackageTuningOptions {
  /// Problems whose turn comes later keep their solution.
  Deadline deadline = Deadline::never();
  /// The journal to which measurements are written, and from which they are
  /// read unless everything is to be measured again. Null for none.
  Journal *journal = nullptr;
  bool again = false;
  /// The program in which candidates run first, so that one that faults or
  /// hangs does not end the run; "" for none.
  std::string evaluatorProgram = "";
};

/// The measurements of a problem.
struct TunedProblem {
  std::string problem;
  /// The indices of the layers that pose it.
  std::vector<size_t> layers;
  /// The time that a model expects for all its layers.
  double modelMs = 0;
  /// The results of its first layer's candidates. Empty if the time was over.
  std::vector<Measurement> results;
};

struct PackageTuning {
  /// The tuned package, still with all candidates.
  runtime::Package package;
  /// The problems with candidates, the most expensive ones first.
  std::vector<TunedProblem> problems;
  SearchStatistics search;
  /// The number of layers whose solution has changed.
  int64_t changed = 0;
  /// The time of the whole model. Without samples on the emulated device.
  runtime::Timing before, after;

  int64_t countLeft() const;
};

/// Tunes a package. An error if a solution that it was compiled with does not
/// run, or if the tuned model gives other results than before.
runtime::Result<PackageTuning>
tunePackage(runtime::Package package, runtime::Device &device,
            Progress &progress, const PackageTuningOptions &options = {});

/// Writes the measurements into the record that the package was compiled with,
/// so that replaying it makes the tuned package. `path` is for messages.
runtime::Status updateRecord(TuningFile &file, const PackageTuning &tuning,
                             const TargetInfo &target, const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_TUNING_PACKAGETUNING_H
