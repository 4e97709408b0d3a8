//===- SearchMethodTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The methods on made-up tables of times: they see nothing else of a problem.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/SearchMethod.h"

#include "Search/Methods/GaussianProcess.h"
#include "tarpon/Autotune/Search/Policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

using namespace tarpon;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two solvers with a config of two fields each. Times are a bowl over the
/// logarithms, with ripples that no model knows; the cost model is wrong about
/// which solver is the better one, and knows nothing of the configs.
class SearchMethodTest : public testing::Test {
protected:
  SearchMethodTest() { addTable(space, times, 3.2, 2.1); }

  static void addTable(SearchSpace &space, std::vector<double> &times,
                       double bestM, double bestB) {
    for (bool isGood : {false, true})
      for (int64_t m = 0; m < 12; ++m)
        for (int64_t b = 0; b < 12; ++b) {
          SearchCandidate candidate;
          candidate.solver = isGood ? "good-v1" : "bad-v1";
          candidate.config = {{"block", int64_t(1) << b},
                              {"tile", int64_t(1) << m}};
          candidate.expectedMs = isGood ? 1.5 : 1;
          space.candidates.push_back(candidate);
          double x = m - bestM, y = b - bestB;
          double ripple = 0.01 * std::sin(7.0 * m + 3.0 * b);
          times.push_back((isGood ? 0.8 : 2) *
                          std::exp(0.02 * x * x + 0.01 * y * y + ripple));
        }
    space.features = {5, 6, 7};
  }

  /// Measures what the method proposes until it has enough.
  std::vector<SearchResult> run(SearchMethodKind kind, uint64_t seed = 0,
                                std::vector<SearchResult> results = {},
                                size_t max = 32) {
    auto method = makeSearchMethod(kind, space, seed);
    while (true) {
      std::vector<size_t> next = method->propose(results, max);
      EXPECT_LE(next.size(), max);
      if (next.empty())
        return results;
      for (size_t index : next) {
        for (const SearchResult &known : results)
          EXPECT_NE(known.candidate, index) << "proposed twice";
        results.push_back({index, times[index]});
      }
    }
  }

  /// The best time of all over the best that was found.
  double getQuality(const std::vector<SearchResult> &results) const {
    double found = std::numeric_limits<double>::infinity();
    for (const SearchResult &result : results)
      found = std::min(found, result.milliseconds);
    return *std::min_element(times.begin(), times.end()) / found;
  }

  static std::vector<size_t>
  getOrder(const std::vector<SearchResult> &results) {
    std::vector<size_t> order;
    for (const SearchResult &result : results)
      order.push_back(result.candidate);
    return order;
  }

  SearchSpace space;
  std::vector<double> times;
};

} // namespace

TEST_F(SearchMethodTest, ExhaustiveTakesAllInTheirOrder) {
  std::vector<size_t> order = getOrder(run(SearchMethodKind::Exhaustive));
  ASSERT_EQ(order.size(), times.size());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(SearchMethodTest, ExhaustiveCompletesWhatIsKnown) {
  std::vector<SearchResult> known = {{7, 1.0}, {3, 1.0}};
  auto results = run(SearchMethodKind::Exhaustive, 0, known);
  EXPECT_EQ(results.size(), times.size());
}

TEST_F(SearchMethodTest, RandomDependsOnTheSeedAlone) {
  auto first = getOrder(run(SearchMethodKind::Random, 1));
  EXPECT_EQ(first, getOrder(run(SearchMethodKind::Random, 1)));
  EXPECT_EQ(first, getOrder(run(SearchMethodKind::Random, 1, {}, 3)));
  EXPECT_NE(first, getOrder(run(SearchMethodKind::Random, 2)));
  EXPECT_EQ(first.size(), 29u) << "a tenth of 288";
}

TEST_F(SearchMethodTest, RandomGoesOnWhereItWas) {
  auto all = run(SearchMethodKind::Random, 1);
  std::vector<SearchResult> some(all.begin(), all.begin() + 10);
  EXPECT_EQ(getOrder(run(SearchMethodKind::Random, 1, some)), getOrder(all));
}

TEST_F(SearchMethodTest, LocalClimbsFromTheBestThatWasDrawn) {
  for (uint64_t seed : {1, 2, 3}) {
    auto local = run(SearchMethodKind::Local, seed);
    EXPECT_EQ(local.size(), 29u);
    EXPECT_EQ(getOrder(local), getOrder(run(SearchMethodKind::Local, seed)));
    std::vector<SearchResult> drawn(local.begin(), local.begin() + 14);
    EXPECT_GT(getQuality(local), getQuality(drawn));
    EXPECT_GT(getQuality(local), 0.95) << "seed " << seed;
  }
}

TEST_F(SearchMethodTest, GuidedFindsTheBestWithATenthOfTheMeasurements) {
  auto results = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(results), 0.99);
  EXPECT_LE(results.size(), 29u);
  EXPECT_EQ(getOrder(results), getOrder(run(SearchMethodKind::Guided)));
}

TEST_F(SearchMethodTest, GuidedTriesEachSolverOnce) {
  // Expected to take 50 times as long.
  space.candidates.push_back({"hopeless-v1", {}, 75});
  times.push_back(40);
  auto order = getOrder(run(SearchMethodKind::Guided));
  EXPECT_EQ(std::count(order.begin(), order.end(), times.size() - 1), 1);
  // The one of which more is expected comes first.
  EXPECT_EQ(space.candidates[order[0]].solver, "bad-v1");
  EXPECT_EQ(space.candidates[order[1]].solver, "good-v1");
}

TEST_F(SearchMethodTest, GuidedHasEnoughOnceItHasStopped) {
  auto results = run(SearchMethodKind::Guided);
  EXPECT_EQ(run(SearchMethodKind::Guided, 0, results).size(), results.size());
}

TEST_F(SearchMethodTest, GuidedGoesOnWhereItWas) {
  auto all = run(SearchMethodKind::Guided);
  std::vector<SearchResult> some(all.begin(), all.begin() + 9);
  EXPECT_EQ(getOrder(run(SearchMethodKind::Guided, 0, some)), getOrder(all));
}

TEST_F(SearchMethodTest, GuidedSurvivesCandidatesThatFail) {
  for (size_t i = 0; i < times.size(); ++i)
    if (space.candidates[i].solver == "bad-v1" || i % 3 == 0)
      times[i] = std::numeric_limits<double>::infinity();
  auto results = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(results), 0.97);
  EXPECT_LT(results.size(), times.size());
}

TEST_F(SearchMethodTest, GuidedTakesAllWhenAllFail) {
  std::fill(times.begin(), times.end(),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(run(SearchMethodKind::Guided).size(), times.size());
}

/// A kernel per tile of each solver.
TEST_F(SearchMethodTest, GuidedCompilesLittle) {
  auto countKernels = [this](const std::vector<SearchResult> &results) {
    std::set<std::string> kernels;
    for (const SearchResult &result : results)
      kernels.insert(space.candidates[result.candidate].kernels.begin(),
                     space.candidates[result.candidate].kernels.end());
    return kernels.size();
  };
  for (SearchCandidate &candidate : space.candidates)
    candidate.kernels = {candidate.solver + ":" +
                         std::to_string(candidate.config.get("tile"))};
  auto dear = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(dear), 0.97);
  // As if all were there.
  for (const SearchCandidate &candidate : space.candidates)
    space.compiled.insert(candidate.kernels.front());
  auto cheap = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(cheap), 0.99);
  EXPECT_LT(countKernels(dear), countKernels(cheap));
}

TEST_F(SearchMethodTest, GuidedNeedsNoModel) {
  for (SearchCandidate &candidate : space.candidates)
    candidate.expectedMs = 0;
  auto results = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(results), 0.97);
}

TEST_F(SearchMethodTest, GuidedLearnsFromRelatedProblems) {
  EXPECT_LT(getQuality({run(SearchMethodKind::Guided).front()}), 0.6);
  SearchSpace other;
  std::vector<double> otherTimes;
  addTable(other, otherTimes, 3.3, 2.0);
  RelatedProblem related;
  related.features = {5, 6.5, 7};
  for (size_t i = 0; i < otherTimes.size(); i += 5) {
    related.candidates.push_back(other.candidates[i]);
    related.milliseconds.push_back(10 * otherTimes[i]);
  }
  space.related = {related};
  auto results = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(results), 0.99);
  // The first one of the good solver is close to the best already.
  EXPECT_GE(getQuality({results[0]}), 0.95);
  EXPECT_EQ(space.candidates[results[0].candidate].solver, "good-v1");
}

TEST_F(SearchMethodTest, ParallelProposalsDiffer) {
  space.parallel = 4;
  auto results = run(SearchMethodKind::Guided);
  EXPECT_GE(getQuality(results), 0.98);
  EXPECT_LE(results.size(), 29u);
}

TEST_F(SearchMethodTest, NothingToSearchIsNoFault) {
  space = SearchSpace();
  for (SearchMethodKind kind :
       {SearchMethodKind::Exhaustive, SearchMethodKind::Random,
        SearchMethodKind::Local, SearchMethodKind::Guided})
    EXPECT_TRUE(makeSearchMethod(kind, space, 0)->propose({}, 8).empty());
}

TEST(PatienceTest, CountsFromTheLastImprovement) {
  std::vector<SearchResult> results = {{0, 2.0}, {1, 1.0}, {2, 1.5}};
  EXPECT_FALSE(isPatienceOver(results, 2));
  // Half a percent is no improvement.
  results.push_back({3, 0.998});
  EXPECT_TRUE(isPatienceOver(results, 2));
  results.push_back({4, 0.9});
  EXPECT_FALSE(isPatienceOver(results, 1));
  EXPECT_FALSE(isPatienceOver({}, 1));
}

TEST(GaussianProcessTest, KnowsWhatItHasSeenAndHowMuchItDoesNot) {
  GaussianProcess process(
      5,
      [](size_t a, size_t b) {
        double d = static_cast<double>(a) - static_cast<double>(b);
        return std::exp(-d * d / 2);
      },
      1e-6);
  process.observe(0, 1.0);
  process.observe(2, 3.0);
  EXPECT_NEAR(process.getMean(0), 1.0, 1e-4);
  EXPECT_NEAR(process.getMean(2), 3.0, 1e-4);
  EXPECT_NEAR(process.getVariance(2), 0, 1e-4);
  // By hand: k = (e^-1/2, e^-1/2), K = [[1, e^-2], [e^-2, 1]].
  EXPECT_NEAR(process.getMean(1), std::exp(-0.5) * 4 / (1 + std::exp(-2)),
              1e-4);
  EXPECT_NEAR(process.getVariance(1), 1 - 2 * std::exp(-1) / (1 + std::exp(-2)),
              1e-4);
  EXPECT_GT(process.getVariance(4), process.getVariance(3));
  // Residuals of 1 to 3 where 1 was expected raise the scale.
  EXPECT_GT(process.getScale(1), 1);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
class SearchOptionsTest : public testing::Test {
protected:
  void TearDown() override {
    for (const char *name :
         {"TARPON_SEARCH_METHOD", "TARPON_TUNING_ITERATIONS_MAX",
          "TARPON_TUNING_PATIENCE", "TARPON_TUNING_TIME_MS_MAX",
          "TARPON_SEARCH_SEED"})
      unsetenv(name);
  }
};
} // namespace

TEST_F(SearchOptionsTest, GuidedWithoutLimitsByDefault) {
  auto options = resolveSearchOptions({});
  ASSERT_TRUE(options) << options.message();
  EXPECT_EQ(options->method, SearchMethodKind::Guided);
  EXPECT_FALSE(options->iterations || options->patience ||
               options->problemSeconds);
}

TEST_F(SearchOptionsTest, TheCallerGoesBeforeTheEnvironment) {
  setenv("TARPON_SEARCH_METHOD", "Random", 1);
  setenv("TARPON_TUNING_ITERATIONS_MAX", "40", 1);
  setenv("TARPON_TUNING_PATIENCE", "7", 1);
  setenv("TARPON_TUNING_TIME_MS_MAX", "1500", 1);
  setenv("TARPON_SEARCH_SEED", "18446744073709551615", 1);
  SearchOverrides overrides;
  overrides.patience = 9;
  auto options = resolveSearchOptions(overrides);
  ASSERT_TRUE(options) << options.message();
  EXPECT_EQ(options->method, SearchMethodKind::Random);
  EXPECT_EQ(options->iterations, 40);
  EXPECT_EQ(options->patience, 9);
  EXPECT_EQ(options->problemSeconds, 1.5);
  EXPECT_EQ(options->seed, UINT64_MAX);
}

TEST_F(SearchOptionsTest, NonsenseIsAnErrorThatNamesTheVariable) {
  setenv("TARPON_TUNING_PATIENCE", "0", 1);
  auto options = resolveSearchOptions({});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.message(), "TARPON_TUNING_PATIENCE: expected a whole "
                               "number from 1, got '0'");
  setenv("TARPON_TUNING_PATIENCE", "", 1);
  setenv("TARPON_SEARCH_METHOD", "magic", 1);
  options = resolveSearchOptions({});
  ASSERT_FALSE(options);
  EXPECT_THAT(options.message(), HasSubstr("TARPON_SEARCH_METHOD"));
  EXPECT_THAT(options.message(), HasSubstr("'magic'"));
}

TEST(SearchMethodNamesTest, AreParsed) {
  EXPECT_THAT(getSearchMethodNames(),
              ElementsAre("exhaustive", "random", "local", "guided"));
  for (const std::string &name : getSearchMethodNames())
    EXPECT_EQ(getSearchMethodName(*parseSearchMethod(name)), name);
}
