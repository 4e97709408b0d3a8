//===- GlobalTunerFixture.h - Tunings with made-up times --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_GLOBALTUNERFIXTURE_H
#define TARPON_TEST_UNIT_AUTOTUNE_GLOBALTUNERFIXTURE_H

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "Measure/PipelineMeasurer.h"
#include "TestDirectory.h"
#include "Tuning/RegionTuner.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include "gtest/gtest.h"

#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace tarpon::test {

/// The measurements, in their order.
using Log = std::vector<std::string>;

/// Every candidate is right and takes a millisecond, or half of one in halves.
class FakeMeasurer final : public Measurer {
public:
  explicit FakeMeasurer(const Problem &problem)
      : milliseconds(runtime::dtypeBytes(problem.operands[0].dtype) == 2 ? 0.5
                                                                         : 1) {}

  runtime::Result<MeasureOutcome> measure(const Contender &,
                                          const Effort &) override {
    MeasureOutcome outcome;
    outcome.status = MeasurementStatus::Ok;
    outcome.timing = runtime::summarize({milliseconds});
    return outcome;
  }
  bool isNoisy() const override { return false; }

private:
  double milliseconds;
};

class FakeMeasurerFactory final : public MeasurerFactory {
public:
  FakeMeasurerFactory(KernelCompiler &compiler, Log &log)
      : MeasurerFactory(compiler), log(log) {}

  /// The searches after which the machine fails.
  int searchesLeft = INT_MAX;

  runtime::Result<std::unique_ptr<Measurer>>
  create(const Problem &problem) override {
    if (searchesLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    log.push_back("search " + problem.key());
    return std::unique_ptr<Measurer>(std::make_unique<FakeMeasurer>(problem));
  }

private:
  Log &log;
};

/// The times of a choice.
struct FakeTimes {
  double untuned = 10, tuned = 10;
};

inline bool isTuned(const CandidateRecord &record) {
  return llvm::any_of(record.layers, [](const LayerRecord &layer) {
    return layer.source == "measured";
  });
}

class FakePipelineMeasurer final : public PipelineMeasurer {
public:
  /// The error of a model with one region in fp16.
  static constexpr double kRegionError = 0.01;

  FakePipelineMeasurer(const PipelineContext &context, Log &log)
      : PipelineMeasurer(context), log(log) {}

  std::map<std::string, FakeTimes> times;
  std::map<std::string, double> errors;
  std::map<std::string, int> wrong;
  /// The choice that crashes when it is judged.
  std::string crashes;
  /// The choice that the final does not get an answer of.
  std::string hangs;
  /// Added to every time before the final.
  double drift = 0;
  /// Added to the first time of all.
  double disturbance = 0;
  /// The factor of the first time of a plan that chooses for regions.
  double firstPlanFactor = 1;
  /// The measurements of whole models after which the machine fails.
  int measurementsLeft = INT_MAX;

  runtime::Status calibrate(Fusion) override {
    log.push_back("calibrated");
    return runtime::success();
  }
  runtime::Result<Solution> solve(const Problem &problem) override {
    return context.tuner.lookUp(problem);
  }
  runtime::Status time(const CompiledChoice &choice,
                       PipelineMeasurement &measurement) override {
    if (measurementsLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    log.push_back(choice.record.choice.name() +
                  (isTuned(choice.record) ? " tuned" : " untuned"));
    take(choice, isTuned(choice.record) ? -drift : drift + disturbance,
         measurement);
    disturbance = 0;
    if (!choice.record.choice.regions.empty())
      measurement.median *= std::exchange(firstPlanFactor, 1);
    if (timesLayers)
      timeLayers(choice.record, measurement);
    return runtime::success();
  }
  runtime::Status compare(const CompiledChoice &choice,
                          PipelineMeasurement &measurement) override {
    if (measurementsLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    log.push_back(choice.record.choice.name() + " compared");
    measurement.accuracy = errors[choice.record.choice.name()];
    auto halves = llvm::count_if(
        choice.record.choice.regions, [](const RegionChoice &region) {
          return region.dtype == runtime::Precision::F16;
        });
    if (halves > 0)
      measurement.accuracy = kRegionError * std::sqrt(halves);
    return runtime::success();
  }
  runtime::Status timeAgain(const CompiledChoice &choice,
                            PipelineMeasurement &measurement) override {
    if (measurementsLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    ++measurement.rounds;
    take(choice, 0, measurement);
    if (choice.record.choice.name() == hangs) {
      measurement.status = MeasurementStatus::TimedOut;
      measurement.detail = "it took too long";
    }
    return runtime::success();
  }
  bool isNoisy() const override { return true; }

protected:
  /// What fp32 says is right of ten samples of two classes; other choices are
  /// wrong of some.
  runtime::Result<SampleResults>
  runSamples(const CompiledChoice *choice,
             PipelineMeasurement &result) override {
    std::string name = choice ? choice->record.choice.name() : "fp32";
    log.push_back(name + " judged");
    if (name == crashes) {
      result.status = MeasurementStatus::Crashed;
      result.detail = "it crashed";
      return SampleResults();
    }
    SampleResults results;
    for (int sample = 0; sample < 10; ++sample) {
      bool isWrong = choice && sample < wrong[name];
      results.push_back({{isWrong ? 0.0 : 1.0, isWrong ? 1.0 : 0.0}});
    }
    return results;
  }

private:
  /// Layers take another time in each model than alone.
  static void timeLayers(const CandidateRecord &record,
                         PipelineMeasurement &measurement) {
    for (const LayerRecord &layer : record.layers) {
      bool isHalf = layer.problem.find("f16") != std::string::npos;
      auto hash = static_cast<size_t>(
          llvm::xxh3_64bits(layer.problem + record.choice.name()));
      measurement.problemsMs[layer.problem] =
          (isHalf ? 0.5 : 1) * (1 + 0.004 * static_cast<double>(hash % 100));
    }
  }

  void take(const CompiledChoice &choice, double error,
            PipelineMeasurement &measurement) const {
    measurement.status = MeasurementStatus::Ok;
    if (!choice.record.choice.regions.empty()) {
      measurement.median = 0;
      for (const RegionChoice &region : choice.record.choice.regions)
        measurement.median += region.dtype == runtime::Precision::F16 ? 0.5 : 1;
      measurement.samples = {measurement.median};
      return;
    }
    FakeTimes fake = times.at(choice.record.choice.name());
    measurement.median =
        (isTuned(choice.record) ? fake.tuned : fake.untuned) + error;
    measurement.samples = {measurement.median};
  }

  Log &log;
};

class GlobalTunerTest : public testing::Test {
protected:
  TestDirectory directory;
  Log log;
  Progress progress{llvm::errs(), Progress::Style::Quiet};
  std::unique_ptr<mlir::MLIRContext> context = makeModelContext();
  TargetCompiler target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<ModelCompiler> model;
  std::unique_ptr<FakeMeasurerFactory> factory;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Tuner> tuner;
  CalibrationInputs inputs;
  std::unique_ptr<FakePipelineMeasurer> measurer;
  Deadline deadline = Deadline::never();
  std::vector<runtime::Precision> dtypes = {runtime::Precision::F32};
  AccuracyGoal goal;
  std::optional<RegionOptions> regions;

  void SetUp() override {
    static TestDirectory cache;
    setenv("TARPON_CACHE_DIR", cache.path().c_str(), 1);
    auto made = makeTargetCompiler("host", {/*threads=*/1, "native", ""});
    ASSERT_TRUE(made) << made.message();
    target = std::move(*made);
    auto imported =
        importModel(*context, TARPON_SOURCE_DIR "/models/tiny/tiny_resnet.onnx",
                    {}, [](const std::string &) { return runtime::success(); });
    ASSERT_TRUE(imported) << imported.message();
    module = std::move(*imported);
    model = std::make_unique<ModelCompiler>(*module, *target.kernels);
    ASSERT_TRUE(model->simplify());
    factory = std::make_unique<FakeMeasurerFactory>(*target.kernels, log);
    start(/*withoutRecords=*/true);
  }

  /// Does what a new process does.
  void start(bool withoutRecords) {
    if (withoutRecords)
      journal = Journal::openInMemory(factory->getJournalContext());
    tuner =
        std::make_unique<Tuner>(*target.kernels, *factory, *journal, progress);
    measurer.reset(new FakePipelineMeasurer(
        {*module, *model, *tuner, progress, inputs, "", "native", &goal}, log));
  }

  GlobalResult run() {
    auto result = tryRun();
    EXPECT_TRUE(result) << result.message();
    return result ? std::move(*result) : GlobalResult();
  }

  runtime::Result<GlobalResult> tryRun() {
    log.clear();
    GlobalTuner global(*model, *tuner, *journal, progress, inputs, *measurer);
    global.setDeadline(deadline);
    global.setGoal(goal.metric ? &goal : nullptr);
    if (regions) {
      global.setMaxError(regions->maxError);
      global.setRegionOptions(*regions);
    }
    return global.run(enumerateChoices(
        dtypes, {Layout{Layout::NCHW}, Layout{Layout::NHWC}}, {Fusion::On}));
  }
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_GLOBALTUNERFIXTURE_H
