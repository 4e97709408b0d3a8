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

TEST_F(ExpectationTest, TheRankerIsAskedBeforeExpectedFractions) {
  auto journal = openUser();
  Tuner tuner(compiler, *journal, progress);
  Solution solution = tuner.lookUp(problem);
  double byFraction =
      ExpectedFractionRanker()
          .expectMs(problem, {{solution.solver, solution.config}}, target)
          .front();
  auto expect = [&](double milliseconds, bool isLearned) {
    ExpectedTime time = tuner.expectTime(problem, solution);
    EXPECT_EQ(time.milliseconds, milliseconds);
    EXPECT_EQ(time.isLearned, isLearned);
  };
  expect(byFraction, false);
  ConstantRanker ranker;
  tuner.setRanker(&ranker);
  ranker.expected = {3 * byFraction};
  expect(3 * byFraction, true);
  // The ranker cannot judge the candidate, or the problem.
  ranker.expected = {std::nan("")};
  expect(byFraction, false);
  ranker.expected = {};
  expect(byFraction, false);
}
