//===- ModelledSearchTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches where nothing can be run: a backend's model answers.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Tuner.h"

#include "HostileSolvers.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Error;
using runtime::Result;
using testing::HasSubstr;

namespace {

/// Variants take less and less, but the last ones cannot be compiled.
class FakeBackend final : public KernelBackend {
public:
  explicit FakeBackend(int64_t broken, std::atomic<int> &asked)
      : broken(broken), asked(asked) {}

  std::string describe() const override { return "fake"; }
  std::string describeCostModel() const override { return "fake-model-v1"; }

  Result<std::vector<char>> compile(const KernelSource &) const override {
    return std::vector<char>{'x'};
  }

  Result<SolutionEstimate>
  estimate(const CompiledSolution &solution) const override {
    ++asked;
    int64_t variant = solution.config.get("variant");
    EXPECT_EQ(solution.objects.size(), solution.plan.launches.size());
    if (variant >= broken)
      return Error{"kernel 'k' spills 3 registers"};
    return SolutionEstimate{1.0 / static_cast<double>(variant + 1), ""};
  }

  Result<LinkedKernels> link(const KernelObjects &) const override {
    return Error{"nothing is linked"};
  }
  std::string printMlir(const KernelSource &) const override { return ""; }
  Result<std::string> printAssembly(const KernelSource &) const override {
    return Error{"there is none"};
  }

private:
  int64_t broken;
  std::atomic<int> &asked;
};

class ModelledSearchTest : public testing::Test {
protected:
  static constexpr int64_t kConfigs = 6;

  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TargetInfo target = *getHostTarget(1);
  TestDirectory directory;
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  HostileSolver solver{"modelled-v1", HostileSolver::Right, kConfigs};
  std::atomic<int> asked = 0;
  SearchStatistics statistics;

  std::unique_ptr<Journal> open(const JournalContext &context) {
    auto journal = Journal::open(directory.file("journal"), context);
    EXPECT_TRUE(journal) << journal.message();
    return std::move(*journal);
  }
  std::unique_ptr<Journal> openModelled() {
    return open(JournalContext::forModel(target, "fake-model-v1"));
  }

  Result<Solution> tune(int64_t broken, Journal &journal,
                        std::optional<int64_t> iterations = {},
                        llvm::ArrayRef<const Solver *> others = {}) {
    KernelCompiler compiler(target, nullptr,
                            std::make_unique<FakeBackend>(broken, asked));
    // Nobody may be asked to run anything.
    Tuner tuner(compiler, journal, progress, "/nowhere/evaluator");
    SearchOptions options;
    options.method = SearchMethodKind::Exhaustive;
    options.iterations = iterations;
    tuner.setSearchOptions(options);
    FindRequest request{true, {}};
    for (const Solver *other : getHostSolvers())
      if (other != &solver && !llvm::is_contained(others, other))
        request.limits.disabledSolvers.push_back(other->id().str());
    Result<Solution> solution = tuner.find(problem, request);
    statistics = tuner.getStatistics();
    return solution;
  }
};

} // namespace

TEST_F(ModelledSearchTest, TheModelRanks) {
  ScopedExtraSolvers extra({&solver});
  auto journal = openModelled();
  auto solution = tune(kConfigs, *journal);
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->solver, &solver);
  EXPECT_EQ(solution->config.get("variant"), kConfigs - 1);
  EXPECT_EQ(solution->source, "model");
  ASSERT_TRUE(solution->measurement);
  EXPECT_NEAR(solution->measurement->median, 1.0 / kConfigs, 1e-12);
  EXPECT_TRUE(solution->measurement->samples.empty());
  EXPECT_EQ(asked, kConfigs);
  EXPECT_EQ(statistics.measured, kConfigs);
}

TEST_F(ModelledSearchTest, WhatSpillsIsRemarkedAndNeverServed) {
  ScopedExtraSolvers extra({&solver});
  auto journal = openModelled();
  auto solution = tune(3, *journal);
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->config.get("variant"), 2);
  EXPECT_EQ(statistics.rejected, kConfigs - 3);
  EXPECT_THAT(remarks, HasSubstr("modelled-v1 {variant=3} and 2 more of its "
                                 "configs are not used for relu("));
  EXPECT_THAT(remarks, HasSubstr("kernel 'k' spills 3 registers"));
  // Nor is it compiled again.
  journal.reset();
  journal = openModelled();
  asked = 0;
  solution = tune(3, *journal);
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->config.get("variant"), 2);
  EXPECT_EQ(solution->source, "model");
  EXPECT_EQ(asked, 0);
}

TEST_F(ModelledSearchTest, NothingCompiles) {
  ScopedExtraSolvers extra({&solver});
  auto journal = openModelled();
  auto solution = tune(0, *journal);
  ASSERT_FALSE(solution);
  EXPECT_EQ(solution.message(), "no solver's kernels for " + problem.key() +
                                    " can be compiled for " + target.name());
}

TEST_F(ModelledSearchTest, NoMoreAreCompiledThanAskedFor) {
  ScopedExtraSolvers extra({&solver});
  auto journal = openModelled();
  ASSERT_TRUE(tune(kConfigs, *journal, 4));
  EXPECT_EQ(asked, 4);
  EXPECT_FALSE(hasFinding(*journal, problem.key(), Finding::Searched));
}

/// The records of one solver reach the limit of a later search, and the guess
/// of another one goes ahead of them.
TEST_F(ModelledSearchTest, TheAnswerOfASearchHasATime) {
  HostileSolver better{"better-v1", HostileSolver::Right};
  HostileSolver best{"best-v1", HostileSolver::Right};
  better.fraction = 2;
  best.fraction = 3;
  ScopedExtraSolvers extra({&solver, &better, &best});
  auto journal = openModelled();
  ASSERT_TRUE(tune(kConfigs, *journal, 2));
  asked = 0;
  auto solution = tune(kConfigs, *journal, 2, {&better});
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->solver, &solver);
  EXPECT_TRUE(solution->measurement);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(journal->getMeasurements(problem.key()).size(), 3u);
  // One that cannot be compiled is left alone.
  solution = tune(0, *journal, 2, {&better, &best});
  ASSERT_TRUE(solution) << solution.message();
  EXPECT_EQ(solution->solver, &solver);
  EXPECT_TRUE(solution->measurement);
}

TEST_F(ModelledSearchTest, RecordsAreNobodysMeasurements) {
  ScopedExtraSolvers extra({&solver});
  auto modelled = openModelled();
  ASSERT_TRUE(tune(kConfigs, *modelled));
  auto measured = open(JournalContext::forTarget(target));
  EXPECT_TRUE(measured->getMeasurements(problem.key()).empty());
  EXPECT_FALSE(measured->getBest(problem.key()));
  EXPECT_FALSE(hasFinding(*measured, problem.key(), Finding::Searched));
  EXPECT_THAT(
      publishStore(directory.file("journal"), directory.file("published"))
          .message(),
      HasSubstr("has no records of this build to publish"));
  // Nor are measurements, or another version's records, the model's.
  Measurement m = modelled->getMeasurements(problem.key()).front();
  EXPECT_EQ(m.timeSource, TimeSource::Modelled);
  m.key.problem = "another";
  ASSERT_TRUE(measured->record(m));
  EXPECT_EQ(measured->getMeasurements("another").front().timeSource,
            TimeSource::Measured);
  EXPECT_TRUE(modelled->getMeasurements("another").empty());
  auto later = open(JournalContext::forModel(target, "fake-model-v2"));
  EXPECT_TRUE(later->getMeasurements(problem.key()).empty());
}
