//===- GlobalTunerTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "Measure/PipelineMeasurer.h"
#include "Measure/TopOne.h"
#include "TestDirectory.h"
#include "Tuning/RegionTuner.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Result;
using runtime::Status;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// The measurements, in their order.
using Log = std::vector<std::string>;

/// Every candidate is right and takes a millisecond, or half of one in halves.
class FakeMeasurer final : public Measurer {
public:
  explicit FakeMeasurer(const Problem &problem)
      : milliseconds(runtime::dtypeBytes(problem.operands[0].dtype) == 2 ? 0.5
                                                                         : 1) {}

  Result<MeasureOutcome> measure(const Contender &, const Effort &) override {
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

  Result<std::unique_ptr<Measurer>> create(const Problem &problem) override {
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

bool isTuned(const CandidateRecord &record) {
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
  /// Added to every time before the final.
  double drift = 0;
  /// Added to the first time of all.
  double disturbance = 0;
  /// The measurements of whole models after which the machine fails.
  int measurementsLeft = INT_MAX;

  Status calibrate(Fusion) override { return runtime::success(); }
  Result<Solution> solve(const Problem &problem) override {
    return context.tuner.lookUp(problem);
  }
  Status time(const CompiledChoice &choice,
              PipelineMeasurement &measurement) override {
    if (measurementsLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    log.push_back(choice.record.choice.name() +
                  (isTuned(choice.record) ? " tuned" : " untuned"));
    take(choice, isTuned(choice.record) ? -drift : drift + disturbance,
         measurement);
    disturbance = 0;
    if (timesLayers)
      timeLayers(choice.record, measurement);
    return runtime::success();
  }
  Status compare(const CompiledChoice &choice,
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
  Status timeAgain(const CompiledChoice &choice,
                   PipelineMeasurement &measurement) override {
    if (measurementsLeft-- == 0)
      return runtime::Error{"the machine was switched off"};
    ++measurement.rounds;
    take(choice, 0, measurement);
    return runtime::success();
  }
  bool isNoisy() const override { return true; }

protected:
  /// What fp32 says is right of ten samples of two classes; other choices are
  /// wrong of some.
  Result<SampleResults> runSamples(const CompiledChoice *choice,
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

  Result<GlobalResult> tryRun() {
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

std::vector<std::string> getSources(const CandidateRecord &record) {
  std::vector<std::string> sources;
  for (const LayerRecord &layer : record.layers)
    sources.push_back(layer.source);
  return sources;
}

} // namespace

TEST_F(GlobalTunerTest, ChoicesAreMeasuredUntunedBeforeAnythingIsSearched) {
  measurer->times = {{"fp32/nchw", {10, 8}}, {"fp32/nhwc", {15, 6}}};
  run();
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log[0], "fp32/nhwc untuned");
  EXPECT_EQ(log[1], "fp32/nchw untuned");
  EXPECT_EQ(log[2], "fp32/nchw compared");
  EXPECT_EQ(log[3], "fp32/nhwc compared");
  EXPECT_THAT(log[4], StartsWith("search "));
}

/// Whichever of close choices was disturbed.
TEST_F(GlobalTunerTest, CloseChoicesAreTimedTwice) {
  measurer->times = {{"fp32/nchw", {10, 10}}, {"fp32/nhwc", {9, 9}}};
  measurer->disturbance = 4;
  GlobalResult result = run();
  ASSERT_GE(log.size(), 5u);
  EXPECT_EQ(log[0], "fp32/nhwc untuned");
  EXPECT_EQ(log[1], "fp32/nchw untuned");
  EXPECT_EQ(log[2], "fp32/nhwc untuned");
  EXPECT_EQ(log[3], "fp32/nchw untuned");
  EXPECT_EQ(log[4], "fp32/nhwc compared");
  EXPECT_EQ(result.winner, 1u);
}

TEST_F(GlobalTunerTest, TunedPlanWins) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 5);
  EXPECT_THAT(getSources(result.candidates[0]), Contains("measured"));
}

TEST_F(GlobalTunerTest, TuningNeverEndsSlowerThanItBegan) {
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  // The tuned plan looks faster until both are measured in turn.
  measurer->drift = 2;
  GlobalResult result = run();
  EXPECT_THAT(log, Contains("fp32/nchw tuned"));
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 10);
  EXPECT_THAT(getSources(result.candidates[0]), Each("default"));
  EXPECT_FALSE(result.leftOut.empty());
}

TEST_F(GlobalTunerTest, ChoicesThatCannotWinAreNotSearched) {
  measurer->times = {{"fp32/nchw", {100, 10}}, {"fp32/nhwc", {20, 18}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[0].pipeline->median, 100);
  std::vector<std::string> searched;
  for (const LayerRecord &layer : result.candidates[1].layers)
    searched.push_back("search " + layer.problem);
  int64_t searches = 0;
  for (const std::string &entry : log)
    if (llvm::StringRef(entry).starts_with("search ")) {
      ++searches;
      EXPECT_THAT(searched, Contains(entry));
    }
  EXPECT_GT(searches, 0);
}

TEST_F(GlobalTunerTest, ChoiceWithMoreToGainWins) {
  measurer->times = {{"fp32/nchw", {10, 9.5}}, {"fp32/nhwc", {10.5, 5}}};
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[1].pipeline->median, 5);
}

TEST_F(GlobalTunerTest, WithoutTimeThePromisingUntunedPlanIsTheResult) {
  measurer->times = {{"fp32/nchw", {10, 1}}, {"fp32/nhwc", {5, 1}}};
  deadline = Deadline::after(0);
  GlobalResult result = run();
  EXPECT_EQ(log, (Log{"fp32/nhwc untuned", "fp32/nhwc compared"}));
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.candidates[1].pipeline->median, 5);
  EXPECT_THAT(result.candidates[0].failure, HasSubstr("the time was over"));
  EXPECT_TRUE(result.leftOut.empty());
}

TEST_F(GlobalTunerTest, FastestChoiceIsComparedFirst) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {5, 5}}};
  run();
  EXPECT_EQ(log[2], "fp32/nhwc compared");
}

TEST_F(GlobalTunerTest, AFastChoiceThatIsWrongDoesNotWin) {
  measurer->times = {{"fp32/nchw", {10, 10}}, {"fp32/nhwc", {1, 1}}};
  measurer->errors["fp32/nhwc"] = 1;
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_FALSE(result.candidates[1].accuracy->withinBudget);
}

TEST_F(GlobalTunerTest, ASecondRunMeasuresNothing) {
  measurer->times = {{"fp32/nchw", {10, 5}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult first = run();
  EXPECT_EQ(first.candidates[0].pipeline->median, 5);
  auto measured = tuner->getStatistics().measured;
  GlobalResult second = run();
  EXPECT_EQ(tuner->getStatistics().measured, measured);
  EXPECT_EQ(second.winner, first.winner);
  EXPECT_EQ(second.candidates[0].pipeline, first.candidates[0].pipeline);
}

TEST_F(GlobalTunerTest, ASecondRunChoosesTheSameOfNearlyEqualPlans) {
  // Searches save nothing here, so that plans must be nearly as fast untuned
  // for both to be made.
  measurer->times = {{"fp32/nchw", {10, 9.5}}, {"fp32/nhwc", {10, 9.501}}};
  EXPECT_EQ(run().winner, 0u);
  EXPECT_EQ(run().winner, 0u);
}

TEST_F(GlobalTunerTest, AMetricDecidesInPlaceOfTheError) {
  dtypes = {runtime::Precision::F32, runtime::Precision::F16};
  measurer->times = {{"fp32/nchw", {10, 10}},
                     {"fp32/nhwc", {11, 11}},
                     {"fp16/nchw", {6, 6}},
                     {"fp16/nhwc", {5, 5}}};
  measurer->errors = {{"fp16/nchw", 0.9}, {"fp16/nhwc", 0.001}};
  measurer->wrong = {{"fp16/nchw", 1}, {"fp16/nhwc", 2}};
  goal.metric = std::make_unique<TopOne>(std::vector<int64_t>(10, 0), 2);
  goal.maxDrop = 0.1;
  GlobalResult result = run();
  const CandidateRecord &winner = result.candidates[result.winner];
  EXPECT_EQ(winner.choice.name(), "fp16/nchw");
  EXPECT_EQ(winner.accuracy->value, 0.9);
  EXPECT_FALSE(winner.accuracy->budget);
  EXPECT_EQ(winner.accuracy->metric, (MetricRecord{"top-1", 1, 0.9, 0.1}));
  for (const CandidateRecord &candidate : result.candidates)
    EXPECT_EQ(candidate.accuracy->withinBudget,
              candidate.choice.name() != "fp16/nhwc")
        << candidate.choice.name();
  // fp32 is run once for all.
  EXPECT_EQ(llvm::count(log, "fp32 judged"), 1);

  // Errors and times are in the journal, and are not measured again.
  result = run();
  EXPECT_EQ(result.candidates[result.winner].choice.name(), "fp16/nchw");
  EXPECT_EQ(llvm::count_if(log,
                           [](llvm::StringRef entry) {
                             return entry.ends_with("compared");
                           }),
            0);
  EXPECT_THAT(log, Contains("fp16/nchw judged"));
}

TEST_F(GlobalTunerTest, AFailedJudgementIsTheChoices) {
  dtypes = {runtime::Precision::F16};
  measurer->times = {{"fp16/nchw", {6, 6}}, {"fp16/nhwc", {5, 5}}};
  measurer->crashes = "fp16/nhwc";
  goal.metric = std::make_unique<TopOne>(std::vector<int64_t>(10, 0), 2);
  GlobalResult result = run();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.candidates[1].failure, "it crashed");
}

namespace {

/// A precision for each region, of which some may be in fp16.
class InterruptedTest : public GlobalTunerTest {
protected:
  void prepare(bool withoutRecords) {
    dtypes = {runtime::Precision::F32, runtime::Precision::F16};
    regions = RegionOptions{dtypes, {Layout{Layout::NHWC}}};
    regions->choosesDtypes = true;
    regions->maxError = 2.2 * FakePipelineMeasurer::kRegionError;
    start(withoutRecords);
    measurer->times = {{"fp32/nchw", {12, 11}},
                       {"fp32/nhwc", {11, 10}},
                       {"fp16/nchw", {6, 6}},
                       {"fp16/nhwc", {6, 6}}};
    measurer->errors = {{"fp16/nchw", 0.9}, {"fp16/nhwc", 0.9}};
  }

  static std::vector<std::string> describe(const GlobalResult &result) {
    const CandidateRecord &winner = result.candidates[result.winner];
    std::vector<std::string> lines = {winner.choice.name()};
    for (const RegionChoice &region : winner.choice.regions)
      lines.push_back(printRegionChoice(region));
    for (const LayerRecord &layer : winner.layers)
      lines.push_back(layer.problem + " " + layer.solver + " " +
                      layer.config.str());
    return lines;
  }
};

} // namespace

TEST_F(InterruptedTest, AnInterruptedRunEndsWithTheSamePlan) {
  prepare(/*withoutRecords=*/true);
  constexpr int kMany = 1000, kInterruptions = 5;
  measurer->measurementsLeft = factory->searchesLeft = kMany;
  std::vector<std::string> whole = describe(run());
  EXPECT_THAT(whole.front(), StartsWith("mixed"));
  int measurements = kMany - measurer->measurementsLeft;
  int searches = kMany - factory->searchesLeft;
  ASSERT_GT(measurements, kInterruptions);
  ASSERT_GT(searches, kInterruptions);
  factory->searchesLeft = INT_MAX;
  auto runAgain = [&](int steps) {
    EXPECT_FALSE(tryRun()) << steps;
    factory->searchesLeft = INT_MAX;
    prepare(/*withoutRecords=*/false);
    EXPECT_EQ(describe(run()), whole) << "after " << steps << " steps";
  };
  for (int i = 0; i < kInterruptions; ++i) {
    prepare(/*withoutRecords=*/true);
    measurer->measurementsLeft =
        (2 * i + 1) * measurements / (2 * kInterruptions);
    runAgain(measurer->measurementsLeft);
    prepare(/*withoutRecords=*/true);
    factory->searchesLeft = (2 * i + 1) * searches / (2 * kInterruptions);
    runAgain(factory->searchesLeft);
  }
}

TEST_F(GlobalTunerTest, ASecondRunChoosesTheGuessesThatHaveWon) {
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  measurer->drift = 2;
  GlobalResult first = run();
  EXPECT_THAT(getSources(first.candidates[0]), Each("default"));
  EXPECT_GT(tuner->getStatistics().measured, 0);
  start(/*withoutRecords=*/false);
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  GlobalResult second = run();
  EXPECT_EQ(second.winner, first.winner);
  EXPECT_THAT(getSources(second.candidates[0]), Each("default"));
  EXPECT_EQ(second.candidates[0].pipeline->median, 10);
  EXPECT_EQ(tuner->getStatistics().measured, 0);

  // With a limit it knows at once what was measured.
  start(/*withoutRecords=*/false);
  measurer->times = {{"fp32/nchw", {10, 11}}, {"fp32/nhwc", {30, 30}}};
  deadline = Deadline::after(1000);
  GlobalResult third = run();
  EXPECT_THAT(getSources(third.candidates[0]), Contains("measured"));
}
