//===- RaceTest.cpp -------------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a race, with a measurer that says what the test wants.
//
//===----------------------------------------------------------------------===//

#include "Search/Race.h"

#include "TestDirectory.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <map>

#include <sys/wait.h>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using testing::ElementsAre;
using testing::HasSubstr;

static constexpr const char *kProblem = "relu(1x4x2x2xf32)->1x4x2x2xf32";

namespace {

class FakeMeasurer final : public Measurer {
public:
  /// By solver. What has no time is wrong.
  std::map<std::string, double> milliseconds;
  std::map<std::string, MeasurementStatus> statuses;
  std::optional<MeasurementStatus> interruptedStatus;
  std::optional<std::string> dispute;
  std::string fatal, broken;
  bool noisy = true;
  int prepared = 0;
  std::vector<std::string> log;

  Status prepare(llvm::ArrayRef<Contender>) override {
    ++prepared;
    return runtime::success();
  }
  Status build(const Contender &contender) override {
    return contender.key.solver == broken ? Status(Error{"it spills"})
                                          : runtime::success();
  }
  Result<MeasureOutcome> measure(const Contender &contender,
                                 const Effort &effort) override {
    const std::string &solver = contender.key.solver;
    bool isFinal = effort.stage == MeasurementStage::Final;
    log.push_back(solver + (isFinal ? " final" : ""));
    MeasureOutcome outcome;
    outcome.status = MeasurementStatus::Ok;
    if (auto known = statuses.find(solver); known != statuses.end())
      outcome.status = known->second;
    outcome.timing = runtime::summarize({milliseconds[solver]});
    if (solver == fatal)
      outcome.afterwards = Error{"the device is gone"};
    cutoffs.push_back(effort.cutoffMs);
    return outcome;
  }
  std::optional<MeasurementStatus> getInterruptedStatus() const override {
    return interruptedStatus;
  }
  bool isNoisy() const override { return noisy; }
  std::optional<std::string> describeDispute() const override {
    return dispute;
  }

  std::vector<double> cutoffs;
};

class RaceTest : public testing::Test {
protected:
  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TestDirectory directory;
  TargetInfo target = *getHostTarget(1);
  JournalContext journalContext = JournalContext::forTarget(target);
  std::unique_ptr<Journal> journal = Journal::openInMemory(journalContext);
  SearchStatistics statistics;
  FakeMeasurer measurer;
  Deadline deadline = Deadline::never();

  Race makeRace(const std::vector<std::string> &solvers) {
    Race race({measurer, *journal, progress, statistics, deadline}, kProblem);
    for (const std::string &solver : solvers) {
      Contender contender;
      contender.key = {kProblem, solver, ""};
      race.getContenders().push_back(std::move(contender));
    }
    return race;
  }

  static Status raceAll(Race &race) {
    for (size_t i = 0; i < race.getContenders().size(); ++i)
      if (Status status = race.measure(i); !status)
        return status;
    if (Status status = race.runFinal(); !status)
      return status;
    return race.finish();
  }
};

} // namespace

TEST_F(RaceTest, FinalistsAreTimedInTurn) {
  measurer.milliseconds = {{"slow", 2}, {"fast", 1}, {"near", 1.05}};
  Race race = makeRace({"slow", "near", "fast"});
  ASSERT_TRUE(raceAll(race));
  EXPECT_THAT(measurer.log,
              ElementsAre("slow", "near", "fast", "fast final", "near final",
                          "fast final", "near final"));
  // Each is told what it has to beat to come into the final.
  EXPECT_DOUBLE_EQ(measurer.cutoffs[0], 0);
  EXPECT_DOUBLE_EQ(measurer.cutoffs[2], 1.05 * policy::kFinalistRatio);
  const Measurement &fast = *race.getContenders()[2].result;
  EXPECT_EQ(fast.stage, MeasurementStage::Final);
  EXPECT_EQ(fast.rounds, policy::kFinalRounds);
  EXPECT_EQ(fast.samples.size(), 2u);
  EXPECT_EQ(statistics.measured, 7);
  EXPECT_EQ(journal->getBest(kProblem)->key.solver, "fast");
}

/// Whoever is wrong in the final has not won, though it was right in the race.
TEST_F(RaceTest, FinalistsAreVerified) {
  measurer.milliseconds = {{"fast", 1}, {"near", 1.05}};
  Race race = makeRace({"fast", "near"});
  ASSERT_TRUE(race.measure(0));
  ASSERT_TRUE(race.measure(1));
  measurer.statuses["fast"] = MeasurementStatus::Wrong;
  ASSERT_TRUE(race.runFinal());
  ASSERT_TRUE(race.finish());
  EXPECT_THAT(measurer.log, ElementsAre("fast", "near", "fast final",
                                        "near final", "near final"));
  EXPECT_EQ(journal->getBest(kProblem)->key.solver, "near");
  EXPECT_EQ(statistics.rejected, 1);
}

TEST_F(RaceTest, AFinalThatWasCutShortGoesOn) {
  measurer.milliseconds = {{"fast", 1}, {"near", 1.05}};
  Race first = makeRace({"fast", "near"});
  ASSERT_TRUE(raceAll(first));
  Race decided = makeRace({"fast", "near"});
  Race cut = makeRace({"fast", "near"});
  for (size_t i = 0; i < 2; ++i) {
    decided.getContenders()[i].result = first.getContenders()[i].result;
    cut.getContenders()[i].result = first.getContenders()[i].result;
  }
  cut.getContenders()[1].result->rounds = 1;
  measurer.log.clear();
  ASSERT_TRUE(decided.runFinal());
  EXPECT_THAT(measurer.log, ElementsAre());
  ASSERT_TRUE(cut.runFinal());
  EXPECT_THAT(measurer.log, ElementsAre("near final"));
}

/// A model says the same every time.
TEST_F(RaceTest, WithoutNoiseThereIsNoFinal) {
  measurer.noisy = false;
  measurer.milliseconds = {{"fast", 1}, {"near", 1.05}};
  Race race = makeRace({"fast", "near"});
  ASSERT_TRUE(raceAll(race));
  EXPECT_THAT(measurer.log, ElementsAre("fast", "near"));
}

TEST_F(RaceTest, AfterTheDeadlineThereIsNoFinal) {
  measurer.milliseconds = {{"fast", 1}, {"near", 1.05}};
  deadline = Deadline::after(0);
  Race race = makeRace({"fast", "near"});
  ASSERT_TRUE(raceAll(race));
  EXPECT_TRUE(race.wasCut());
  EXPECT_THAT(measurer.log, ElementsAre("fast", "near"));
}

TEST_F(RaceTest, WhatCannotBeBuiltIsRejected) {
  measurer.milliseconds = {{"fast", 1}};
  measurer.broken = "broken";
  Race race = makeRace({"broken", "fast"});
  ASSERT_TRUE(raceAll(race));
  EXPECT_THAT(measurer.log, ElementsAre("fast"));
  EXPECT_EQ(race.getContenders()[0].result->status, MeasurementStatus::Failed);
  EXPECT_THAT(remarks, HasSubstr("broken {} is not used for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32: failed: it spills"));
}

/// The candidate that has brought the device down is on record.
TEST_F(RaceTest, AnOutcomeIsRecordedBeforeTheRunEnds) {
  measurer.milliseconds = {{"bad", 1}};
  measurer.statuses["bad"] = MeasurementStatus::Crashed;
  measurer.fatal = "bad";
  Race race = makeRace({"bad", "fast"});
  Status status = raceAll(race);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "the device is gone");
  ASSERT_EQ(journal->getMeasurements(kProblem).size(), 1u);
  EXPECT_EQ(journal->getMeasurements(kProblem)[0].status,
            MeasurementStatus::Crashed);
}

/// The measurer says what it means that runs ended during a measurement.
TEST_F(RaceTest, WhatEndsRunsIsLeftOut) {
  for (auto status : {MeasurementStatus::Failed, MeasurementStatus::Crashed}) {
    std::string path = directory.file(getStatusName(status).str());
    for (int i = 0; i < policy::kMaxInterrupted; ++i) {
      pid_t child = fork();
      if (child == 0) {
        auto killed = Journal::open(path, journalContext);
        (void)(*killed)->recordStarted({kProblem, "killer", ""},
                                       MeasurementStage::Race);
        raise(SIGKILL);
      }
      waitpid(child, nullptr, 0);
    }
    journal = std::move(*Journal::open(path, journalContext));
    measurer.interruptedStatus = status;
    Race race = makeRace({"killer"});
    ASSERT_TRUE(race.measure(0));
    EXPECT_EQ(race.getContenders()[0].result->status, status);
    EXPECT_EQ(race.getContenders()[0].result->detail,
              "2 runs ended while it was measured");
    EXPECT_TRUE(measurer.log.empty());
  }
}

/// A candidate that was verified in the race does not become a crash because
/// runs were stopped in its final.
TEST_F(RaceTest, RunsThatEndInAFinalAreNoVerdict) {
  std::string path = directory.file("finals");
  for (int i = 0; i < policy::kMaxInterrupted; ++i) {
    pid_t child = fork();
    if (child == 0) {
      auto killed = Journal::open(path, journalContext);
      (void)(*killed)->recordStarted({kProblem, "one", ""},
                                     MeasurementStage::Final);
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  journal = std::move(*Journal::open(path, journalContext));
  measurer.interruptedStatus = MeasurementStatus::Crashed;
  measurer.milliseconds = {{"one", 1}, {"two", 1.01}};
  Race race = makeRace({"one", "two"});
  ASSERT_TRUE(raceAll(race));
  EXPECT_EQ(race.getContenders()[0].result->status, MeasurementStatus::Failed);
  EXPECT_EQ(race.getContenders()[1].result->status, MeasurementStatus::Ok);
}

TEST_F(RaceTest, DisputedVerdictsAreNotRecorded) {
  measurer.milliseconds = {{"one", 1}, {"two", 2}, {"three", 3}};
  measurer.statuses["three"] = MeasurementStatus::Crashed;
  Race race = makeRace({"one", "two", "three"});
  ASSERT_TRUE(race.measure(0));
  EXPECT_EQ(journal->getMeasurements(kProblem).size(), 1u);
  measurer.dispute = "nobody knows";
  ASSERT_TRUE(race.measure(1));
  ASSERT_TRUE(race.measure(2));
  ASSERT_TRUE(race.finish());
  // Not to be run again, whoever is right.
  ASSERT_EQ(journal->getMeasurements(kProblem).size(), 1u);
  EXPECT_EQ(journal->getMeasurements(kProblem)[0].key.solver, "three");
  EXPECT_THAT(remarks, HasSubstr("candidates for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32 disagree, and nobody knows"));
}

//===----------------------------------------------------------------------===//
// Factories
//===----------------------------------------------------------------------===//

namespace {

/// Every candidate takes as long as its solver's id is.
class ToyMeasurer final : public Measurer {
public:
  Result<MeasureOutcome> measure(const Contender &contender,
                                 const Effort &) override {
    MeasureOutcome outcome;
    outcome.status = MeasurementStatus::Ok;
    outcome.timing.medianMs = static_cast<double>(contender.key.solver.size());
    return outcome;
  }
  bool isNoisy() const override { return false; }
};

class ToyFactory final : public MeasurerFactory {
public:
  using MeasurerFactory::MeasurerFactory;

  Result<std::unique_ptr<Measurer>> create(const Problem &) override {
    return std::unique_ptr<Measurer>(std::make_unique<ToyMeasurer>());
  }
};

} // namespace

/// A target may bring a measurer of its own.
TEST_F(RaceTest, ArchitecturesHaveTheirOwnMeasurers) {
  registerMeasurerFactory("toy",
                          [](KernelCompiler &compiler, const std::string &) {
                            return std::unique_ptr<MeasurerFactory>(
                                std::make_unique<ToyFactory>(compiler));
                          });
  target.arch = "toy";
  registerSolvers("toy", getHostSolvers);
  KernelCompiler compiler = makeHostCompiler(target, /*cache=*/nullptr);
  // Nobody may be asked to run anything.
  Tuner tuner(compiler, *journal, progress, "/nowhere/evaluator");
  Problem problem = *parseProblem(kProblem);
  Result<Solution> best = tuner.tune(problem);
  ASSERT_TRUE(best) << best.message();
  ASSERT_TRUE(best->measurement);
  EXPECT_EQ(best->measurement->median,
            static_cast<double>(best->solver->id().size()));
}
