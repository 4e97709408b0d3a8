//===- WinogradTest.cpp - Errors and applicability of Winograd ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

using namespace tarpon;
using namespace tarpon::test;

/// A 3 x 3 convolution of `channels` to 16 channels on a square of `size`.
static Problem makeProblem(int64_t channels, int64_t size) {
  std::string c = std::to_string(channels), s = std::to_string(size);
  std::string key = "conv(1x" + c + "x" + s + "x" + s + "xf32:nhwc, 16x" + c +
                    "x3x3xf32:const)->1x16x" + s + "x" + s +
                    "xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 "
                    "strides=1,1}";
  return *parseProblem(key);
}

static double relativeL2(const std::vector<double> &actual,
                         const std::vector<double> &expected) {
  double errors = 0, squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    errors += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    squares += expected[i] * expected[i];
  }
  return std::sqrt(errors / squares);
}

namespace {
class WinogradError : public testing::TestWithParam<int64_t> {
protected:
  /// The error of a solver's result, against sums in f64 of the same numbers.
  double measure(llvm::StringRef id, const Problem &problem) {
    auto runner = SolverRunner::create("native");
    const Solver *solver = findSolver(id);
    const TargetInfo &target = (*runner)->getTarget();
    EXPECT_TRUE(solver->isApplicable(problem, target));
    std::vector<std::vector<double>> operands(2);
    operands[0] = makeOperand(problem, 0, /*seed=*/1);
    for (double &value : operands[0])
      value = static_cast<float>(value);
    auto actual = (*runner)->run(
        problem, *solver, solver->defaultConfig(problem, target), operands);
    EXPECT_TRUE(actual) << actual.message();
    // Constants hold the same numbers in both dtypes.
    Problem exact = problem;
    exact.operands[0].dtype = exact.operands[1].dtype = exact.result.dtype =
        DType::F64;
    auto expected =
        (*runner)->run(exact, getReferenceSolver(), PerfConfig(), operands);
    EXPECT_TRUE(expected) << expected.message();
    return relativeL2(actual->front(), expected->front());
  }
};
} // namespace

/// The bounds of Transform.h, with some room for other operands: an error in a
/// matrix that the property test's tolerance hides shows here.
TEST_P(WinogradError, isWithinItsBound) {
  int64_t channels = GetParam();
  Problem problem = makeProblem(channels, 13);
  double root = std::sqrt(static_cast<double>(channels) / 64);
  EXPECT_LT(measure("conv-winograd-f2x3-v1", problem),
            4e-7 * std::max(root, 0.75));
  EXPECT_LT(measure("conv-winograd-f4x3-v1", problem),
            1.1e-6 * std::max(root, 0.75));
}

INSTANTIATE_TEST_SUITE_P(Channels, WinogradError,
                         testing::Values(1, 16, 67, 256, 1024));

/// Bytes of `channels` on one tile of 4 x 4 pixels, with a result in f32, and
/// no scale: sums are integers.
static Problem makeByteProblem(int64_t channels) {
  std::string c = std::to_string(channels);
  Problem problem = *parseProblem(
      "conv(1x" + c + "x4x4xu8q:nhwc, 16x" + c +
      "x3x3xi8q:const)->1x16x4x4xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 "
      "strides=1,1}");
  problem.operands[0].scales = problem.operands[1].scales = {1};
  return problem;
}

namespace {
/// A point, the same in both dimensions: its row of B^T without the first and
/// the last pixel, which are padding, and how many of the taps are 127.
struct Point {
  int row[4];
  int64_t taps;
};
} // namespace

/// Makes operands for which the sum of a point is as large as it can be: their
/// elements are asked for in order.
static SolverRunner::OperandChange makeLargestSum(const Point &point) {
  return [point, pixel = 0, tap = 0](size_t operand, double) mutable {
    if (operand == 1)
      return tap++ % 9 < point.taps ? 127.0 : 0.0;
    int y = pixel / 4 % 4, x = pixel % 4;
    ++pixel;
    return point.row[y] * point.row[x] > 0 ? 255.0 : 0.0;
  };
}

/// 64 channels fit 32 bits whatever they hold, three times as many do not. Of
/// filters with one tap, the sums of the point 1 are the largest.
TEST(WinogradBytes, sumsOfAnyLengthAreExact) {
  auto runner = SolverRunner::create("native");
  ASSERT_TRUE(runner) << runner.message();
  const Solver &solver = *findSolver("conv-winograd-f4x3-i8-v1");
  constexpr Point kOne = {{-4, -4, 1, 1}, 1}, kTwo = {{-2, -1, 2, 1}, 9};
  for (auto [point, channels] : {std::pair(kTwo, 32),
                                 {kTwo, 64},
                                 {kTwo, 96},
                                 {kTwo, 192},
                                 {kOne, 1024}}) {
    SCOPED_TRACE(channels);
    Problem problem = makeByteProblem(channels);
    (*runner)->setOperandChange(makeLargestSum(point));
    const TargetInfo &target = (*runner)->getTarget();
    auto actual =
        (*runner)->run(problem, solver, solver.defaultConfig(problem, target));
    ASSERT_TRUE(actual) << actual.message();
    auto expected = (*runner)->run(problem, getReferenceSolver(), PerfConfig());
    ASSERT_TRUE(expected) << expected.message();
    EXPECT_LT(relativeL2(actual->front(), expected->front()), 1e-6);
  }
}

TEST(WinogradBytes, saysWhatItDoesNotTake) {
  const Solver &solver = *findSolver("conv-winograd-f4x3-i8-v1");
  TargetInfo narrow, wide;
  narrow.vectorBits = 256;
  wide.vectorBits = 512;
  auto getReason = [&](const Problem &problem, const TargetInfo &target) {
    return solver.isApplicable(problem, target).getReason().str();
  };
  EXPECT_EQ(getReason(makeProblem(16, 8), wide), "needs a quantised input");
  EXPECT_EQ(getReason(makeByteProblem(32), narrow), "");
  EXPECT_EQ(getReason(makeByteProblem(48), narrow),
            "needs whole lines of channels");
  Problem none = makeByteProblem(16);
  none.operands[0].shape[1] = none.operands[1].shape[1] = 0;
  EXPECT_EQ(getReason(none, wide), "needs channels");
  EXPECT_EQ(getReason(makeByteProblem(24), wide), "");
  Problem planes = makeByteProblem(16);
  planes.operands[0].layout = Layout();
  EXPECT_EQ(getReason(planes, wide), "needs an input in nhwc");
}

TEST(Winograd, keepsTheErrorBelowItsBound) {
  const Solver &f4 = *findSolver("conv-winograd-f4x3-v1");
  TargetInfo target;
  EXPECT_TRUE(f4.isApplicable(makeProblem(4096, 4), target));
  EXPECT_EQ(f4.isApplicable(makeProblem(4097, 4), target).getReason(),
            "has too many channels for its error bound");
}

static std::string getReason(const Problem &problem) {
  const Solver &solver = *findSolver("conv-winograd-f2x3-v1");
  return solver.isApplicable(problem, TargetInfo()).getReason().str();
}

TEST(Winograd, saysWhatItDoesNotTake) {
  Problem problem = makeProblem(16, 8);
  EXPECT_EQ(getReason(problem), "");
  Problem strided = problem;
  strided.attrs["strides"] = {2, 1};
  EXPECT_EQ(getReason(strided), "needs strides of 1");
  Problem dilated = problem;
  dilated.attrs["dilations"] = {1, 2};
  dilated.attrs["pads"] = {1, 2, 1, 2};
  EXPECT_EQ(getReason(dilated), "");
  for (TensorDesc *desc : {&dilated.operands[0], &dilated.result}) {
    Layout nhwc = std::exchange(desc->layout, Layout());
    EXPECT_EQ(getReason(dilated), "needs dilations of 1 in nchw");
    desc->layout = nhwc;
  }
  Problem wide = problem;
  wide.operands[1].shape[3] = 5;
  EXPECT_EQ(getReason(wide), "needs a 3x3 filter");
  Problem half = problem;
  half.operands[0].dtype = half.operands[1].dtype = DType::F16;
  EXPECT_EQ(getReason(half), "needs an f32 input: the transforms amplify "
                             "rounding errors");
  Problem blocked = problem;
  blocked.operands[0].layout = {Layout::Blocked, 2};
  EXPECT_EQ(getReason(blocked), "needs channel blocks of whole vectors");
  Problem variable = problem;
  variable.operands[1].constant = false;
  EXPECT_EQ(getReason(variable), "needs a constant filter");
}

/// The number of tiles is a parameter of the launch.
static int64_t countTiles(const char *id, int64_t size, int64_t dilation) {
  std::string s = std::to_string(size), d = std::to_string(dilation);
  Problem problem = *parseProblem(
      "conv(1x16x" + s + "x" + s + "xf32:nhwc, 16x16x3x3xf32:const)->1x16x" +
      s + "x" + s + "xf32:nhwc {dilations=" + d + "," + d +
      " group=1 pads=" + d + "," + d + "," + d + "," + d + " strides=1,1}");
  const Solver &solver = *findSolver(id);
  TargetInfo target;
  SolutionPlan plan = solver.plan(
      problem, target, *PerfConfig::parse("block_m=1,tile_m=1,tile_n=16"));
  // A block has one tile, a task one block.
  return plan.launches.front().tasks;
}

/// The pixels of each residue modulo the dilation are divided into tiles.
TEST(Winograd, countsTilesOfResidues) {
  const char *f2 = "conv-winograd-f2x3-v1", *f4 = "conv-winograd-f4x3-v1";
  EXPECT_EQ(countTiles(f4, 28, 1), 7 * 7);
  EXPECT_EQ(countTiles(f4, 28, 2), 8 * 8); // 2 of 14 pixels.
  EXPECT_EQ(countTiles(f4, 28, 4), 8 * 8); // 4 of 7 pixels.
  EXPECT_EQ(countTiles(f2, 28, 4), 16 * 16);
  EXPECT_EQ(countTiles(f4, 33, 4), 9 * 9);    // 9 pixels and 3 of 8.
  EXPECT_EQ(countTiles(f2, 28, 12), 16 * 16); // 4 of 3 pixels and 8 of 2.
  EXPECT_EQ(countTiles(f2, 28, 36), 28 * 28);
}

TEST(Winograd, checksConfigs) {
  Problem problem = makeProblem(16, 8);
  const Solver &solver = *findSolver("conv-winograd-f4x3-v1");
  TargetInfo target;
  auto isValid = [&](const char *text) {
    return solver.isValidConfig(problem, target, *PerfConfig::parse(text));
  };
  EXPECT_TRUE(isValid("block_m=2,tile_m=6,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=2,tile_m=8,tile_n=8")); // Too few registers.
  EXPECT_FALSE(isValid("block_m=0,tile_m=6,tile_n=8"));
  EXPECT_FALSE(isValid("tile_m=6,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=2,tile_m=6,tile_n=6"));
}

/// 28 rows of 28 tiles are 56 panels of 14. Of blocks of as many panels as the
/// L2 cache holds, ten, two threads get 30 and 26; of blocks of seven, 28 each.
TEST(Winograd, offersBlocksThatThreadsShareEvenly) {
  Problem problem = *parseProblem(
      "conv(1x128x112x112xf32:nhwc, 128x128x3x3xf32:const)->1x128x112x112xf32:"
      "nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}");
  const Solver &solver = *findSolver("conv-winograd-f4x3-v1");
  // With 32 registers, whatever this machine has.
  auto target = getCpuTarget("x86-64-v4", /*threads=*/2);
  ASSERT_TRUE(target) << target.message();
  target->l2Bytes = 1 << 20;
  auto offers = [&](const char *text) {
    return llvm::is_contained(solver.configs(problem, *target),
                              *PerfConfig::parse(text));
  };
  EXPECT_TRUE(offers("block_m=10,tile_m=14,tile_n=32"));
  EXPECT_TRUE(offers("block_m=7,tile_m=14,tile_n=32"));
  target->threads = 1;
  EXPECT_FALSE(offers("block_m=7,tile_m=14,tile_n=32"));
}

/// Threads that share a block of tiles transform its input each for themselves.
TEST(Winograd, offersABlockPerThread) {
  Problem problem = makeProblem(512, 28);
  const Solver &solver = *findSolver("conv-winograd-f4x3-v1");
  constexpr int64_t kTiles = 7 * 7;
  auto countBlocks = [&](const TargetInfo &target) {
    int64_t most = 0;
    for (const PerfConfig &config : solver.configs(problem, target)) {
      int64_t block = config.get("tile_m") * config.get("block_m");
      most = std::max(most, (kTiles + block - 1) / block);
    }
    return most;
  };
  for (int threads : {2, 4}) {
    auto target = getHostTarget(threads, "x86-64-v3");
    ASSERT_TRUE(target) << target.message();
    // One thread may hold a block that fills a large cache.
    target->l2Bytes = 64 << 20;
    EXPECT_GE(countBlocks(*target), threads);
    target->threads = 1;
    EXPECT_EQ(countBlocks(*target), 1);
  }
}
