//===- Compilation.h - One compilation of a model ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_COMPILATION_H
#define TARPON_LIB_AUTOTUNE_TUNING_COMPILATION_H

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "Choice/Replay.h"
#include "Measure/AccuracyGoal.h"
#include "Measure/PipelineMeasurer.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// The solutions of the layers with some sizes of the model's dimensions.
struct SizeRecord {
  TuningFile file;
  /// For messages.
  std::string name;
};

/// One run of the chain.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options);

  runtime::Result<CompileOutcome> run();

private:
  runtime::Status checkOutputs() const;
  runtime::Status setUp();
  runtime::Status openJournal();
  runtime::Status openMeasured();
  runtime::Status openSystem();
  runtime::Status openHeuristic();
  runtime::Status reportIgnored(const Journal &store);
  runtime::Status importModel();
  /// Makes a remark, or with --strict returns an error.
  runtime::Status fallBack(const std::string &what);

  bool wantsTuning() const;
  bool mayMeasure() const;
  runtime::Status makeKernelCompiler();
  runtime::Result<std::unique_ptr<PipelineMeasurer>>
  makePipelineMeasurer(const CalibrationInputs &inputs);
  bool wantsMetric() const;
  runtime::Status calibrate(CandidateRecord &record);
  runtime::Result<TuningFile> readReplay(const std::string &path);
  ReplayOptions makeReplayOptions(const std::string &path);
  runtime::Status replay();
  runtime::Status tune();
  runtime::Status compileQuickly();
  runtime::Status compileReference();
  runtime::Status checkSizes() const;
  int64_t countSizes() const;
  std::vector<runtime::Dimension> findDimensions();
  runtime::Status importSizes(const std::vector<runtime::Dimension> &dimensions,
                              const std::vector<int64_t> &next);
  runtime::Result<std::vector<SizeRecord>>
  collectRecords(const std::vector<runtime::Dimension> &dimensions);
  runtime::Status replaySizes(const std::vector<runtime::Dimension> &dimensions,
                              llvm::ArrayRef<SizeRecord> records);
  runtime::Status compileSize(SizedPackageBuilder &builder,
                              const std::vector<runtime::Dimension> &dimensions,
                              const std::vector<int64_t> &next,
                              llvm::ArrayRef<SizeRecord> records);
  runtime::Status compileSizes();
  std::string describeSizes() const;
  CandidateSource makeCandidateSource();
  runtime::Status includeCandidates();
  runtime::Status checkSources(const std::set<std::string> &leftOut);
  runtime::Status checkReferenceLayers();
  void describe();
  runtime::Status writeOutputs();

  const CompileOptions &options;
  Progress progress;
  std::unique_ptr<mlir::MLIRContext> context;
  /// The model's file.
  std::unique_ptr<OnnxModel> onnx;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<const Target> target;
  std::unique_ptr<KernelCompiler> kernels;
  std::unique_ptr<MeasurerFactory> measurers;
  /// `measured` holds measurements that a GPU made where it was.
  std::unique_ptr<Journal> journal, measured, system;
  FindPolicy findPolicy;
  std::unique_ptr<LearnedRanker> learned;
  std::unique_ptr<Tuner> tuner;
  std::unique_ptr<ModelCompiler> model;
  /// The sizes that are compiled now, by the dimensions' names.
  std::map<std::string, int64_t> sizes;
  /// The fallbacks that remarks were made of: each size may have the same.
  std::set<std::string> remarks;
  /// The layers of all sizes that no record has a solution for.
  size_t numReplaced = 0;
  /// Set if the user has a metric.
  std::optional<AccuracyGoal> goal;
  CompileOutcome outcome;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_COMPILATION_H
