//===- BundleSearchTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleFixture.h"

#include "HostileSolvers.h"
#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"

#include <filesystem>
#include <numeric>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

class BundleSearchTest : public BundleTest {
protected:
  static size_t sum(const std::vector<size_t> &counts) {
    return std::accumulate(counts.begin(), counts.end(), size_t(0));
  }
  Measurement find(const std::string &solver) {
    for (const Measurement &m : journal->getMeasurements(problem.key()))
      if (m.key.solver == solver)
        return m;
    ADD_FAILURE() << "no record of " << solver;
    return {};
  }
};

} // namespace

TEST_F(BundleSearchTest, RoundsEndWithAVerifiedBest) {
  problem = *parseProblem("conv(1x16x14x14xf32, 32x16x3x3xf32:const)->"
                          "1x32x14x14xf32 {dilations=1,1 group=1 "
                          "pads=1,1,1,1 strides=1,1}");
  search(/*max=*/8);
  EXPECT_GT(raced.size(), 1u);
  for (size_t count : raced)
    EXPECT_LE(count, 8u);
  EXPECT_GE(sum(raced), policy::kMinGuidedResults);
  EXPECT_LE(timed.size(), 1u);
  std::optional<Measurement> best = journal->getBest(problem.key());
  ASSERT_TRUE(best);
  EXPECT_GT(best->median, 0);
  EXPECT_EQ(best->stage == MeasurementStage::Final, !timed.empty());
  // Whoever asks again gets nothing to do.
  EXPECT_FALSE(build(8));
}
