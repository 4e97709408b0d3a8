//===- ExpectationTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindFixture.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// Expects this of everything.
class ConstantRanker final : public SolutionRanker {
public:
  std::vector<double> expected;

  std::vector<Solution> rank(const Problem &,
                             const TargetInfo &) const override {
    return {};
  }
  std::vector<double> expectMs(const Problem &, llvm::ArrayRef<SolverConfig>,
                               const TargetInfo &) const override {
    return expected;
  }
};

class ExpectationTest : public FindFixture {};

} // namespace

TEST_F(ExpectationTest, ARankerSaysWhatItCanJudge) {
  auto journal = openUser();
  Tuner tuner(compiler, *journal, progress);
  Solution solution = tuner.lookUp(problem);
  auto byRanker = [&] { return tuner.expectTime(problem, solution).byRanker; };
  double byFraction =
      ExpectedFractionRanker()
          .expectMs(problem, {{solution.solver, solution.config}}, target)
          .front();
  EXPECT_EQ(tuner.expectTime(problem, solution).byFraction, byFraction);
  EXPECT_EQ(byRanker(), std::nullopt);
  ConstantRanker ranker;
  tuner.setRanker(&ranker);
  ranker.expected = {3};
  EXPECT_EQ(byRanker(), 3);
  EXPECT_EQ(tuner.expectTime(problem, solution).byFraction, byFraction);
  // It cannot judge the candidate, or the problem.
  ranker.expected = {std::nan("")};
  EXPECT_EQ(byRanker(), std::nullopt);
  ranker.expected = {};
  EXPECT_EQ(byRanker(), std::nullopt);
}
