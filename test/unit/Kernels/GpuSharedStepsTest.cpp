//===- GpuSharedStepsTest.cpp - Workgroups that share steps ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the emulated device, which also looks for accesses of workgroups that
// nothing has ordered.
//
//===----------------------------------------------------------------------===//

#include "GPU/ImplicitGemm/SharedSteps.h"

#include "GpuProductTest.h"

#include "tarpon/Solver/GpuTarget.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace tarpon;
using namespace tarpon::test;
using gpuigemm::StepShares;

/// Every step has one workgroup, and shares differ by one step at most.
TEST(GpuSharedSteps, sharesAreEven) {
  for (int64_t blocks : {1, 3, 50, 98, 131, 132, 133, 263, 264, 265, 1000})
    for (int64_t steps : {1, 2, 9, 72})
      for (int64_t most : {1, 7, 132, 264}) {
        StepShares shares(blocks, steps, most);
        EXPECT_EQ(shares.turns * shares.groups + shares.blocks, blocks);
        EXPECT_GE(shares.least, 1);
        EXPECT_LE(shares.groups, most);
        // Whole blocks come first only where enough are left for everybody.
        EXPECT_TRUE(shares.turns == 0 || shares.blocks >= shares.groups);
        EXPECT_LT(shares.blocks, 2 * shares.groups + (most == 1));
        std::vector<int64_t> counts(shares.groups);
        int64_t before = 0;
        for (int64_t step = 0; step < shares.blocks * steps; ++step) {
          int64_t group = shares.getGroup(step);
          ASSERT_GE(group, before);
          ASSERT_LT(group, shares.groups);
          ++counts[group];
          before = group;
        }
        for (int64_t group = 0; group < shares.groups; ++group)
          EXPECT_EQ(counts[group], shares.least + (group < shares.longer));
      }
}

static const ConfigChange kSmallBlock = {{"block_m", 32}, {"block_n", 32},
                                         {"wave_m", 16},  {"wave_n", 16},
                                         {"inst", 16},    {"split_k", 0}};

static const char *const kGpus[] = {"gfx942:cu=4", "gfx1100:cu=4",
                                    "sm_90a:cu=4"};

/// Blocks none of which is whole, some of which are, or which are taken whole
/// first; with a batch, with groups, and with sums of integers. Each runs
/// twice: counters must be as they were.
TEST(GpuSharedSteps, convolvesAndMultiplies) {
  Runners runners;
  Conv conv{1, 80, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  Conv groups{2, 48, 5, 5, 24, 3, 3, 1, 1, 3, {1, 1, 1, 1}};
  for (const char *gpu : kGpus) {
    runners.get(gpu).setLaunches(2);
    for (int64_t perUnit : {1, 3, 8})
      for (int64_t stages : {1, 2}) {
        ConfigChange change = kSmallBlock;
        change.emplace_back("groups_per_unit", perUnit);
        change.emplace_back("stages", stages);
        for (const char *dtype : {"f16", "i8q"}) {
          check(runners, gpu, getKey(conv, dtype, ":nhwc"), change);
          check(runners, gpu, getKey(groups, dtype, ""), change);
        }
        check(runners, gpu,
              "matmul(2x3x17x64xf16, 2x3x64x40xf16)->2x3x17x40xf16 "
              "{transpose_lhs=0 transpose_rhs=0}",
              change);
      }
  }
}

/// wgmma, of one warpgroup and of two, with products under way and without.
TEST(GpuSharedSteps, sharesInWarpgroups) {
  Runners runners;
  const char *gpu = "sm_90a:cu=3";
  runners.get(gpu).setLaunches(2);
  Conv conv{2, 80, 9, 9, 136, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  Conv strided{1, 64, 15, 13, 256, 1, 1, 2};
  for (auto [m, n, inst, stages] :
       {std::array{64, 64, 64, 4}, {128, 128, 128, 3}, {256, 128, 256, 4}})
    for (const Conv &each : {conv, strided})
      for (const char *dtype : {"f16", "u8q"}) {
        bool isByte = std::string(dtype) == "u8q";
        // Copies have zeros for padding, whatever the zero point.
        if (isByte && each.pads[0] > 0)
          continue;
        ConfigChange change = {
            {"block_m", m},     {"block_n", n}, {"block_k", isByte ? 128 : 64},
            {"wave_m", inst},   {"wave_n", 64}, {"inst", inst},
            {"stages", stages}, {"split_k", 0}, {"groups_per_unit", 1},
            {"waves_per_eu", 0}};
        check(runners, gpu, getKey(each, dtype, ":nhwc"), change);
      }
}

/// Whoever arrives last, the bits are the same.
TEST(GpuSharedSteps, doesNotDependOnTheOrder) {
  Conv conv{1, 96, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  Problem problem = makeProblem(getKey(conv, "f16", ":nhwc"));
  const Solver &solver = *findSolver("gpu-igemm-v1");
  for (std::string gpu : {"gfx942:cu=40", "gfx1100:cu=40", "sm_90a:cu=40"}) {
    std::vector<std::vector<double>> first;
    for (uint64_t seed = 0; seed < 6; ++seed) {
      auto runner = SolverRunner::createEmulated(gpu, nullptr, seed);
      ASSERT_TRUE(runner) << runner.message();
      const TargetInfo &target = (*runner)->getTarget();
      PerfConfig config = solver.defaultConfig(problem, target);
      for (auto [field, value] : kSmallBlock)
        config.set(field, value);
      config.set("groups_per_unit", 1);
      ASSERT_EQ(solver.explainConfig(problem, target, config), "");
      // Blocks have three workgroups and more.
      EXPECT_EQ(solver.plan(problem, target, config).launches.back().tasks, 40);
      auto result = (*runner)->run(problem, solver, config, {}, 3);
      ASSERT_TRUE(result) << result.message();
      if (seed == 0)
        first = *result;
      EXPECT_EQ(*result, first) << gpu << " " << seed;
    }
  }
}

/// What leaves units without work is offered with shared steps; nothing else.
TEST(GpuSharedSteps, isProposedForIdleUnits) {
  const Solver &solver = *findSolver("gpu-igemm-v1");
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a:cu=132"));
  auto count = [&](const Conv &conv) {
    Problem problem = makeProblem(getKey(conv, "f16", ":nhwc"));
    int64_t workspace = solver.workspaceSize(problem, target), sharing = 0;
    for (const PerfConfig &config : solver.configs(problem, target)) {
      sharing += config.get("split_k") == 0;
      SolutionPlan plan = solver.plan(problem, target, config);
      EXPECT_LE(plan.workspaceBytes, workspace) << config.str();
      if (config.get("split_k") == 0) {
        EXPECT_EQ(plan.launches.size(), 1u);
        EXPECT_EQ(plan.launches[0].tasks, 132 * config.get("groups_per_unit"));
      }
    }
    return sharing;
  };
  // Images of 7x7 and 14x14.
  EXPECT_GT(count({64, 512, 7, 7, 512, 3, 3, 1, 1, 1, {1, 1, 1, 1}}), 3);
  EXPECT_GT(count({64, 512, 14, 14, 512, 3, 3, 2, 1, 1, {1, 1, 1, 1}}), 3);
  EXPECT_GT(count({64, 1024, 14, 14, 256, 1, 1}), 0);
  // So many blocks that the last round does not matter.
  EXPECT_EQ(count({64, 64, 112, 112, 64, 3, 3, 1, 1, 1, {1, 1, 1, 1}}), 0);
}

/// Two tiles that ptxas could only compile with registers in memory.
TEST(GpuSharedSteps, refusesTilesThatSpill) {
  const Solver &solver = *findSolver("gpu-igemm-v1");
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a:cu=132"));
  Problem problem = makeProblem(getKey({1, 128, 20, 15, 128, 3, 3}, "u8q", ""));
  for (auto [inst, waveM, waveN, waves] :
       {std::array{16, 32, 64, 3}, {64, 64, 128, 4}}) {
    PerfConfig config = solver.defaultConfig(problem, target);
    for (auto [field, value] : ConfigChange{{"block_m", 64},
                                            {"block_n", 128},
                                            {"block_k", 128},
                                            {"inst", inst},
                                            {"wave_m", waveM},
                                            {"wave_n", waveN},
                                            {"stages", 2},
                                            {"groups_per_unit", waves},
                                            {"split_k", 0}})
      config.set(field, value);
    config.set("waves_per_eu", 0);
    EXPECT_EQ(solver.explainConfig(problem, target, config), "");
    config.set("waves_per_eu", waves);
    EXPECT_EQ(solver.explainConfig(problem, target, config),
              "needs more registers than there are");
  }
}
