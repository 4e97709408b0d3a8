//===- Compile.h - From an ONNX file to a package ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole chain in one call. A model is tuned if more than one global choice
// is possible, or if a tuning file or a tuning time is asked for; else each
// layer takes the best that the stores know or a default, and nothing is
// measured, unless the find mode or the tuning policy says so.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_COMPILE_H
#define TARPON_AUTOTUNE_CHOICE_COMPILE_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/KernelCompiler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// A knob of the command line: its text and what that stands for.
struct Knob {
  std::string text;
  std::vector<std::string> values;
};

/// Parse "pick_global" or a list with commas. The error names the value that is
/// not known, and those that are.
runtime::Result<Knob> parseDtypeKnob(llvm::StringRef text);
runtime::Result<Knob> parseLayoutKnob(llvm::StringRef text);
runtime::Result<Knob> parseFusionKnob(llvm::StringRef text);

struct CompileOptions {
  /// The ONNX file.
  std::string model;
  Knob dtype = {"fp32", {"fp32"}};
  Knob layout = {"nchw", {"nchw"}};
  Knob fusion = {"on", {"on"}};
  std::optional<int64_t> batch;
  /// See ImportOptions.
  std::map<std::string, const runtime::HostTensor *> assumedInputs;
  /// Name and options of the target, for findTarget.
  std::string target = "host", device;
  /// Of a target with a model: how many solutions of each layer the package
  /// holds, to be chosen from where the device is (PackageTuning.h). 0: only
  /// the chosen one.
  size_t candidates = 0;
  /// Of the host. 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";

  /// See getCalibration.
  std::string calibration;
  /// Relative L2 against fp32.
  double maxError = policy::kDefaultMaxError;
  /// Without them, $TARPON_FIND_MODE and $TARPON_FIND_ENFORCE decide, else the
  /// mode is normal where a model is tuned and fast where it is not.
  std::optional<FindMode> findMode;
  std::optional<TuningPolicy> tuningPolicy;
  /// Without them, the environment decides; see resolveSearchOptions.
  SearchOverrides search;
  /// Seconds for the whole run.
  std::optional<double> tuningTime;
  /// Where to write a tuning file, and which one to replay; empty for none.
  std::string tuningFile, replay;
  bool replayAnyway = false;
  /// Makes every fallback an error.
  bool strict = false;
  /// No progress bar.
  bool quiet = false;
  /// Makes CompileOutcome::reference.
  bool withReference = false;
  /// Where to write the package; empty for nowhere.
  std::string output;
  std::string evaluatorProgram = findEvaluatorProgram();
};

struct CompileOutcome {
  runtime::Package package;
  /// What to compare the package with: fp32, nchw, not fused, every layer by
  /// the reference solver. As different as it can be.
  std::optional<runtime::Package> reference;
  /// Those of CompileOptions::assumedInputs whose values the packages are for.
  std::vector<std::string> assumedInputs;
  /// What a tuning file holds, whether one was written or not. There is one
  /// candidate per choice.
  TuningFile record;
  enum Mode { Quick, Tuned, Replayed } mode = Quick;
  /// What --replay-anyway has replaced.
  std::vector<std::string> replaced;
  /// How solutions were compared: "measured", or "modelled" where nothing of
  /// the target runs here.
  std::string compared = "measured";
  SearchStatistics search;
  KernelCompiler::Statistics kernels;
  double seconds = 0;
};

/// Compiles and writes what the options ask for. On failure nothing that was
/// there is overwritten. Remarks go to stderr.
runtime::Result<CompileOutcome> compileModel(const CompileOptions &options);

/// The package for one choice, with what is known about its layers. The options
/// must have a single choice and no outputs.
runtime::Result<runtime::Package> compileForRun(CompileOptions options);

/// A table of the choices that were tried: accuracy, time, and which one won.
std::string formatCandidates(const TuningFile &record);

/// An error where a file cannot be made, or would take the place of a folder.
/// "" is none.
runtime::Status checkWritable(const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_COMPILE_H
