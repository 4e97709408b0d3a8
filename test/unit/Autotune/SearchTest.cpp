//===- SearchTest.cpp -----------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Tuner.h"

#include "HostileSolvers.h"
#include "Measure/EvaluationConditions.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

class SearchTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TargetInfo target = *getHostTarget(1);
  std::shared_ptr<KernelCache> cache =
      std::make_shared<KernelCache>(directory.file("cache"));
  KernelCompiler compiler{target, cache, makeHostBackend(target)};
  std::string journalPath = directory.file("journal");
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  SearchOptions options;

  std::unique_ptr<Journal> openJournal() {
    auto journal =
        Journal::open(journalPath, JournalContext::forTarget(target));
    EXPECT_TRUE(journal) << journal.message();
    return std::move(*journal);
  }

  Solution tune(Journal &journal, SearchStatistics *statistics = nullptr) {
    Tuner tuner(compiler, journal, progress);
    tuner.setSearchOptions(options);
    auto solution = tuner.tune(problem);
    EXPECT_TRUE(solution) << solution.message();
    if (statistics)
      *statistics = tuner.getStatistics();
    return solution ? *solution : Solution();
  }

  MeasurementStatus getStatus(const Journal &journal,
                              const std::string &solver) {
    for (const Measurement &m : journal.getMeasurements(problem.key()))
      if (m.key.solver == solver)
        return m.status;
    ADD_FAILURE() << "no record of " << solver;
    return MeasurementStatus::Failed;
  }
};

} // namespace

TEST_F(SearchTest, HostileSolversNeverWinAndNeverStopTheRun) {
  HostileSolver crashes("crashes-v1", HostileSolver::Crashes);
  HostileSolver hangs("hangs-v1", HostileSolver::Hangs);
  HostileSolver wrong("wrong-v1", HostileSolver::Wrong);
  HostileSolver nan("nan-v1", HostileSolver::NotANumber);
  HostileSolver right("right-v1", HostileSolver::Right);
  ScopedExtraSolvers extra({&crashes, &hangs, &wrong, &nan, &right});
  auto journal = openJournal();
  SearchStatistics statistics;
  Solution solution = tune(*journal, &statistics);
  ASSERT_TRUE(solution.solver);
  for (const Solver *hostile : {&crashes, &hangs, &wrong, &nan})
    EXPECT_NE(solution.solver, hostile);
  EXPECT_EQ(solution.source, "measured");
  EXPECT_EQ(getStatus(*journal, "crashes-v1"), MeasurementStatus::Crashed);
  EXPECT_EQ(getStatus(*journal, "hangs-v1"), MeasurementStatus::TimedOut);
  EXPECT_EQ(getStatus(*journal, "wrong-v1"), MeasurementStatus::Wrong);
  EXPECT_EQ(getStatus(*journal, "nan-v1"), MeasurementStatus::Wrong);
  EXPECT_EQ(getStatus(*journal, "right-v1"), MeasurementStatus::Ok);
  EXPECT_EQ(statistics.rejected, 4);
  EXPECT_THAT(remarks, HasSubstr("hangs-v1 {variant=0} is not used for " +
                                 problem.key() + ": timed-out"));
}

TEST_F(SearchTest, NothingIsMeasuredTwice) {
  auto journal = openJournal();
  SearchStatistics first, second;
  Solution tuned = tune(*journal, &first);
  Solution known = tune(*journal, &second);
  EXPECT_GT(first.measured, 0);
  EXPECT_EQ(second.measured, 0);
  // In this run, that is.
  EXPECT_EQ(known.source, "measured");
  EXPECT_EQ(tune(*openJournal()).source, "user-db");
  EXPECT_EQ(known.solver, tuned.solver);
  EXPECT_EQ(known.config, tuned.config);
  EXPECT_EQ(known.measurement->median, tuned.measurement->median);
}

TEST_F(SearchTest, BadDefaultsAreNotLookedUp) {
  HostileSolver wrong("wrong-v1", HostileSolver::Wrong);
  ScopedExtraSolvers extra({&wrong});
  auto journal = openJournal();
  Tuner tuner(compiler, *journal, progress);
  EXPECT_EQ(tuner.lookUp(problem).solver, &wrong);
  EXPECT_EQ(tuner.lookUp(problem).source, "default");
  tune(*journal);
  EXPECT_NE(tuner.lookUp(problem).solver, &wrong);
}

TEST_F(SearchTest, DefaultsAreTrustedOnceTheyAreVerified) {
  HostileSolver wrong("wrong-v1", HostileSolver::Wrong);
  HostileSolver right("right-v1", HostileSolver::Right);
  auto journal = openJournal();
  Tuner tuner(compiler, *journal, progress);
  Problem large = *parseProblem("relu(24x1024x1024xf32)->24x1024x1024xf32");
  ASSERT_GE(large.flops(), policy::kSlowReferenceFlops);
  {
    ScopedExtraSolvers extra({&wrong, &right});
    // The reference is quick enough for a small one.
    EXPECT_EQ(tuner.getTrusted(problem).solver, &getReferenceSolver());
    EXPECT_EQ(tuner.getStatistics().measured, 0);
    EXPECT_EQ(tuner.getTrusted(large).solver, &right);
    EXPECT_EQ(tuner.getTrusted(large).solver, &right);
    EXPECT_EQ(tuner.getStatistics().measured, 2);
    // Calibrations do not depend on what was tuned in between.
    tune(*journal);
    EXPECT_EQ(tuner.getTrusted(problem).solver, &getReferenceSolver());
  }
  // Without an evaluator, the reference has to do.
  Tuner without(compiler, *journal, progress, directory.file("none"));
  Problem larger = *parseProblem("relu(25x1024x1024xf32)->25x1024x1024xf32");
  EXPECT_EQ(without.getTrusted(larger).solver, &getReferenceSolver());
}

TEST_F(SearchTest, RecordsOfSolversThatAreGoneAreIgnored) {
  auto journal = openJournal();
  {
    HostileSolver right("right-v1", HostileSolver::Right);
    ScopedExtraSolvers extra({&right});
    tune(*journal);
    Measurement best;
    best.key = {problem.key(), "right-v1", "variant=7"};
    best.status = MeasurementStatus::Ok;
    best.stage = MeasurementStage::Final;
    best.median = 1e-9;
    ASSERT_TRUE(journal->record(best));
    Tuner tuner(compiler, *journal, progress);
    // The config is not one of the solver's.
    EXPECT_NE(tuner.lookUp(problem).config.str(), "variant=7");
  }
  Tuner tuner(compiler, *journal, progress);
  EXPECT_NE(tuner.lookUp(problem).solver, nullptr);
  EXPECT_NE(tuner.lookUp(problem).solver->id(), "right-v1");
}

TEST_F(SearchTest, AfterTheDeadlineTheDefaultIsTaken) {
  auto journal = openJournal();
  Tuner tuner(compiler, *journal, progress);
  tuner.setDeadline(Deadline::after(0));
  auto solution = tuner.tune(problem);
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->source, "default");
  EXPECT_EQ(tuner.getStatistics().measured, 0);
}

TEST_F(SearchTest, NoEvaluatorIsAnError) {
  auto journal = openJournal();
  Tuner tuner(compiler, *journal, progress, directory.file("none"));
  auto solution = tuner.tune(problem);
  ASSERT_FALSE(solution);
  EXPECT_THAT(solution.message(), HasSubstr(directory.file("none")));
}

TEST_F(SearchTest, KilledRunIsResumed) {
  constexpr int64_t kConfigs = 12;
  options.method = SearchMethodKind::Exhaustive;
  HostileSolver right("right-v1", HostileSolver::Right, kConfigs);
  ScopedExtraSolvers extra({&right});
  pid_t child = fork();
  if (child == 0) {
    auto journal = openJournal();
    tune(*journal);
    _exit(0);
  }
  size_t done = 0;
  while (done < 4) {
    usleep(20000);
    done = openJournal()->getMeasurements(problem.key()).size();
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  auto journal = openJournal();
  auto before = journal->getMeasurements(problem.key());
  SearchStatistics statistics;
  tune(*journal, &statistics);
  auto after = journal->getMeasurements(problem.key());
  EXPECT_EQ(static_cast<size_t>(statistics.reused), before.size());
  for (const Measurement &old : before) {
    auto now = std::find_if(after.begin(), after.end(),
                            [&](auto &m) { return m.key == old.key; });
    ASSERT_NE(now, after.end());
    // Finalists have more samples, of another stage.
    if (now->stage == old.stage) {
      EXPECT_EQ(now->samples, old.samples);
    }
  }
  EXPECT_GE(after.size(), static_cast<size_t>(kConfigs));
}

TEST_F(SearchTest, CandidateThatKillsRunsIsGivenUp) {
  HostileSolver right("right-v1", HostileSolver::Right);
  ScopedExtraSolvers extra({&right});
  CandidateKey key = {problem.key(), "right-v1", "variant=0"};
  for (int i = 0; i < policy::kMaxInterrupted; ++i) {
    pid_t child = fork();
    if (child == 0) {
      (void)openJournal()->recordStarted(key, MeasurementStage::Race);
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  auto journal = openJournal();
  tune(*journal);
  EXPECT_EQ(getStatus(*journal, "right-v1"), MeasurementStatus::Failed);
  EXPECT_THAT(remarks, HasSubstr("2 runs ended while it was measured"));
  // Not for ever: it may have been the user who ended them.
  journal = openJournal();
  tune(*journal);
  EXPECT_EQ(getStatus(*journal, "right-v1"), MeasurementStatus::Ok);
}

TEST_F(SearchTest, WhatMayPassIsTriedAgainOncePerRun) {
  HostileSolver right("right-v1", HostileSolver::Right);
  ScopedExtraSolvers extra({&right});
  for (MeasurementStatus status :
       {MeasurementStatus::Failed, MeasurementStatus::TimedOut,
        MeasurementStatus::Crashed, MeasurementStatus::Wrong}) {
    journalPath = directory.file(getStatusName(status).str());
    auto journal = openJournal();
    Measurement bad;
    bad.key = {problem.key(), "right-v1", "variant=0"};
    bad.status = status;
    ASSERT_TRUE(journal->record(bad));
    tune(*journal);
    EXPECT_EQ(getStatus(*journal, "right-v1"), status);
    journal = openJournal();
    tune(*journal);
    EXPECT_EQ(getStatus(*journal, "right-v1"),
              bad.mayPass() ? MeasurementStatus::Ok : status);
  }
}

TEST(EvaluationConditionsTest, LargeConstantsOfTheHostAreCold) {
  EvaluationConditions conditions = getEvaluationConditions(
      *parseProblem("relu(6xf32)->6xf32"), *getHostTarget(1),
      runtime::KernelForm::SharedObject);
  EXPECT_EQ(conditions.coldConstantBytes, policy::kColdConstantBytes);
}

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

static double getToleranceOf(const char *key, double scale) {
  return getTolerance(*parseProblem(key), scale);
}

TEST(ToleranceTest, GrowsWithTheReduction) {
  double small = getToleranceOf("relu(6xf32)->6xf32", 1);
  double large =
      getToleranceOf("conv(1x512x7x7xf32, "
                     "512x512x3x3xf32:const)->1x512x7x7xf32 {dilations=1,1 "
                     "group=1 pads=1,1,1,1 strides=1,1}",
                     1);
  EXPECT_GT(large, 10 * small);
  EXPECT_LT(large, 1e-3);
  EXPECT_EQ(getToleranceOf("relu(6xf32)->6xf32", 2), 2 * small);
}

TEST(ToleranceTest, FollowsTheTypeOfTheResult) {
  EXPECT_EQ(getToleranceOf("relu(6xu8q)->6xu8q", 200), 1);
  EXPECT_EQ(getToleranceOf("relu(6xi32)->6xi32", 1e6), 0);
  EXPECT_GT(getToleranceOf("relu(6xf16)->6xf16", 1), 1e-3);
  EXPECT_GT(getToleranceOf("relu(6xbf16)->6xbf16", 1), 1e-2);
  EXPECT_LT(getToleranceOf("relu(6xf64)->6xf64", 1), 1e-13);
}
