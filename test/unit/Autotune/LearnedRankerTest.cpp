//===- LearnedRankerTest.cpp ----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"

#include "LearnedModels.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Learn/CrossValidation.h"
#include "tarpon/Autotune/Learn/RankerEvaluation.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;
using testing::AllOf;
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
  TestDirectory directory;
  TargetInfo target = *getHostTarget(1);

  void SetUp() override {
    for (auto [name, folder] : {std::pair("TARPON_USER_DB_PATH", "user"),
                                {"TARPON_SYSTEM_DB_PATH", "system"}}) {
      ASSERT_FALSE(llvm::sys::fs::create_directory(directory.file(folder)));
      setenv(name, directory.file(folder).c_str(), 1);
    }
  }
  void TearDown() override {
    unsetenv("TARPON_USER_DB_PATH");
    unsetenv("TARPON_SYSTEM_DB_PATH");
  }

  static const LearnedRanker &getRanker() {
    static const LearnedRanker ranker(makeModel({*getHostTarget(1)}));
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
      auto judged = rankProblems(getRanker(), {&truth});
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
  EXPECT_FALSE(loadLearnedRanker(target, *user, nullptr, remarks));
  EXPECT_FALSE(loadLearnedRanker(target, *user, system.get(), remarks));
  ASSERT_TRUE(system->recordModel(getRanker().getModel().serialize()));
  EXPECT_TRUE(loadLearnedRanker(target, *user, system.get(), remarks));
  EXPECT_TRUE(remarks.empty());
  ASSERT_TRUE(user->recordModel("TPNMODEL, or what is left of it"));
  EXPECT_TRUE(loadLearnedRanker(target, *user, system.get(), remarks));
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_THAT(remarks[0], HasSubstr("is not used"));
  EXPECT_FALSE(loadLearnedRanker(target, *user, nullptr, remarks));
}

TEST_F(LearnedRankerTest, AModelOfTheCpuGoesBeforeOneOfOthers) {
  TargetInfo other = *getCpuTarget("haswell", 1);
  LearnedModel shipped = makeModel({other});
  ASSERT_TRUE(
      writeModelFile(shipped, getModelPath(directory.file("system"), target)));
  JournalContext context = JournalContext::forTarget(target);
  auto user = Journal::openInMemory(context);
  std::vector<std::string> remarks;
  auto load = [&] {
    auto ranker = loadLearnedRanker(target, *user, nullptr, remarks);
    EXPECT_TRUE(remarks.empty());
    return ranker ? ranker->getModel().serialize() : "";
  };
  EXPECT_EQ(load(), shipped.serialize());
  // The user's goes before the shipped one.
  LearnedModel own = makeModel({other, *getCpuTarget("znver3", 1)});
  ASSERT_TRUE(
      writeModelFile(own, getModelPath(directory.file("user"), target)));
  EXPECT_EQ(load(), own.serialize());
  std::string native = getRanker().getModel().serialize();
  ASSERT_TRUE(user->recordModel(native));
  EXPECT_EQ(load(), native);
}

TEST_F(LearnedRankerTest, AnswersForACpuThatWasHeldOut) {
  TargetInfo wide = *getCpuTarget("znver4", 1),
             narrow = *getCpuTarget("haswell", 1),
             unknown = *getCpuTarget("skylake", 1);
  LearnedModel model = makeModel({wide, narrow});
  EXPECT_EQ(model.targets.size(), 2u);
  EXPECT_EQ(model.problems, 108);
  EXPECT_EQ(model.madeBy.target, "x86-64");
  EXPECT_EQ(model.serialize(), makeModel({wide, narrow}).serialize())
      << "training is not deterministic";
  LearnedRanker ranker(model);
  std::vector<MeasuredProblem> problems;
  for (int64_t channels : {12, 48, 200})
    problems.push_back(makeMeasured(makeConv(channels, 40), unknown));
  for (const MeasuredProblem &problem : problems) {
    auto ranked = rankProblems(ranker, {&problem});
    ASSERT_EQ(ranked.size(), 1u);
    ASSERT_TRUE(ranked[0].fraction);
    EXPECT_GE(*ranked[0].fraction, 0.9) << problem.problem.key();
  }
  Problem conv = makeConv(64, 14);
  std::string name = JournalContext::forTarget(unknown).target;
  EXPECT_THAT(ranker.describeError(conv, unknown),
              AllOf(HasSubstr("trained on x86-64/haswell/256/"),
                    HasSubstr(" and x86-64/znver4/512/"),
                    HasSubstr(", not on " + name),
                    HasSubstr("its error on other CPUs is not known")));
  EXPECT_EQ(ranker.describeError(conv, wide), "");

  model.heldOutCpus = {{"conv2d f32 nhwc", 7, 0.95, 0.8125, 1}};
  model.heldOut = {{"conv2d f32 nhwc", 5, 0.96, 0.9, 1}};
  ranker = LearnedRanker(model);
  EXPECT_THAT(ranker.describeError(conv, unknown),
              HasSubstr("; on 7 problems of this kind on CPUs held out in "
                        "turn its first choice reached 95.0 % of the tuned "
                        "speed, 81.2 % at the 10th percentile"));
  EXPECT_THAT(ranker.describeError(conv, wide),
              HasSubstr("on 5 held-out problems of this kind"));
}

TEST_F(LearnedRankerTest, EachCpuIsLeftOutInTurn) {
  TargetInfo wide = *getCpuTarget("znver4", 1),
             narrow = *getCpuTarget("haswell", 1);
  std::vector<MeasuredProblem> problems = makeManyMeasured(wide);
  std::vector<const MeasuredProblem *> list;
  for (const MeasuredProblem &problem : problems)
    list.push_back(&problem);
  EXPECT_TRUE(leaveOutCpus(list).empty());
  MeasuredProblem other = makeMeasured(makeConv(24, 14), narrow);
  list.push_back(&other);
  std::vector<FoldResult> folds = leaveOutCpus(list);
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[0].leftOut, other.targetName);
  ASSERT_EQ(folds[0].ranked.size(), 1u);
  EXPECT_EQ(folds[0].ranked[0].problem, &other);
  EXPECT_EQ(folds[1].ranked.size(), problems.size());
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

/// Kernels with AMX must be measured before they are chosen.
TEST_F(LearnedRankerTest, FieldsThatItNeverSawAreLeftOut) {
  TargetInfo withAmx = *getCpuTarget("sapphirerapids", 1), without = withAmx;
  without.hasAmxBf16 = false;
  auto makeBf16 = [](int64_t channels) {
    Problem problem = makeConv(channels, 28);
    for (TensorDesc &operand : problem.operands)
      operand.dtype = DType::BF16;
    problem.result.dtype = DType::BF16;
    return problem;
  };
  // The larger a tile, the better.
  std::vector<MeasuredProblem> measured;
  for (int64_t channels : {16, 32, 64, 96, 128, 160, 256}) {
    MeasuredProblem one = makeMeasured(makeBf16(channels), without);
    for (MeasuredSolution &solution : one.solutions)
      solution.milliseconds =
          1 / static_cast<double>(solution.config.get("tile_m"));
    auto isFaster = [](const MeasuredSolution &a, const MeasuredSolution &b) {
      return a.milliseconds < b.milliseconds;
    };
    one.tuned = *llvm::min_element(one.solutions, isFaster);
    measured.push_back(std::move(one));
  }
  std::vector<const MeasuredProblem *> list;
  for (const MeasuredProblem &problem : measured)
    list.push_back(&problem);
  LearnedRanker ranker(trainModel(list));
  Problem problem = makeBf16(200);
  std::vector<PerfConfig> offered =
      findSolver("conv-igemm-v1")->configs(problem, withAmx);
  ASSERT_TRUE(offered.back().has("amx"));
  std::vector<Solution> ranked = ranker.rank(problem, withAmx),
                        expected = ranker.rank(problem, without);
  ASSERT_FALSE(ranked.empty());
  ASSERT_EQ(ranked.size(), expected.size());
  for (auto [solution, other] : llvm::zip_equal(ranked, expected))
    EXPECT_EQ(solution.config, other.config);
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
  other.arch = "z80";
  EXPECT_THAT(explain(conv, other),
              HasSubstr("was trained on x86-64, not z80"));
  Problem nchw = conv;
  nchw.operands[0].layout = {};
  EXPECT_THAT(explain(nchw, target), HasSubstr("kind 'conv2d f32 nchw'"));
  EXPECT_THAT(explain(*parseProblem("relu(1x8xf32)->1x8xf32"), target),
              HasSubstr("convolutions"));
}

TEST_F(LearnedRankerTest, EvaluationCountsWhatWasRejectedAndWhatWasNot) {
  MeasuredProblem truth = makeMeasured(makeConv(64, 14), target);
  auto judge = [&] { return rankProblems(getRanker(), {&truth}).front(); };
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
