//===- TuningFile.h - The JSON record of a tuned model ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of docs/tuning.schema.json in memory: every global choice that was
// tried, the solution of every layer, and the winner. Replaying a file (see
// Replay.h) turns the same knobs again and measures nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_TUNINGFILE_H
#define TARPON_AUTOTUNE_CHOICE_TUNINGFILE_H

#include "tarpon/Autotune/Choice/GlobalChoice.h"
#include "tarpon/Autotune/Choice/RangeMethod.h"
#include "tarpon/Autotune/Store/TimeSource.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The range of one quantised tensor on the calibration inputs.
struct TensorRange {
  std::string name;
  float lo = 0, hi = 0;
  /// The method that chose the range.
  RangeMethod method = RangeMethod::MinMax;
  /// For the result of a filter: the means of the channels that the filter
  /// reads, and the same after these were rounded to 8 bits, in short form.
  std::vector<float> inputMeans = {}, storedMeans = {};

  bool operator==(const TensorRange &) const = default;
};

/// Rounds a number to the few digits with which tuning files hold means.
float roundToShortForm(double value);

/// The solution of one fused operation.
struct LayerRecord {
  std::string name;
  std::string problem;
  std::string solver;
  PerfConfig config;
  int64_t workspaceBytes = 0;
  /// "measured", "user-db", "model", "default", ...
  std::string source;
  /// The time in milliseconds; set if it was measured or modelled. A modelled
  /// one has only the median.
  struct Timing {
    double median = 0, mad = 0;
    int64_t samples = 0;
    double maxError = 0;

    bool operator==(const Timing &) const = default;
  };
  std::optional<Timing> timing;

  bool operator==(const LayerRecord &) const = default;
};

/// A user's metric on all calibration inputs, and how much it may drop.
struct MetricRecord {
  /// "top-1", or the user's command.
  std::string name;
  /// The metric of fp32 and of the candidate; more is better.
  double reference = 0, value = 0;
  /// The largest drop that is allowed.
  double budget = 0;

  double getDrop() const { return reference - value; }
  bool operator==(const MetricRecord &) const = default;
};

struct AccuracyRecord {
  /// Relative L2 distance from fp32, and the largest that is allowed; none
  /// where the metric decides.
  double value = 0;
  std::optional<double> budget;
  bool withinBudget = false;
  std::optional<MetricRecord> metric = std::nullopt;

  /// Returns the distance; below policy::kExactMaxError candidates differ from
  /// fp32 by rounding alone, and err alike.
  double getNotableError() const;
  bool operator==(const AccuracyRecord &) const = default;
};

struct PipelineRecord {
  double median = 0, mad = 0;
  int64_t samples = 0;

  /// A time that was not measured as a whole is the sum of the layers' times.
  TimeSource getTimeSource() const {
    return samples == 0 ? TimeSource::Modelled : TimeSource::Measured;
  }
  bool operator==(const PipelineRecord &) const = default;
};

/// The expectation of a model before it was measured: by the sum of its
/// regions' times, and of the squares of their errors.
struct PredictionRecord {
  double milliseconds = 0, error = 0;
  /// How far the milliseconds may be off. Files that are older than this say 0.
  double deviation = 0;

  bool operator==(const PredictionRecord &) const = default;
};

/// One choice that was tried.
struct CandidateRecord {
  GlobalChoice choice;
  /// The reason why it cannot be used; empty if it can.
  std::string failure;
  std::optional<AccuracyRecord> accuracy;
  std::optional<PipelineRecord> pipeline;
  /// Set if regions were chosen for: before it was measured, and by the costs
  /// at the end of the run, where all other plans have corrected its error.
  std::optional<PredictionRecord> prediction, correctedPrediction;
  /// The ranges of the arguments and fused operations in their order; for int8
  /// only.
  std::vector<TensorRange> ranges;
  std::vector<LayerRecord> layers;

  bool operator==(const CandidateRecord &) const = default;
};

struct TuningFile {
  struct Model {
    std::string sha256, name;
    std::map<std::string, std::vector<int64_t>> inputs;

    bool operator==(const Model &) const = default;
  } model;
  struct Target {
    /// `cpu` is TargetTraits::getProcessor.
    std::string arch, cpu;
    std::vector<std::string> features;
    int64_t threads = 1;
    /// JournalContext::caches; "" in files of 6d49224 and before, which are
    /// valid for any sizes.
    std::string caches = "";

    bool operator==(const Target &) const = default;
  } target;
  struct Toolchain {
    std::string tarpon, llvm;

    bool operator==(const Toolchain &) const = default;
  } toolchain;
  /// As the user gave them: "pick_global", "fp32,int8".
  struct Knobs {
    std::string dtype, layout, fusion;
    /// "pick", or the method of all ranges; "min-max" in files of bb090be and
    /// before.
    std::string ranges = "min-max";

    bool operator==(const Knobs &) const = default;
  } knobs;
  struct Calibration {
    /// "generated" or "directory".
    std::string source;
    int64_t samples = 1;
    std::string digest;

    bool operator==(const Calibration &) const = default;
  } calibration;
  std::vector<CandidateRecord> candidates;
  int64_t winner = 0;
  /// A plan that was the fastest within the accuracy budget when it was
  /// measured, so long after the search began.
  struct Improvement {
    double seconds = 0, milliseconds = 0;
    std::string choice;

    bool operator==(const Improvement &) const = default;
  };
  /// In the order in which they were found; empty in files of b454467d and
  /// before, and where nothing was searched.
  std::vector<Improvement> progress;

  const CandidateRecord &getWinner() const { return candidates[winner]; }
  /// The Pareto front of time against error: the candidates that were measured
  /// and of which no other is as fast and has no larger notable error, the
  /// fastest first. Budgets do not matter.
  std::vector<size_t> getFront() const;
  /// The fastest candidate whose error is at most `maxError`, none if there is
  /// none.
  std::optional<size_t> findWithin(double maxError) const;
  bool operator==(const TuningFile &) const = default;
};

/// Prints a tuning file.
std::string printTuningFile(const TuningFile &file);

/// Checks `text` against the schema. An error starts with `name` and the JSON
/// path: "tuning.json: winner: expected an integer, got a string".
runtime::Result<TuningFile> parseTuningFile(const std::string &text,
                                            const std::string &name);

runtime::Result<TuningFile> readTuningFile(const std::string &path);

/// Writes the file through a temporary file and rename.
runtime::Status writeTuningFile(const TuningFile &file,
                                const std::string &path);

/// The JSON Schema that files are checked against, as in docs/.
const char *getTuningSchema();

/// The record of a target in a tuning file.
TuningFile::Target describeTarget(const TargetInfo &target);

/// Check whether a file can be replayed on a model or on a target; if not, the
/// error says what differs, and how.
runtime::Status checkModel(const TuningFile &file,
                           const TuningFile::Model &model,
                           const std::string &path);
runtime::Status checkTarget(const TuningFile &file, const TargetInfo &target,
                            const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_TUNINGFILE_H
