//===- PackageTuningTest.cpp ----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With functions in place of kernels.
//
//===----------------------------------------------------------------------===//

#include "PackageTuningTest.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Runtime/Candidates.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <filesystem>

#include <sys/wait.h>

using namespace tarpon;
using namespace tarpon::test;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Candidate;
using runtime::Layer;
using runtime::Package;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST_F(PackageTuningTest, TheFastestRightOneWins) {
  // There is no such kernel as the last one.
  Package package = makePackage({"slow", "wrong", "near", "fast", "broken"});
  std::vector<float> expected = run(runtime::dropCandidates(package));
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "measured");
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_EQ(run(tuning->package), expected);
  EXPECT_EQ(tuning->before.medianMs, 4);
  EXPECT_EQ(tuning->after.medianMs, 2);

  // Layers of one problem are measured once.
  ASSERT_EQ(tuning->problems.size(), 1u);
  const TunedProblem &problem = tuning->problems[0];
  EXPECT_THAT(problem.layers, ElementsAre(0u, 1u));
  EXPECT_THAT(getStatuses(problem.results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Wrong,
                          MeasurementStatus::Ok, MeasurementStatus::Ok,
                          MeasurementStatus::Failed));
  EXPECT_EQ(problem.results[0].median, 2);
  EXPECT_EQ(problem.results[0].stage, MeasurementStage::Race);
  // Those that are close to each other are timed again, in turn.
  EXPECT_EQ(problem.results[2].stage, MeasurementStage::Final);
  EXPECT_EQ(problem.results[3].stage, MeasurementStage::Final);
  EXPECT_EQ(problem.results[3].median, 1);
  EXPECT_EQ(tuning->search.rejected, 2);
  EXPECT_THAT(remarks, HasSubstr("wrong-v1 {} is not used for relu"));
  EXPECT_THAT(
      remarks,
      HasSubstr(
          "failed: cannot run the package of model 'toy': no kernel broken"));
}

TEST_F(PackageTuningTest, WrongInTheEndIsWrong) {
  device.milliseconds["idle"] = 0.1;
  device.milliseconds["flaky"] = 0.1;
  auto tuning = tune(makePackage({"slow", "idle", "flaky", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_GT(flakyRuns, 100);
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Wrong,
                          MeasurementStatus::Wrong, MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
}

TEST_F(PackageTuningTest, TunedPackagesCanBeTunedAgain) {
  auto tuning = tune(makePackage({"slow", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  device.milliseconds["slow"] = 0.5;
  auto again = tune(tuning->package);
  ASSERT_TRUE(again) << again.message();
  EXPECT_THAT(getSolvers(again->package), ElementsAre("slow-v1", "slow-v1"));
  auto settled = tune(again->package);
  ASSERT_TRUE(settled) << settled.message();
  EXPECT_EQ(settled->changed, 0);
}

TEST_F(PackageTuningTest, LayersGetTheBestOfTheirOwn) {
  Package package = makePackage({"slow", "near", "fast"});
  package.layers[1].candidates.pop_back();
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "near-v1"));
}

TEST_F(PackageTuningTest, WorkspacesAreBehindTheArena) {
  Package package = makePackage({"slow", "fast"});
  const BufferRef workspace{BufferSpace::Arena, 64};
  for (Layer &layer : package.layers) {
    Candidate &fast = layer.candidates[1];
    fast.workspaceOffset = 128;
    fast.workspaceBytes = 128;
    fast.launches = {makeLaunch("fast", kIn, workspace),
                     makeLaunch("fast", workspace, kOut)};
  }
  device.milliseconds["fast"] = 0.25;
  std::vector<float> expected = run(runtime::dropCandidates(package));
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_EQ(tuning->package.arenaBytes, 128 + 128 + 64);
  EXPECT_EQ(tuning->problems[0].results[1].workspaceBytes, 128);
  EXPECT_EQ(run(tuning->package), expected);
}

TEST_F(PackageTuningTest, WithoutTimeNothingChanges) {
  PackageTuningOptions options;
  options.deadline = Deadline::after(0);
  auto tuning = tune(makePackage({"slow", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->countLeft(), 1);
  EXPECT_EQ(tuning->changed, 0);
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("slow-v1", "slow-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "model");
}

TEST_F(PackageTuningTest, TheJournalKeepsWhatWasMeasured) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"slow", "wrong", "fast", "gpu-naive"});
  auto tuning = tune(package, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->search.measured, 4);
  std::optional<Measurement> best = journal->getBest(kProblem);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->key.solver, "fast-v1");
  EXPECT_EQ(best->timeSource, TimeSource::Measured);
  EXPECT_FALSE(best->samples.empty());

  // Records are not measured again, unless that is asked for.
  device.milliseconds["slow"] = 0.1;
  auto reused = tune(package, options);
  ASSERT_TRUE(reused) << reused.message();
  EXPECT_EQ(reused->search.measured, 0);
  EXPECT_EQ(reused->search.reused, 4);
  EXPECT_THAT(getSolvers(reused->package), ElementsAre("fast-v1", "fast-v1"));
  options.again = true;
  auto again = tune(package, options);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->search.measured, 4);
  EXPECT_THAT(getSolvers(again->package), ElementsAre("slow-v1", "slow-v1"));
}

/// Nobody has verified what the package was compiled with.
TEST_F(PackageTuningTest, TheArbiterDecides) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"wrong", "slow", "gpu-naive", "fast"});
  auto tuning = tune(package, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Wrong, MeasurementStatus::Ok,
                          MeasurementStatus::Ok, MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_THAT(remarks, HasSubstr("from gpu-naive-v1 where"));
  EXPECT_THAT(remarks, HasSubstr("layer 'relu0' was computed wrongly by "
                                 "wrong-v1: the model's results are not "
                                 "compared with what they were"));
  EXPECT_EQ(journal->getBest(kProblem)->key.solver, "fast-v1");
  // New candidates are compared with it, too.
  device.bodies["late"] = relu;
  auto more = tune(makePackage({"wrong", "gpu-naive", "fast", "late", "idle"}),
                   options);
  ASSERT_TRUE(more) << more.message();
  EXPECT_EQ(more->search.reused, 3);
  EXPECT_THAT(getStatuses(more->problems[0].results),
              ElementsAre(MeasurementStatus::Wrong, MeasurementStatus::Ok,
                          MeasurementStatus::Ok, MeasurementStatus::Ok,
                          MeasurementStatus::Wrong));
}

TEST_F(PackageTuningTest, WithoutAnArbiterDisagreementIsNotRecorded) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  auto tuning = tune(makePackage({"wrong", "idle", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("wrong-v1", "wrong-v1"));
  EXPECT_TRUE(journal->getMeasurements(kProblem).empty());
  EXPECT_THAT(remarks, HasSubstr("disagree, and without gpu-naive-v1 nobody "
                                 "can say which are right: nothing is recorded "
                                 "of them, and wrong-v1"));
  // One that does not run is none.
  device.bodies.erase("gpu-naive");
  tuning = tune(makePackage({"slow", "gpu-naive", "idle", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_THAT(remarks, HasSubstr("gpu-naive-v1 {} for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32 gives no results to compare "
                                 "others with: cannot run the package of model "
                                 "'toy': no kernel gpu-naive"));
}

TEST_F(PackageTuningTest, WhatKillsRunsIsLeftOutForGood) {
  std::string path = testing::TempDir() + "/tarpon-killed-" +
                     std::to_string(getpid()) + ".journal";
  for (int i = 0; i < policy::kMaxInterrupted; ++i) {
    pid_t child = fork();
    if (child == 0) {
      auto journal = Journal::open(path, context);
      (void)(*journal)->recordStarted({kProblem, "fast-v1", ""},
                                      MeasurementStage::Race);
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  PackageTuningOptions options;
  options.journal = journal->get();
  Package package = makePackage({"slow", "fast"});
  for (int64_t reused : {0, 2}) {
    auto tuning = tune(package, options);
    ASSERT_TRUE(tuning) << tuning.message();
    EXPECT_EQ(tuning->search.reused, reused);
    const Measurement &killer = tuning->problems[0].results[1];
    EXPECT_EQ(killer.status, MeasurementStatus::Crashed);
    EXPECT_EQ(killer.detail, "2 runs ended while it was measured");
    EXPECT_THAT(getSolvers(tuning->package), ElementsAre("slow-v1", "slow-v1"));
  }
  fs::remove(path);
}

TEST_F(PackageTuningTest, FaultsEndTheRun) {
  FaultyDevice faulty;
  faulty.bodies = device.bodies;
  faulty.milliseconds = device.milliseconds;
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"slow", "fault", "fast"});
  auto tuning = tunePackage(package, faulty, progress, options);
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.message(),
            "the device runs nothing any more since fault-v1 {} for "
            "relu(1x4x2x2xf32)->1x4x2x2xf32 has failed (a fault): a fault");
  // The next process.
  isFaulty = false;
  tuning = tunePackage(package, faulty, progress, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Crashed,
                          MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
}

TEST_F(PackageTuningTest, CandidatesAreLeftWhenTheTimeIsOver) {
  isTardy = true;
  PackageTuningOptions options;
  options.deadline = Deadline::after(0.3);
  auto tuning = tune(makePackage({"tardy", "fast", "near"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->search.measured, 1);
  EXPECT_THAT(remarks, HasSubstr("2 candidates for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32 were left when the time was "
                                 "over"));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("tardy-v1", "tardy-v1"));
}

/// Its times are the emulator's.
TEST_F(PackageTuningTest, TheEmulatedDeviceKeepsTheModelsOrder) {
  Package package = makePackage({"slow", "fast", "gpu-naive"});
  device.areTimesReal = false;
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 0);
  for (const Measurement &result : tuning->problems[0].results) {
    EXPECT_EQ(result.status, MeasurementStatus::Ok);
    EXPECT_TRUE(result.samples.empty());
  }
  package = makePackage({"wrong", "slow", "fast", "gpu-naive"});
  for (Layer &layer : package.layers) {
    layer.candidates[2].modelMs = 0.5;
    layer.candidates[3].modelMs = 0;
  }
  tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "model");
}

TEST_F(PackageTuningTest, LayersThatAreNotTheirProblems) {
  auto getError = [&](const Package &package) {
    auto tuning = tune(package);
    return tuning ? std::string() : tuning.message();
  };
  Package package = makePackage({"slow", "fast"});
  package.layers[0].candidates[1].config = "[1]";
  EXPECT_EQ(getError(package), "layer 'relu0': '[1]' is no perf config");
  package = makePackage({"slow", "fast"});
  package.layers[0].operands.push_back(kIn);
  EXPECT_EQ(getError(package),
            "layer 'relu0' has other operands than its problem");
  package = makePackage({"slow", "fast"});
  package.layers[0].problem = "nonsense";
  EXPECT_THAT(getError(package),
              HasSubstr("layer 'relu0' poses 'nonsense', which this build "
                        "cannot read: "));
}

TEST_F(PackageTuningTest, WhatThePackageWasCompiledWithHasToRun) {
  auto tuning = tune(makePackage({"broken", "fast"}));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(
      tuning.message(),
      "layer 'relu0': cannot run the package of model 'toy': no kernel broken");
}

TEST_F(PackageTuningTest, MixedUpLayersAreSeen) {
  // The candidate is right, but it reads something else in the model.
  Package package = makePackage({"slow", "fast"});
  package.layers[1].operands = {{BufferSpace::Arena, 64}};
  auto tuning = tune(package);
  ASSERT_FALSE(tuning);
  EXPECT_THAT(tuning.message(),
              HasSubstr("the tuned model's output 'x' is off by 1 "));
}

TEST_F(PackageTuningTest, TheRecordOfTheCompilationIsUpdated) {
  auto tuning = tune(makePackage({"slow", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  TuningFile file;
  file.model = {std::string(64, '0'), "toy", {{"x", {1, 4, 2, 2}}}};
  CandidateRecord other, same;
  other.choice.layout = {Layout::NHWC};
  for (const char *name : {"relu0", "relu1", "copy"}) {
    LayerRecord layer;
    layer.name = name;
    layer.problem = kProblem;
    layer.solver = "slow-v1";
    layer.source = "model";
    same.layers.push_back(layer);
  }
  file.candidates = {other, same};
  auto status = updateRecord(file, *tuning, target, "t.json");
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(file.winner, 1);
  EXPECT_EQ(file.target.cpu, "gfx942:cu=228");
  const CandidateRecord &updated = file.candidates[1];
  EXPECT_EQ(updated.layers[0].solver, "fast-v1");
  EXPECT_EQ(updated.layers[1].source, "measured");
  ASSERT_TRUE(updated.layers[1].timing);
  EXPECT_EQ(updated.layers[1].timing->median, 1);
  EXPECT_EQ(updated.layers[2].source, "model");
  ASSERT_TRUE(updated.pipeline);
  EXPECT_EQ(updated.pipeline->median, 2);

  file.candidates = {other};
  EXPECT_EQ(updateRecord(file, *tuning, target, "t.json").message(),
            "t.json has no record of the package's choice, fp32/nchw, with "
            "fusion on");

  // Packages whose regions differ are told apart by their layers.
  tuning->package.fusion = "mixed";
  CandidateRecord split, another;
  split.choice.regions = {{}, {runtime::Precision::F32, {}, Fusion::Off}};
  another.choice = split.choice;
  for (const runtime::Layer &layer : tuning->package.layers)
    split.layers.emplace_back().problem = layer.problem;
  file.candidates = {same, another, split};
  status = updateRecord(file, *tuning, target, "t.json");
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(file.winner, 2);
  file.model.sha256 = std::string(64, '1');
  EXPECT_THAT(updateRecord(file, *tuning, target, "t.json").message(),
              HasSubstr("t.json was made for another model"));
}
