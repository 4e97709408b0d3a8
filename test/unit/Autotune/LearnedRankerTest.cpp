//===- LearnedRankerTest.cpp ----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"

#include "LearnedModels.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

/// Takes every convolution and claims to be the fastest.
class UnknownSolver : public Solver {
public:
  llvm::StringRef id() const override { return "unknown-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &) const override {
    return problem.op == OpKind::Conv
               ? Applicability::yes()
               : Applicability::no("needs a convolution");
  }
  double expectedFraction(const Problem &, const TargetInfo &) const override {
    return 1.5;
  }
  SolutionPlan plan(const Problem &, const TargetInfo &,
                    const PerfConfig &) const override {
    return {};
  }
};

class LearnedRankerTest : public testing::Test {
protected:
  TargetInfo target = *getHostTarget(1);

  static const LearnedRanker &getRanker() {
    static const LearnedRanker ranker(makeModel(*getHostTarget(1)));
    return ranker;
  }
};

} // namespace

TEST_F(LearnedRankerTest, RanksSolversAndConfigsOfUnseenProblems) {
  for (auto [channels, first, second] :
       {std::tuple{12, "conv-direct-rows-v1", "conv-igemm-v1"},
        std::tuple{200, "conv-igemm-v1", "conv-direct-rows-v1"}})
    for (int64_t size : {12, 40}) {
      Problem problem = makeConv(channels, size);
      std::vector<Solution> ranked = getRanker().rank(problem, target);
      ASSERT_GE(ranked.size(), 3u);
      EXPECT_EQ(ranked[0].solver->id(), first) << problem.key();
      EXPECT_EQ(ranked[1].solver->id(), second) << problem.key();
      EXPECT_EQ(ranked.back().solver, &getReferenceSolver());
      for (const Solution &solution : ranked) {
        EXPECT_EQ(solution.source, "heuristic");
        EXPECT_TRUE(
            solution.solver->isValidConfig(problem, target, solution.config));
      }
      MeasuredProblem truth = makeMeasured(problem, target);
      ASSERT_TRUE(ranked[0].expectedMs);
      EXPECT_NEAR(*ranked[0].expectedMs / truth.tuned.milliseconds, 1, 0.25)
          << problem.key();
      auto judged = rankProblems(getRanker(), {&truth}, target);
      ASSERT_TRUE(judged.front().fraction);
      EXPECT_GE(*judged.front().fraction, 0.95) << problem.key();
    }
}

TEST_F(LearnedRankerTest, ExpectsWhatItRanksBy) {
  UnknownSolver unknown;
  Problem problem = makeConv(200, 14);
  const Solver *engine = findSolver("conv-igemm-v1");
  std::vector<SolverConfig> candidates;
  for (const PerfConfig &config : engine->configs(problem, target))
    candidates.push_back({engine, config});
  size_t listed = candidates.size();
  candidates.push_back({&unknown, {}});
  // One that the solver does not list.
  candidates.push_back(
      {engine, {{"tile_m", 5}, {"tile_n", target.lanes()}, {"block_m", 3}}});
  std::vector<double> expected =
      getRanker().expectMs(problem, candidates, target);
  ASSERT_EQ(expected.size(), candidates.size());
  Solution first = getRanker().rank(problem, target).front();
  auto best = std::min_element(expected.begin(), expected.begin() + listed);
  EXPECT_EQ(candidates[best - expected.begin()].config, first.config);
  EXPECT_NEAR(*best, *first.expectedMs, 1e-6 * *best);
  EXPECT_TRUE(std::isnan(expected[listed]));
  EXPECT_GT(expected[listed + 1], 0);
  EXPECT_TRUE(getRanker()
                  .expectMs(*parseProblem("relu(1x8xf32)->1x8xf32"), {}, target)
                  .empty());
}

TEST_F(LearnedRankerTest, ADamagedModelIsARemarkAndTheNextOneServes) {
  JournalContext context = JournalContext::forTarget(target);
  auto user = Journal::openInMemory(context),
       system = Journal::openInMemory(context);
  std::vector<std::string> remarks;
  EXPECT_FALSE(loadLearnedRanker(*user, nullptr, remarks));
  EXPECT_FALSE(loadLearnedRanker(*user, system.get(), remarks));
  ASSERT_TRUE(system->recordModel(getRanker().getModel().serialize()));
  EXPECT_TRUE(loadLearnedRanker(*user, system.get(), remarks));
  EXPECT_TRUE(remarks.empty());
  ASSERT_TRUE(user->recordModel("TPNMODEL, or what is left of it"));
  EXPECT_TRUE(loadLearnedRanker(*user, system.get(), remarks));
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_THAT(remarks[0], HasSubstr("is not used"));
  EXPECT_FALSE(loadLearnedRanker(*user, nullptr, remarks));
}

TEST_F(LearnedRankerTest, ASolverThatItNeverSawComesBehind) {
  UnknownSolver unknown;
  ScopedExtraSolvers extra({&unknown});
  std::vector<Solution> ranked = getRanker().rank(makeConv(64, 14), target);
  auto place = llvm::find_if(
      ranked, [&](const Solution &s) { return s.solver == &unknown; });
  ASSERT_NE(place, ranked.end());
  EXPECT_FALSE(place->expectedMs);
  EXPECT_GT(place - ranked.begin(), 1);
  EXPECT_TRUE(ranked[0].expectedMs);
  EXPECT_EQ(ranked.back().solver, &getReferenceSolver());
}

TEST_F(LearnedRankerTest, AbstainsWhereItHasNoGround) {
  auto explain = [&](const Problem &problem, const TargetInfo &on) {
    EXPECT_TRUE(getRanker().rank(problem, on).empty());
    return getRanker().explainAbstention(problem, on).value_or("");
  };
  Problem conv = makeConv(64, 14);
  EXPECT_FALSE(getRanker().explainAbstention(conv, target));
  TargetInfo other = target;
  other.threads = 2;
  EXPECT_THAT(explain(conv, other), HasSubstr("for 1 thread(s), not 2"));
  other = target;
  other.cpu = "z80";
  EXPECT_THAT(explain(conv, other), HasSubstr("was trained on"));
  other = target;
  other.features.push_back("+new");
  EXPECT_THAT(explain(conv, other), HasSubstr("was trained on"));
  Problem nchw = conv;
  nchw.operands[0].layout = {};
  EXPECT_THAT(explain(nchw, target), HasSubstr("kind 'conv2d f32 nchw'"));
  EXPECT_THAT(explain(*parseProblem("relu(1x8xf32)->1x8xf32"), target),
              HasSubstr("convolutions"));
}

TEST_F(LearnedRankerTest, EvaluationCountsWhatWasRejectedAndWhatWasNot) {
  MeasuredProblem truth = makeMeasured(makeConv(64, 14), target);
  auto judge = [&] {
    return rankProblems(getRanker(), {&truth}, target).front();
  };
  RankedProblem right = judge();
  EXPECT_GT(right.fraction.value_or(0), 0.9);
  llvm::erase_if(truth.solutions, [&](const MeasuredSolution &solution) {
    return solution.solver->id() == right.solver &&
           solution.config.str() == right.config;
  });
  RankedProblem unmeasured = judge();
  EXPECT_FALSE(unmeasured.fraction);
  truth.rejected.push_back({"", right.solver, right.config});
  RankedProblem wrong = judge();
  EXPECT_EQ(wrong.fraction, 0.0);

  right.fraction = 1;
  std::vector<RankedProblem> both = {right, right, unmeasured, wrong};
  std::vector<RankingError> errors = summarizeRanking(both);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[1].kind, "all");
  EXPECT_EQ(errors[1].problems, 3);
  EXPECT_EQ(errors[1].unmeasured, 1);
  EXPECT_NEAR(errors[1].mean, 0.1, 1e-9);
  EXPECT_NEAR(errors[1].tenth, 0.2, 1e-9);
}
