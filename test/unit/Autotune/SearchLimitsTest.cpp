//===- SearchLimitsTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits and racing of searches that really measure.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Tuner.h"

#include "HostileSolvers.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gtest/gtest.h"

#include <set>

using namespace tarpon;
using namespace tarpon::test;

namespace {

class SearchLimitsTest : public testing::Test {
protected:
  static constexpr int64_t kConfigs = 12;

  TestDirectory directory;
  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TargetInfo target = *getHostTarget(1);
  KernelCompiler compiler{
      target, std::make_shared<KernelCache>(directory.file("cache")),
      makeHostBackend(target)};
  std::unique_ptr<Journal> journal =
      Journal::openInMemory(JournalContext::forTarget(target));
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  /// A few of these fill the rotating buffers.
  Problem large = *parseProblem("relu(1x64x64x64xf32)->1x64x64x64xf32");
  HostileSolver right{"right-v1", HostileSolver::Right, kConfigs};

  SearchStatistics tune(const SearchOptions &options) {
    Tuner tuner(compiler, *journal, progress);
    tuner.setSearchOptions(options);
    auto solution = tuner.tune(problem);
    EXPECT_TRUE(solution) << solution.message();
    return tuner.getStatistics();
  }

  /// Counts the candidates that have a result.
  size_t countResults() const {
    return journal->getMeasurements(problem.key()).size();
  }

  std::vector<std::string> getConfigs() const {
    std::vector<std::string> configs;
    for (const Measurement &m : journal->getMeasurements(problem.key()))
      configs.push_back(m.key.solver + "/" + m.key.config);
    return configs;
  }

  const Measurement find(const std::string &solver) const {
    for (const Measurement &m : journal->getMeasurements(problem.key()))
      if (m.key.solver == solver)
        return m;
    ADD_FAILURE() << "no record of " << solver;
    return {};
  }
};

} // namespace

TEST_F(SearchLimitsTest, IterationsCountWhatIsKnownAndFinishNothing) {
  ScopedExtraSolvers extra({&right});
  SearchOptions options;
  options.method = SearchMethodKind::Exhaustive;
  options.iterations = 4;
  tune(options);
  EXPECT_EQ(countResults(), 4u);
  EXPECT_FALSE(hasFinding(*journal, problem.key(), Finding::Searched));
  EXPECT_EQ(tune(options).measured, 0);
  options.iterations = 6;
  tune(options);
  EXPECT_EQ(countResults(), 6u);
  options.iterations.reset();
  tune(options);
  EXPECT_GE(countResults(), size_t(kConfigs));
  EXPECT_TRUE(hasFinding(*journal, problem.key(), Finding::Searched));
}

TEST_F(SearchLimitsTest, PatienceEndsASearchOfEquals) {
  ScopedExtraSolvers extra({&right});
  SearchOptions options;
  options.method = SearchMethodKind::Exhaustive;
  options.patience = 1;
  tune(options);
  // All of them are the same: hardly ever is each better than the one before,
  // here and when the search goes on.
  EXPECT_GE(countResults(), 2u);
  EXPECT_LT(countResults(), size_t(kConfigs));
  EXPECT_FALSE(hasFinding(*journal, problem.key(), Finding::Searched));
  tune(options);
  EXPECT_LT(countResults(), size_t(kConfigs));
}

TEST_F(SearchLimitsTest, NothingIsReplacedByASearchThatALimitEnds) {
  ScopedExtraSolvers extra({&right});
  SearchOptions options;
  options.method = SearchMethodKind::Exhaustive;
  tune(options);
  size_t before = countResults();
  Tuner again(compiler, *journal, progress);
  again.setFindPolicy({FindMode::Normal, TuningPolicy::SearchDbUpdate});
  options.iterations = 2;
  again.setSearchOptions(options);
  ASSERT_TRUE(again.find(problem));
  EXPECT_GE(again.getStatistics().measured, 2);
  EXPECT_EQ(countResults(), before);
}

TEST_F(SearchLimitsTest, TimeOfAProblemEndsItsSearch) {
  ScopedExtraSolvers extra({&right});
  SearchOptions options;
  options.method = SearchMethodKind::Exhaustive;
  options.problemSeconds = 0;
  tune(options);
  EXPECT_EQ(countResults(), 0u);
  EXPECT_FALSE(hasFinding(*journal, problem.key(), Finding::Searched));
}

TEST_F(SearchLimitsTest, TheSeedDecidesWhatIsDrawn) {
  HostileSolver many("many-v1", HostileSolver::Right, 40);
  ScopedExtraSolvers extra({&many});
  SearchOptions options;
  options.method = SearchMethodKind::Random;
  options.iterations = 6;
  std::vector<std::vector<std::string>> runs;
  for (uint64_t seed : {5, 5, 6}) {
    journal = Journal::openInMemory(JournalContext::forTarget(target));
    options.seed = seed;
    tune(options);
    runs.push_back(getConfigs());
  }
  EXPECT_EQ(runs[0].size(), 6u);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST_F(SearchLimitsTest, GuidedStopsByItselfAndIsFinished) {
  HostileSolver many("many-v1", HostileSolver::Right, 200);
  ScopedExtraSolvers extra({&many});
  SearchStatistics first = tune({});
  EXPECT_LT(first.measured, 100) << "of 200 that are the same";
  EXPECT_TRUE(hasFinding(*journal, problem.key(), Finding::Searched));
  EXPECT_EQ(tune({}).measured, 0);
}

TEST_F(SearchLimitsTest, SlowCandidateGetsFewSamples) {
  HostileSolver one("right-v1", HostileSolver::Right);
  HostileSolver slow("slow-v1", HostileSolver::Slow);
  one.fraction = 2;
  problem = large;
  ScopedExtraSolvers extra({&one, &slow});
  SearchStatistics statistics = tune({});
  EXPECT_GE(statistics.dropped, 1);
  Measurement dropped = find("slow-v1");
  EXPECT_EQ(dropped.status, MeasurementStatus::Ok);
  EXPECT_TRUE(dropped.isDropped);
  EXPECT_LE(dropped.samples.size(), 3u);
  EXPECT_EQ(dropped.stage, MeasurementStage::Race) << "no finalist";
  EXPECT_EQ(dropped.detail, "dropped after " +
                                std::to_string(dropped.samples.size()) +
                                " samples");
  EXPECT_FALSE(find("right-v1").isDropped);
  // It counts as measured, and the search as finished.
  EXPECT_TRUE(hasFinding(*journal, problem.key(), Finding::Searched));
  EXPECT_EQ(tune({}).measured, 0);
}

TEST_F(SearchLimitsTest, WithoutARivalNobodyIsDropped) {
  HostileSolver slow("slow-v1", HostileSolver::Slow);
  slow.fraction = 9;
  problem = large;
  ScopedExtraSolvers extra({&slow});
  tune({});
  EXPECT_FALSE(find("slow-v1").isDropped);
  EXPECT_GE(find("slow-v1").samples.size(), size_t(policy::kRaceSamples));
}
