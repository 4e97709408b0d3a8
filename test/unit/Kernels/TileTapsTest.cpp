//===- TileTapsTest.cpp - Products of padding are skipped -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace tarpon;

/// A 3 x 3 convolution on 28 x 28 that is padded by its dilation.
static Problem makeProblem(int64_t channels, int64_t dilation,
                           const std::string &type = "f32") {
  std::string c = std::to_string(channels), d = std::to_string(dilation),
              weights = type == "u8q" ? "i8q" : type;
  return *parseProblem("conv(1x" + c + "x28x28x" + type + ":nhwc, 64x" + c +
                       "x3x3x" + weights + ":const)->1x64x28x28xf32:nhwc " +
                       "{dilations=" + d + "," + d + " group=1 pads=" + d +
                       "," + d + "," + d + "," + d + " strides=1,1}");
}

static bool skipsTaps(const Problem &problem) {
  const Solver &solver = *findSolver("conv-igemm-v1");
  auto target = getCpuTarget("x86-64-v4", /*threads=*/1);
  EXPECT_TRUE(target) << target.message();
  SolutionPlan plan = solver.plan(
      problem, *target, *PerfConfig::parse("block_m=4,tile_m=14,tile_n=32"));
  return plan.launches.front().kernel.symbol.find("_taps") != std::string::npos;
}

TEST(TileTaps, areSkippedWhereThatIsWorthAKernel) {
  EXPECT_TRUE(skipsTaps(makeProblem(64, 12)));
  EXPECT_TRUE(skipsTaps(makeProblem(256, 24, "bf16")));
  // The borders of an image of ordinary size.
  EXPECT_FALSE(skipsTaps(makeProblem(64, 1)));
  // A tap fills less than four lines.
  EXPECT_FALSE(skipsTaps(makeProblem(48, 24)));
  // A tap's last line belongs to the next tap, too.
  EXPECT_FALSE(skipsTaps(makeProblem(72, 24)));
  // Sums of bytes begin with those of all zero points.
  EXPECT_FALSE(skipsTaps(makeProblem(256, 24, "u8q")));
}

/// With a dilation of 24, tiles of half a row skip seven of ten products.
TEST(TileTaps, countInTheEstimate) {
  const Solver &solver = *findSolver("conv-igemm-v1");
  auto target = getCpuTarget("x86-64-v4", /*threads=*/1);
  ASSERT_TRUE(target) << target.message();
  double all = solver.expectedFraction(makeProblem(256, 1), *target);
  double few = solver.expectedFraction(makeProblem(256, 24), *target);
  EXPECT_GT(few, 3 * all);
  EXPECT_LT(few, 5.5 * all);
}

/// Windows of two taps, 5 apart, on one pixel: no tap of a tile reads it.
TEST(TileTaps, tilesThatSkipAllTakeTime) {
  Problem problem = *parseProblem(
      "conv(1x64x1x1xf32:nhwc, 64x64x2x2xf32:const)->1x64x2x2xf32:nhwc "
      "{dilations=5,5 group=1 pads=3,3,3,3 strides=1,1}");
  auto target = getCpuTarget("x86-64-v4", /*threads=*/1);
  ASSERT_TRUE(target) << target.message();
  EXPECT_LT(findSolver("conv-igemm-v1")->expectedFraction(problem, *target), 4);
}

/// A row of four pixels in tiles of two: the first tile reads taps 1 and 2, the
/// second one taps 0 and 1.
TEST(TileTaps, areListedInTheTable) {
  Problem problem =
      *parseProblem("conv(1x64x4xf32:nhwc, 8x64x3xf32:const)->1x8x4xf32:nhwc "
                    "{dilations=3 group=1 pads=3,3 strides=1}");
  SolutionPlan plan =
      findSolver("conv-igemm-v1")
          ->plan(problem, TargetInfo(),
                 *PerfConfig::parse("block_m=2,tile_m=2,tile_n=8"));
  ASSERT_EQ(plan.constants.size(), 2U);
  std::vector<char> bytes = plan.constants[1].make({});
  std::vector<int64_t> table(bytes.size() / 8);
  std::memcpy(table.data(), bytes.data(), bytes.size());
  EXPECT_EQ(table, (std::vector<int64_t>{32, 96, 96, 160,             //
                                         1,  0,  0,  3,   2, 0, 0, 6, //
                                         0,  0,  0,  0,   1, 0, 0, 3}));
}
