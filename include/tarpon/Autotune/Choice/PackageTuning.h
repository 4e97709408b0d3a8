//===- PackageTuning.h - Tunes a package where its GPU is -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package with candidates (tarpon/Runtime/Candidates.h) was compiled where
// there was no GPU. Where there is one, the candidates of each distinct problem
// are compared with the solution that was chosen by a model, raced, and the
// finalists timed in turn; every layer gets the fastest that is right. The
// numbers are those of Policy.h. Nothing is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_PACKAGETUNING_H
#define TARPON_AUTOTUNE_CHOICE_PACKAGETUNING_H

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

/// What a journal knows to be the best, if anything.
std::optional<Solution> findMeasured(const Journal &journal,
                                     const Problem &problem,
                                     const TargetInfo &target);

struct PackageTuningOptions {
  /// Problems whose turn comes later keep the solution that they have.
  Deadline deadline = Deadline::never();
  /// Where measurements are kept, and taken from unless all is to be measured
  /// again. Null for nowhere.
  Journal *journal = nullptr;
  bool again = false;
};

/// What was measured of a problem.
struct TunedProblem {
  std::string problem;
  /// The layers that pose it.
  std::vector<size_t> layers;
  /// What a model expected of all its layers.
  double modelMs = 0;
  /// Of the candidates of its first layer. Empty if the time was over.
  std::vector<Measurement> results;
};

struct PackageTuning {
  /// Still with all candidates.
  runtime::Package package;
  /// Those with candidates, the most expensive ones first.
  std::vector<TunedProblem> problems;
  SearchStatistics search;
  /// Layers that are computed otherwise than before.
  int64_t changed = 0;
  /// The whole model. Without samples on the emulated device.
  runtime::Timing before, after;

  int64_t countLeft() const;
};

/// An error if a solution that the package was compiled with does not run, or
/// if the tuned model gives other results than before.
runtime::Result<PackageTuning>
tunePackage(runtime::Package package, runtime::Device &device,
            Progress &progress, const PackageTuningOptions &options = {});

/// Writes what was measured into the record that the package was compiled with:
/// replaying it makes the tuned package. `path` is for messages.
runtime::Status updateRecord(TuningFile &file, const PackageTuning &tuning,
                             const TargetInfo &target, const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_PACKAGETUNING_H
