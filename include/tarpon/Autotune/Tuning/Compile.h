//===- Compile.h - Compiles an ONNX file to a package -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole chain in one call. A model is tuned if more than one global choice
// is possible, or if a tuning file or a tuning time is asked for; otherwise
// each layer takes the best solution in the stores or a default, and nothing is
// measured unless the find mode or the tuning policy asks for it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_TUNING_COMPILE_H
#define TARPON_AUTOTUNE_TUNING_COMPILE_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// A knob of the command line: its text and the values that it stands for.
template <typename Value>
struct Knob {
  std::string text;
  std::vector<Value> values;
  /// True if each region may have another value.
  bool perRegion = false;
};
using DtypeKnob = Knob<runtime::Precision>;
using LayoutKnob = Knob<Layout>;
using FusionKnob = Knob<Fusion>;

/// Parse a comma-separated list, "pick_global" for all values, or "pick" for
/// one of them in each region. An error names the unknown value and lists the
/// known ones.
runtime::Result<DtypeKnob> parseDtypeKnob(llvm::StringRef text);
runtime::Result<LayoutKnob> parseLayoutKnob(llvm::StringRef text);
runtime::Result<FusionKnob> parseFusionKnob(llvm::StringRef text);

/// The sizes of a dimension.
struct SizeRange {
  int64_t low = 1, high = 1;
};

/// Parses "NAME=SIZE" or "NAME=LOW..HIGH".
runtime::Result<std::pair<std::string, SizeRange>>
parseSizeRange(llvm::StringRef text);

struct CompileOptions {
  /// The ONNX file.
  std::string model;
  DtypeKnob dtype = {"fp32", {runtime::Precision::F32}};
  LayoutKnob layout = {"nchw", {Layout()}};
  FusionKnob fusion = {"on", {Fusion::On}};
  std::optional<int64_t> batch;
  /// The sizes of symbolic dimensions, by their names. With several, the
  /// package is for all of them, and nothing is tuned. Without a tuning file,
  /// the layers' solutions and int8's ranges are those of the sizes in the
  /// middle of the ranges, by their logarithms.
  std::map<std::string, SizeRange> dims;
  /// See ImportOptions.
  std::map<std::string, const runtime::HostTensor *> assumedInputs;
  /// Name and options of the target, for findTarget.
  std::string target = "host", device;
  /// For a target with a model: the number of solutions of each layer that the
  /// package holds, to be chosen from where the device is (PackageTuning.h). 0:
  /// only the chosen one.
  size_t candidates = 0;
  /// For the host. 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";

  /// See getCalibration.
  std::string calibration;
  /// How int8's ranges are chosen; see measureRanges.
  std::optional<RangeMethod> rangeMethod;
  /// The accuracy budget: relative L2 distance from fp32.
  double maxError = policy::kDefaultMaxError;
  /// A metric on all samples of `calibration` that decides in its place: top-1
  /// by a file of labels (TopOne.h), or a command (MetricCommand.h); at most
  /// one of them, empty for none. `maxDrop` is how much less than fp32's it may
  /// be. The model is tuned then.
  std::string labels, metric;
  double maxDrop = policy::kDefaultMaxDrop;
  /// If not set, $TARPON_FIND_MODE and $TARPON_FIND_ENFORCE decide, else the
  /// mode is normal where a model is tuned and fast where it is not.
  std::optional<FindMode> findMode;
  std::optional<TuningPolicy> tuningPolicy;
  /// If not set, the environment decides; see resolveSearchOptions.
  SearchOverrides search;
  /// Time budget of the whole run, in seconds.
  std::optional<double> tuningTime;
  /// Asked often; as soon as it is true, a tuning run ends with the best plan
  /// that it has. Null, or has to outlive the run.
  const Deadline::Condition *isStopped = nullptr;
  /// The tuning file to write; empty for none.
  std::string tuningFile;
  /// The tuning file to replay. A package of several sizes may have several, of
  /// which each size takes the one that was made for the nearest.
  std::vector<std::string> replays;
  bool replayAnyway = false;
  /// Replay a point of the file's front, or the fastest one with an error of at
  /// most this, instead of the winner.
  std::optional<int64_t> point;
  std::optional<double> replayMaxError;
  /// Makes every fallback an error.
  bool strict = false;
  /// Shows no progress bar.
  bool quiet = false;
  /// Makes CompileOutcome::reference.
  bool withReference = false;
  /// The package file to write; empty for none.
  std::string output;
  std::string evaluatorProgram = findEvaluatorProgram();
};

/// Returns true if the package is for several sizes.
bool hasSeveralSizes(const CompileOptions &options);

struct CompileOutcome {
  runtime::Package package;
  /// A package to compare with: fp32, nchw, not fused, every layer by the
  /// reference solver, so that it shares as little as possible.
  std::optional<runtime::Package> reference;
  /// The inputs of CompileOptions::assumedInputs whose values the packages
  /// depend on.
  std::vector<std::string> assumedInputs;
  /// The content of a tuning file, whether one was written or not. There is one
  /// candidate per choice.
  TuningFile record;
  enum Mode { Quick, Tuned, Replayed } mode = Quick;
  /// The layers that --replay-anyway has replaced.
  std::vector<std::string> replaced;
  /// How solutions were compared: "measured", or "modelled" if no kernel of the
  /// target runs here.
  std::string compared = "measured";
  SearchStatistics search;
  KernelCompiler::Statistics kernels;
  double seconds = 0;
};

/// Compiles a model and writes the files that the options name. On failure,
/// existing files are left as they are. Remarks go to stderr.
runtime::Result<CompileOutcome> compileModel(const CompileOptions &options);

/// Compiles the package of one choice, with what is known about its layers. The
/// options must have a single choice and no outputs.
runtime::Result<runtime::Package> compileForRun(CompileOptions options);

/// Formats a table of the choices that were tried: accuracy, time, and the
/// winner.
std::string formatCandidates(const TuningFile &record);

/// Returns an error if a file cannot be created at `path`, or would replace a
/// folder. "" is no file and no error.
runtime::Status checkWritable(const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_TUNING_COMPILE_H
