//===- FftTest.cpp - Errors and applicability of FFT convolution ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"
#include "SolverTest.h"

#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>

using namespace tarpon;
using namespace tarpon::test;

/// A square filter on a square image, padded to keep its size.
static Problem makeProblem(int64_t channels, int64_t taps, int64_t size,
                           bool depthwise) {
  std::string c = std::to_string(channels), s = std::to_string(size),
              t = std::to_string(taps), p = std::to_string(taps / 2);
  std::string out = depthwise ? c : "16", perGroup = depthwise ? "1" : c;
  std::string key =
      "conv(1x" + c + "x" + s + "x" + s + "xf32:nhwc, " + out + "x" + perGroup +
      "x" + t + "x" + t + "xf32:const)->1x" + out + "x" + s + "x" + s +
      "xf32:nhwc {dilations=1,1 group=" + (depthwise ? c : "1") + " pads=" + p +
      "," + p + "," + p + "," + p + " strides=1,1}";
  return *parseProblem(key);
}

namespace {
class FftError : public testing::TestWithParam<
                     std::tuple<const char *, std::tuple<int64_t, bool>>> {};
} // namespace

/// Relative to the norm of the result, against sums in f64 of the same numbers.
static double measureError(SolverRunner &runner, const Solver &solver,
                           const Problem &problem, const PerfConfig &config) {
  std::vector<std::vector<double>> operands(2);
  operands[0] = makeOperand(problem, 0, /*seed=*/1);
  for (double &value : operands[0])
    value = static_cast<float>(value);
  auto actual = runner.run(problem, solver, config, operands);
  EXPECT_TRUE(actual) << actual.message();
  // Constants hold the same numbers in both dtypes.
  Problem exact = problem;
  exact.operands[0].dtype = exact.operands[1].dtype = exact.result.dtype =
      DType::F64;
  auto expected =
      runner.run(exact, getReferenceSolver(), PerfConfig(), operands);
  EXPECT_TRUE(expected) << expected.message();
  double errors = 0, squares = 0;
  for (size_t i = 0; i < expected->front().size(); ++i) {
    double value = expected->front()[i], error = actual->front()[i] - value;
    errors += error * error;
    squares += value * value;
  }
  return std::sqrt(errors / squares);
}

/// Every size of tile on every CPU: a wrong twiddle factor shows here, even one
/// that the property test's tolerance hides. The bound is a unit of rounding
/// (2^-24) times log2 of the tile's points, and times the root of the channels
/// that are summed in order over 16.
TEST_P(FftError, isWithinItsBound) {
  auto [cpu, parameters] = GetParam();
  auto [taps, depthwise] = parameters;
  auto runner = SolverRunner::create(cpu);
  ASSERT_TRUE(runner) << runner.message();
  const TargetInfo &target = (*runner)->getTarget();
  const Solver &solver = *findSolver("conv-fft-v1");
  int64_t channels = 19;
  Problem problem = makeProblem(channels, taps, 23, depthwise);
  ASSERT_TRUE(solver.isApplicable(problem, target));
  PerfConfig config = solver.defaultConfig(problem, target);
  for (int64_t height : {8, 16, 32, 64})
    for (int64_t width : {8, 16, 32, 64}) {
      config.set("tile_h", height);
      config.set("tile_w", width);
      if (!solver.isValidConfig(problem, target, config))
        continue;
      SCOPED_TRACE(config.str());
      double bound = std::log2(height * width) * std::ldexp(1, -24) *
                     std::max(1.0, std::sqrt(channels / 16.0));
      EXPECT_LT(measureError(**runner, solver, problem, config), bound);
    }
}

INSTANTIATE_TEST_SUITE_P(
    CpusAndTaps, FftError,
    testing::Combine(testing::Values("native", "x86-64-v3", "x86-64-v2"),
                     testing::Values(std::tuple(5, false), std::tuple(11, true),
                                     std::tuple(31, true))));

/// More problems that this solver takes than the property test has, seeded:
///   TARPON_TEST_FFT_PROBLEMS  problems per CPU (6)
TEST(Fft, agreesWithReference) {
  const char *text = std::getenv("TARPON_TEST_FFT_PROBLEMS");
  uint64_t count = text ? std::strtoull(text, nullptr, 10) : 6;
  const Solver &solver = *findSolver("conv-fft-v1");
  for (const char *cpu : {"native", "x86-64-v3", "x86-64-v2"}) {
    auto runner = SolverRunner::create(cpu);
    ASSERT_TRUE(runner) << runner.message();
    const TargetInfo &target = (*runner)->getTarget();
    for (uint64_t seed = 1; seed <= count; ++seed) {
      ProblemGenerator generator(seed);
      Problem problem = makeFftProblem(generator);
      SCOPED_TRACE(std::string(cpu) + ", seed " + std::to_string(seed) + ": " +
                   problem.key());
      if (!solver.isApplicable(problem, target))
        continue;
      std::vector<PerfConfig> configs = solver.configs(problem, target);
      for (const PerfConfig &config : {solver.defaultConfig(problem, target),
                                       configs[seed % configs.size()]}) {
        SCOPED_TRACE(config.str());
        ASSERT_TRUE(solver.isValidConfig(problem, target, config));
        auto expected = (*runner)->run(problem, getReferenceSolver(),
                                       PerfConfig(), {}, seed);
        ASSERT_TRUE(expected) << expected.message();
        auto actual = (*runner)->run(problem, solver, config, {}, seed);
        ASSERT_TRUE(actual) << actual.message();
        EXPECT_EQ(compare(problem, *actual, *expected), "");
      }
    }
  }
}

static std::string getReason(const Problem &problem) {
  const Solver &solver = *findSolver("conv-fft-v1");
  return solver.isApplicable(problem, TargetInfo()).getReason().str();
}

TEST(Fft, saysWhatItDoesNotTake) {
  Problem problem = makeProblem(16, 7, 20, /*depthwise=*/false);
  EXPECT_EQ(getReason(problem), "");
  EXPECT_EQ(getReason(makeProblem(16, 31, 20, /*depthwise=*/true)), "");
  EXPECT_EQ(getReason(makeProblem(16, 63, 20, /*depthwise=*/true)), "");
  EXPECT_EQ(getReason(makeProblem(16, 65, 20, /*depthwise=*/true)),
            "needs a filter of less than 64 rows and columns");
  EXPECT_EQ(getReason(makeProblem(16, 3, 20, /*depthwise=*/false)),
            "needs a filter of 5 taps in a row or column");
  EXPECT_EQ(getReason(makeProblem(8192, 31, 32, /*depthwise=*/false)),
            "the transformed filter would take more than 256 MiB");
  Problem strided = problem;
  strided.attrs["strides"] = {2, 1};
  EXPECT_EQ(getReason(strided), "needs strides and dilations of 1");
  Problem half = problem;
  half.operands[0].dtype = half.operands[1].dtype = DType::F16;
  EXPECT_EQ(getReason(half), "needs an f32 input");
  Problem blocked = problem;
  blocked.operands[0].layout = {Layout::Blocked, 2};
  EXPECT_EQ(getReason(blocked), "needs channel blocks of whole vectors");
  Problem variable = problem;
  variable.operands[1].constant = false;
  EXPECT_EQ(getReason(variable), "needs a constant filter");
}

/// Where every tile's products take more scratch than allowed, there is no
/// config to offer.
TEST(Fft, alwaysHasAConfigToOffer) {
  const Solver &solver = *findSolver("conv-fft-v1");
  auto target = getHostTarget(/*threads=*/1);
  ASSERT_TRUE(target) << target.message();
  int refused = 0;
  for (int64_t channels : {16, 512, 1536})
    for (int64_t kernel : {5, 17, 33, 35, 63}) {
      Problem problem = makeProblem(channels, kernel, 64, /*depthwise=*/false);
      if (!solver.isApplicable(problem, *target)) {
        ++refused;
        continue;
      }
      EXPECT_TRUE(solver.isValidConfig(problem, *target,
                                       solver.defaultConfig(problem, *target)))
          << problem.key();
    }
  EXPECT_GT(refused, 0);
}

TEST(Fft, checksConfigs) {
  const Solver &solver = *findSolver("conv-fft-v1");
  TargetInfo target;
  Problem problem = makeProblem(16, 7, 20, /*depthwise=*/false);
  auto isValid = [&](const char *text) {
    return solver.isValidConfig(problem, target, *PerfConfig::parse(text));
  };
  EXPECT_TRUE(isValid("block_m=1,tile_h=16,tile_m=6,tile_n=8,tile_w=32"));
  EXPECT_FALSE(isValid("block_m=1,tile_h=16,tile_m=8,tile_n=8,tile_w=32"));
  EXPECT_FALSE(isValid("block_m=1,tile_h=12,tile_m=6,tile_n=8,tile_w=32"));
  EXPECT_FALSE(isValid("block_m=1,tile_h=1,tile_m=6,tile_n=8,tile_w=32"));
  EXPECT_FALSE(isValid("tile_h=16,tile_w=16"));
  problem = makeProblem(16, 11, 20, /*depthwise=*/true);
  EXPECT_TRUE(isValid("tile_h=16,tile_w=16"));
  EXPECT_FALSE(isValid("tile_h=8,tile_w=16")); // The filter is larger.
}
