//===- Replay.h - Turns the knobs of a tuning file again --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H
#define TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H

#include "ModelCompiler.h"
#include "tarpon/Autotune/Choice/TuningFile.h"

#include <string>
#include <vector>

namespace tarpon {

struct ReplayOptions {
  /// For messages.
  std::string path;
  /// Replace what does not fit instead of refusing the file.
  bool anyway = false;
  /// What a layer gets whose record does not fit.
  SolutionSource otherwise;
  /// What the package holds beside the file's solutions.
  CandidateSource candidates = {};
};

struct ReplayedModel {
  CompiledModel model;
  /// One sentence for each thing that was replaced.
  std::vector<std::string> replaced;
};

/// Compiles the file's winner. Measures nothing.
runtime::Result<ReplayedModel> replayTuningFile(const TuningFile &file,
                                                ModelCompiler &model,
                                                const ReplayOptions &options);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_REPLAY_H
