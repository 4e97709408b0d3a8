//===- CompileTest.cpp ----------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/Compile.h"

#include "CompileFixture.h"
#include "HostileSolvers.h"
#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Npy.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CompileTest, WithoutASearchNothingIsMeasured) {
  CompileOutcome outcome = compile(getOptions("tiny_resnet"));
  EXPECT_EQ(outcome.mode, CompileOutcome::Quick);
  EXPECT_EQ(outcome.search.measured, 0);
  ASSERT_EQ(outcome.record.candidates.size(), 1u);
  ASSERT_FALSE(outcome.record.getWinner().layers.empty());
  for (const LayerRecord &layer : outcome.record.getWinner().layers)
    EXPECT_EQ(layer.source, "default");
  EXPECT_EQ(findJournal(), "");
}

TEST_F(CompileTest, PickGlobalIsReplayedBitByBit) {
  CompileOptions options = getGlobalOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("fp32,int8");
  options.tuningFile = directory.file("t.json");
  options.output = directory.file("tuned.tpn");
  CompileOutcome tuned = compile(options);
  EXPECT_EQ(tuned.mode, CompileOutcome::Tuned);
  EXPECT_EQ(tuned.record.candidates.size(), 4u);
  for (const CandidateRecord &candidate : tuned.record.candidates) {
    EXPECT_EQ(candidate.failure, "") << candidate.choice.name();
    ASSERT_TRUE(candidate.accuracy) << candidate.choice.name();
    EXPECT_TRUE(candidate.pipeline);
    EXPECT_FALSE(candidate.layers.empty());
    EXPECT_EQ(candidate.ranges.empty(),
              candidate.choice.dtype != runtime::Precision::I8);
    if (candidate.choice.dtype == runtime::Precision::F32) {
      EXPECT_LT(candidate.accuracy->value, 1e-5);
    }
  }
  auto file = readTuningFile(options.tuningFile);
  ASSERT_TRUE(file) << file.message();
  EXPECT_TRUE(*file == tuned.record);

  // Every choice, so that int8's ranges are among what is replayed.
  for (size_t i = 0; i < file->candidates.size(); ++i) {
    file->winner = static_cast<int64_t>(i);
    ASSERT_TRUE(writeTuningFile(*file, directory.file("one.json")));
    CompileOptions again = getOptions("tiny_resnet");
    again.replays = {directory.file("one.json")};
    CompileOutcome replayed = compile(again);
    EXPECT_EQ(replayed.mode, CompileOutcome::Replayed);
    EXPECT_EQ(replayed.search.measured, 0);
    EXPECT_TRUE(replayed.replaced.empty());
    if (i == static_cast<size_t>(tuned.record.winner)) {
      EXPECT_EQ(runPackage(std::move(replayed.package)),
                runPackage(std::move(tuned.package)));
    }
  }
  EXPECT_THAT(formatCandidates(tuned.record), HasSubstr("winner"));
}

/// A plan may mix precisions and layouts; which ones a tuner finds depends on
/// the machine, so that they are written by hand.
TEST_F(CompileTest, ChoicesOfRegionsAreReplayedBitByBit) {
  CompileOptions options = getGlobalOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("fp32,int8");
  options.tuningTime = 0;
  CompileOutcome tuned = compile(options);
  options.dtype = *parseDtypeKnob("int8");
  TuningFile exact = compile(options).record;
  CandidateRecord mixed = exact.candidates[static_cast<size_t>(exact.winner)];
  ASSERT_FALSE(mixed.ranges.empty());
  std::vector<RegionChoice> regions;
  for (size_t i = 0; i < mixed.ranges.size() - 1; ++i)
    regions.push_back({i % 3 ? runtime::Precision::I8 : runtime::Precision::F32,
                       {i % 4 ? Layout::NHWC : Layout::NCHW}});
  mixed.choice = makeRegionChoice(regions, Fusion::On);
  EXPECT_EQ(mixed.choice.name(), "mixed/mixed");
  TuningFile file = tuned.record;
  file.winner = static_cast<int64_t>(file.candidates.size());
  file.candidates.push_back(std::move(mixed));
  ASSERT_TRUE(writeTuningFile(file, directory.file("mixed.json")));

  CompileOptions again = getOptions("tiny_resnet");
  again.replays = {directory.file("mixed.json")};
  again.replayAnyway = true;
  CompileOutcome first = compile(again);
  ASSERT_TRUE(writeTuningFile(first.record, directory.file("exact.json")));
  again.replays = {directory.file("exact.json")};
  again.replayAnyway = false;
  CompileOutcome second = compile(again);
  EXPECT_TRUE(second.replaced.empty());
  EXPECT_EQ(second.package.dtype, "mixed");
  EXPECT_EQ(runPackage(std::move(first.package)),
            runPackage(std::move(second.package)));
}

TEST_F(CompileTest, ReplaysAnyPointOfTheFront) {
  CompileOptions options = getGlobalOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("fp32,bf16");
  options.layout = *parseLayoutKnob("nhwc");
  CompileOutcome tuned = compile(options);
  // Times are made up, so that both are on the front.
  tuned.record.candidates[0].pipeline->median = 2;
  tuned.record.candidates[1].pipeline->median = 1;
  tuned.record.winner = 1;
  ASSERT_TRUE(writeTuningFile(tuned.record, directory.file("front.json")));
  CompileOptions again = getOptions("tiny_resnet");
  again.replays = {directory.file("front.json")};
  EXPECT_EQ(compile(again).package.dtype, "bf16");
  again.point = 1;
  EXPECT_EQ(compile(again).package.dtype, "fp32");
  again.point = 2;
  EXPECT_THAT(getError(again),
              HasSubstr("has a front of 2 points, and no point 2"));
  again.point.reset();
  again.replayMaxError = 1e-5;
  EXPECT_EQ(compile(again).package.dtype, "fp32");
  again.replayMaxError = 0;
  EXPECT_THAT(getError(again),
              HasSubstr("has no candidate with an error of 0"));
}

/// Where nearly all time is one convolution's, noise does not decide what is
/// searched. Several choices are GlobalTunerTest's.
TEST_F(CompileTest, SecondTuningRunMeasuresNothing) {
  CompileOptions options = getOptions("tiny_external");
  options.tuningTime = 60;
  CompileOutcome first = compile(options);
  EXPECT_GT(first.search.measured, 0);
  CompileOutcome second = compile(options);
  EXPECT_EQ(second.search.measured, 0);
  EXPECT_EQ(second.mode, CompileOutcome::Tuned);
  for (const LayerRecord &layer : second.record.getWinner().layers)
    EXPECT_NE(layer.source, "measured");
}

TEST_F(CompileTest, QuickCompileUsesTheJournal) {
  CompileOptions options = getOptions("tiny_resnet");
  options.tuningTime = 60;
  EXPECT_EQ(compile(options).mode, CompileOutcome::Tuned);
  options.tuningTime.reset();
  CompileOutcome quick = compile(options);
  EXPECT_EQ(quick.mode, CompileOutcome::Quick);
  int64_t known = 0;
  for (const LayerRecord &layer : quick.record.getWinner().layers)
    known += layer.source == "user-db";
  EXPECT_GT(known, 0);
}

TEST_F(CompileTest, KernelsThatCalibrateAreVerifiedOnce) {
  CompileOptions options = getOptions("tiny_symbolic");
  options.dtype = *parseDtypeKnob("int8");
  // So large that the reference would take longer than verifying.
  options.batch = 1024;
  EXPECT_GT(compile(options).search.measured, 0);
  EXPECT_EQ(compile(options).search.measured, 0);
}

TEST_F(CompileTest, CpusThatThisMachineIsNotAreRefused) {
  CompileOptions options = getOptions("tiny_resnet");
  options.target = "x86-64";
  EXPECT_EQ(compile(options).record.target.cpu, "x86-64");
  for (const char *cpu : {"znver4", "sapphirerapids", "graniterapids"}) {
    TargetInfo info = *getCpuTarget(cpu, /*threads=*/1);
    auto lacking =
        llvm::find_if_not(info.features, [](const std::string &feature) {
          return runtime::hostHasFeature(feature);
        });
    if (lacking == info.features.end())
      continue;
    options.target = cpu;
    auto outcome = compileModel(options);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.message(), "cannot compile for '" + std::string(cpu) +
                                     "': it has " + *lacking +
                                     ", which this machine lacks");
    return;
  }
  GTEST_SKIP() << "this machine has all that these CPUs have";
}

TEST_F(CompileTest, NoTimeStillGivesAPackage) {
  CompileOptions options = getGlobalOptions("tiny_resnet");
  options.tuningTime = 0;
  CompileOutcome outcome = compile(options);
  EXPECT_EQ(outcome.search.measured, 0);
  EXPECT_TRUE(outcome.record.getWinner().pipeline);
  EXPECT_THAT(outcome.record.candidates.back().failure,
              HasSubstr("the time was over"));
  options.strict = true;
  EXPECT_THAT(getError(options), HasSubstr("were not measured in time"));
}

TEST_F(CompileTest, ChoiceThatWasAskedForMayBeOverTheBudget) {
  CompileOptions options = getOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("int8");
  options.tuningTime = 1;
  options.maxError = 0;
  CompileOutcome outcome = compile(options);
  EXPECT_FALSE(outcome.record.getWinner().accuracy->withinBudget);
  options.strict = true;
  EXPECT_THAT(getError(options), HasSubstr("over the budget of 0"));
  options.dtype = *parseDtypeKnob("bf16,int8");
  EXPECT_THAT(getError(options),
              HasSubstr("no choice is within the accuracy budget; bf16/nchw"));
  options.strict = false;
  options.dtype = *parseDtypeKnob("fp32,int8");
  EXPECT_EQ(compile(options).record.getWinner().choice.dtype,
            runtime::Precision::F32);
}

TEST_F(CompileTest, CalibrationRunsVerifiedKernelsOnly) {
  CompileOptions options = getOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("int8");
  // Without fusion, the model has problems that the solvers claim.
  options.fusion = *parseFusionKnob("off");
  std::vector<TensorRange> ranges = compile(options).record.getWinner().ranges;
  ASSERT_FALSE(ranges.empty());
  for (auto kind : {HostileSolver::Crashes, HostileSolver::Hangs,
                    HostileSolver::Wrong, HostileSolver::NotANumber}) {
    HostileSolver hostile("hostile-v1", kind);
    ScopedExtraSolvers extra({&hostile});
    EXPECT_EQ(compile(options).record.getWinner().ranges, ranges);
  }
  // Nothing is verified in no time either.
  HostileSolver crashes("crashes-v1", HostileSolver::Crashes);
  ScopedExtraSolvers extra({&crashes});
  options.tuningTime = 0;
  CompileOutcome tuned = compile(options);
  EXPECT_EQ(tuned.record.getWinner().ranges, ranges);
  EXPECT_LT(tuned.record.getWinner().accuracy->value, 0.5);
}

TEST_F(CompileTest, WrongDefaultOfFp32IsOverItsBudget) {
  HostileSolver wrong("wrong-v1", HostileSolver::Wrong);
  ScopedExtraSolvers extra({&wrong});
  CompileOptions options = getOptions("tiny_resnet");
  options.fusion = *parseFusionKnob("off");
  options.tuningTime = 0;
  options.maxError = 10;
  CompileOutcome outcome = compile(options);
  const AccuracyRecord &accuracy = *outcome.record.getWinner().accuracy;
  EXPECT_EQ(accuracy.budget, policy::kExactMaxError);
  EXPECT_GT(accuracy.value, accuracy.budget);
  EXPECT_FALSE(accuracy.withinBudget);
  options.strict = true;
  EXPECT_THAT(getError(options), HasSubstr("fp32/nchw/unfused has an error"));
}

/// The number that a query on a journal gives; 0 while there is no journal.
static int64_t queryNumber(const std::string &path, const std::string &query) {
  sqlite3 *database = nullptr;
  sqlite3_stmt *statement = nullptr;
  int64_t number = 0;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) ==
          SQLITE_OK &&
      sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

/// Candidates with more than one row of the first measurement that `condition`
/// holds for.
static int64_t countRepeated(const std::string &journal,
                             const std::string &condition) {
  return queryNumber(journal,
                     "SELECT count(*) FROM (SELECT 1 FROM measurement WHERE "
                     "origin = 'race' AND " +
                         condition +
                         " GROUP BY problem, solver, config "
                         "HAVING count(*) > 1)");
}

TEST_F(CompileTest, KilledTuningRunIsResumed) {
  CompileOptions options = getOptions("tiny_external");
  options.tuningTime = 60;
  pid_t child = fork();
  if (child == 0) {
    auto outcome = compileModel(options);
    _exit(outcome ? 0 : 1);
  }
  const char *finished =
      "SELECT count(*) FROM measurement WHERE status <> 'started'";
  for (int i = 0; i < 3000 && queryNumber(findJournal(), finished) < 5; ++i)
    usleep(10000);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the run was over before it was killed";
  std::string journal = findJournal();
  int64_t before = queryNumber(journal, finished);
  ASSERT_GE(before, 5);

  CompileOutcome resumed = compile(options);
  EXPECT_GE(resumed.search.reused, before);
  EXPECT_GT(queryNumber(journal, finished), before);
  // Measurements are kept; the one in flight is started again.
  EXPECT_EQ(countRepeated(journal, "status <> 'started'"), 0);
  EXPECT_LE(countRepeated(journal, "status = 'started'"), 1);
}

TEST_F(CompileTest, ErrorsNameTheThingAndOverwriteNothing) {
  CompileOptions options = getOptions("tiny_resnet");
  writeText(directory.file("out.tpn"), "old");
  options.output = directory.file("out.tpn");
  options.model = directory.file("none.onnx");
  EXPECT_THAT(getError(options), HasSubstr("none.onnx"));
  options = getOptions("tiny_resnet");
  options.output = directory.file("out.tpn");
  options.replays = {directory.file("none.json")};
  EXPECT_THAT(getError(options), HasSubstr("none.json"));
  EXPECT_EQ(readText(directory.file("out.tpn")), "old");
  options.output = directory.file("no/where.tpn");
  EXPECT_THAT(getError(options), HasSubstr("there is no folder"));
  options.output = directory.path();
  EXPECT_THAT(getError(options), HasSubstr("it is a folder"));
  options = getOptions("tiny_resnet");
  options.calibration = directory.file("none");
  options.dtype = *parseDtypeKnob("int8");
  EXPECT_THAT(getError(options), HasSubstr(directory.file("none")));
}

TEST_F(CompileTest, DamagedJournalIsSetAside) {
  CompileOptions options = getOptions("tiny_resnet");
  options.tuningTime = 30;
  compile(options);
  std::string journal = findJournal();
  ASSERT_NE(journal, "");
  std::string garbage = "garbage" + std::string(9000, '!');
  writeText(journal, garbage);
  // Who only reads goes on without, too.
  options.tuningTime.reset();
  EXPECT_EQ(compile(options).search.measured, 0);
  EXPECT_EQ(readText(journal + ".damaged-1"), garbage);
  options.tuningTime = 30;
  EXPECT_GT(compile(options).search.measured, 0);
}

TEST_F(CompileTest, TuningFilesOfOthersAreRefused) {
  CompileOptions options = getOptions("tiny_resnet");
  options.tuningTime = 30;
  options.tuningFile = directory.file("t.json");
  compile(options);
  options = getOptions("tiny_mobilenet");
  options.replays = {directory.file("t.json")};
  EXPECT_THAT(getError(options), StartsWith(options.replays.front() +
                                            " was made for another model"));
  options.replayAnyway = true;
  EXPECT_THAT(getError(options), StartsWith(options.replays.front() +
                                            " was made for another model"));
  options = getOptions("tiny_resnet");
  options.replays = {directory.file("t.json")};
  options.threads = 2;
  EXPECT_THAT(getError(options),
              HasSubstr("was made for another target: thread count 1, not 2; "
                        "--replay-anyway re-checks every layer"));
  options.replayAnyway = true;
  EXPECT_EQ(compile(options).replaced.size(), 1u);
  options.strict = true;
  EXPECT_THAT(getError(options), HasSubstr("another target"));
}

TEST_F(CompileTest, ReplayAnywayReplacesWhatDoesNotFit) {
  CompileOptions options = getOptions("tiny_resnet");
  options.tuningTime = 30;
  options.tuningFile = directory.file("t.json");
  compile(options);
  auto file = readTuningFile(options.tuningFile);
  ASSERT_TRUE(file);
  std::vector<LayerRecord> &layers = file->candidates[0].layers;
  layers[0].solver = "gone-v7";
  ASSERT_TRUE(writeTuningFile(*file, options.tuningFile));
  options = getOptions("tiny_resnet");
  options.replays = {directory.file("t.json")};
  EXPECT_THAT(getError(options),
              HasSubstr("names the solver gone-v7, which does not exist; "
                        "--replay-anyway replaces it"));
  options.replayAnyway = true;
  CompileOutcome outcome = compile(options);
  ASSERT_EQ(outcome.replaced.size(), 1u);
  EXPECT_THAT(outcome.replaced[0], HasSubstr("layer '" + layers[0].name + "'"));
}

TEST_F(CompileTest, CalibrationFoldersHaveThreeForms) {
  CompileOptions options = getOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("int8");
  // ONNX's own form, as models/tiny has it.
  options.calibration = kModels + "tiny_resnet";
  CompileOutcome outcome = compile(options);
  EXPECT_EQ(outcome.record.calibration.source, "directory");
  EXPECT_EQ(outcome.record.calibration.samples, 1);
  std::string digest = outcome.record.calibration.digest;
  options.calibration = kModels + "tiny_resnet/test_data_set_0";
  EXPECT_EQ(compile(options).record.calibration.digest, digest);

  auto inputs = runtime::makeRandomInputs(outcome.package, 3);
  ASSERT_TRUE(inputs);
  for (const char *name : {"2.npy", "10.npy", "1.npy"})
    ASSERT_TRUE(runtime::writeNpy(inputs->front(), directory.file(name)));
  options.calibration = directory.path();
  EXPECT_EQ(compile(options).record.calibration.samples, 3);

  auto small = runtime::HostTensor::create(runtime::DType::F32, {1, 2});
  ASSERT_TRUE(runtime::writeNpy(*small, directory.file("3.npy")));
  EXPECT_THAT(getError(options), HasSubstr("3.npy: expected f32 "));
}

TEST(KnobTest, ListsAndPickGlobal) {
  EXPECT_EQ(parseDtypeKnob("pick_global")->values.size(), 4u);
  EXPECT_EQ(parseDtypeKnob("int8,fp32,int8")->values.size(), 2u);
  EXPECT_EQ(parseLayoutKnob("nhwc")->values.front(), Layout{Layout::NHWC});
  EXPECT_EQ(parseDtypeKnob("fp8").message(),
            "unknown dtype 'fp8', expected fp32, fp16, bf16, int8, pick or "
            "pick_global");
  EXPECT_FALSE(parseFusionKnob(""));
  EXPECT_FALSE(parseLayoutKnob("nchw,"));
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Writes samples of a model with one input to a folder.
static void
writeSamples(llvm::ArrayRef<std::vector<runtime::HostTensor>> samples,
             const TestDirectory &folder) {
  for (auto [index, sample] : llvm::enumerate(samples))
    ASSERT_TRUE(runtime::writeNpy(sample.front(),
                                  folder.file(std::to_string(index) + ".npy")));
}

TEST_F(CompileTest, TheErrorIsTheRootMeanSquareOfTheSamples) {
  CompileOptions options = getOptions("tiny_resnet");
  auto generated = generateCalibration(compile(options).package.inputs);
  ASSERT_TRUE(generated) << generated.message();
  options.dtype = *parseDtypeKnob("fp16");
  options.tuningTime = 0;
  auto measureError = [&](size_t first, size_t count) {
    TestDirectory folder;
    writeSamples(llvm::ArrayRef(generated->samples).slice(first, count),
                 folder);
    options.calibration = folder.path();
    return compile(options).record.getWinner().accuracy->value;
  };
  double first = measureError(0, 1), second = measureError(1, 1);
  EXPECT_NE(first, second);
  double both = std::sqrt((first * first + second * second) / 2);
  EXPECT_NEAR(measureError(0, 2), both, 1e-6 * both);
}

/// Sums of fp32 differ by rounding on any input.
TEST_F(CompileTest, FewSamplesTellTheErrorOfFp32) {
  CompileOptions options = getOptions("tiny_resnet");
  auto generated = generateCalibration(compile(options).package.inputs);
  ASSERT_TRUE(generated) << generated.message();
  generated->samples.resize(policy::kMaxExactSamples + 1);
  TestDirectory folder;
  runtime::HostTensor &last = generated->samples.back().front();
  runtime::storeFromFloat(last.dtype, INFINITY, last.data.data());
  writeSamples(generated->samples, folder);
  options.calibration = folder.path();
  options.tuningTime = 0;
  EXPECT_TRUE(compile(options).record.getWinner().accuracy->withinBudget);
  options.dtype = *parseDtypeKnob("fp16");
  EXPECT_THAT(getError(options), HasSubstr("an output has a NaN"));
}

TEST_F(CompileTest, FewGeneratedSamplesGiveTheRanges) {
  CompileOptions options = getOptions("tiny_resnet");
  options.dtype = *parseDtypeKnob("int8");
  CompileOutcome outcome = compile(options);
  EXPECT_EQ(outcome.record.calibration.samples, policy::kGeneratedSamples);
  auto generated = generateCalibration(outcome.package.inputs);
  ASSERT_TRUE(generated) << generated.message();
  auto findRanges = [&](size_t count) {
    TestDirectory folder;
    writeSamples(llvm::ArrayRef(generated->samples).take_front(count), folder);
    options.calibration = folder.path();
    return compile(options).record.getWinner().ranges;
  };
  EXPECT_EQ(findRanges(policy::kRangeSamples),
            outcome.record.getWinner().ranges);
  EXPECT_NE(findRanges(policy::kRangeSamples + 1),
            outcome.record.getWinner().ranges);
}
