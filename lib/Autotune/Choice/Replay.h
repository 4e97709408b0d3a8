//===- Replay.h - Replays a tuning file -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H
#define TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H

#include "ModelCompiler.h"
#include "tarpon/Autotune/Choice/TuningFile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

struct ReplayOptions {
  /// The name of the file, for messages.
  std::string path;
  /// Replaces solutions that do not fit instead of refusing the file.
  bool anyway = false;
  /// Takes a file of other sizes of the inputs: layers whose problems it does
  /// not know take what was measured for them, or else the solutions of the
  /// layers of their names, and those that no record fits are counted, not
  /// described.
  bool otherSizes = false;
  /// With otherSizes, another file, or null. Of two solutions that nobody has
  /// measured, the one is taken whose solver expects more of the layer's size,
  /// which is at least half of the other file's.
  const TuningFile *alternative = nullptr;
  /// Gives the solution of a layer whose record does not fit.
  SolutionSource otherwise;
  /// Gives candidates beside the file's solutions.
  CandidateSource candidates = {};
};

struct ReplayedModel {
  CompiledModel model;
  /// One sentence for each replaced solution.
  std::vector<std::string> replaced;
  /// With ReplayOptions::otherSizes, the number of replaced solutions.
  size_t numReplaced = 0;
};

/// Compiles the file's winner without measuring.
runtime::Result<ReplayedModel> replayTuningFile(const TuningFile &file,
                                                ModelCompiler &model,
                                                const ReplayOptions &options);

/// Makes a point of the file's front, or the fastest candidate with an error of
/// at most this, the winner of the file at `path`; neither leaves the winner.
runtime::Status pickCandidate(TuningFile &file, const std::string &path,
                              std::optional<int64_t> point,
                              std::optional<double> maxError);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H
