//===- GpuCopiesTest.cpp - Asynchronous copies of the tiled engine --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages of LDS that are filled by cp.async, or by loads to LDS.
//
//===----------------------------------------------------------------------===//

#include "GpuProductTest.h"

#include "tarpon/Solver/GpuTarget.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

/// Stages of asynchronous copies, and what goes through registers instead.
TEST(GpuCopies, copiesInStages) {
  Runners runners;
  Conv conv{1, 80, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  for (int64_t stages : {1, 2, 3, 5})
    for (int64_t splits : {1, 3})
      for (const char *dtype : {"f16", "f32"})
        check(runners, "sm_90a", getKey(conv, dtype, ":nhwc"),
              {{"stages", stages}, {"split_k", splits}});
  // More stages than steps.
  Conv point{2, 16, 5, 5, 24, 1, 1};
  for (const char *dtype : {"f16", "u8q", "i8q"})
    check(runners, "sm_90a", getKey(point, dtype, ":nhwc"), {{"stages", 5}});
  // Padding is not zeros.
  const Solver &solver = *findSolver("gpu-igemm-v1");
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a"));
  for (const char *dtype : {"u8q", "i8q"}) {
    Problem problem = makeProblem(getKey(conv, dtype, ":nhwc"));
    PerfConfig config = solver.defaultConfig(problem, target);
    EXPECT_EQ(config.get("stages"), 1);
    config.set("groups_per_unit", 1);
    EXPECT_EQ(solver.explainConfig(problem, target, config),
              "turns need stages of an input that is copied as it is");
    config.set("groups_per_unit", 0);
    config.set("stages", 3);
    EXPECT_EQ(solver.explainConfig(problem, target, config),
              "a third stage needs an input that is copied as it is");
    problem.operands[0].zeroPoint = 0;
    EXPECT_GT(solver.defaultConfig(problem, target).get("stages"), 1);
  }
}

/// Loads to LDS: lanes side by side there find their bytes, of 4 or 16.
TEST(GpuCopies, loadsToLdsInStages) {
  Runners runners;
  const Conv convs[] = {{1, 80, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}},
                        {2, 64, 9, 9, 80, 3, 3, 2, 1, 2, {1, 0, 1, 2}},
                        {1, 8, 9, 7, 24, 3, 3, 1, 2, 1, {2, 2, 2, 2}},
                        {2, 40, 7, 5, 24, 1, 1}};
  for (const char *gpu : {"gfx90a", "gfx942", "gfx950"})
    for (const Conv &conv : convs)
      for (int64_t stages : {2, 3}) {
        check(runners, gpu, getKey(conv, "f16", ":nhwc"),
              {{"stages", stages}, {"split_k", 1}});
        check(runners, gpu, getKey(conv, "bf16", ""), {{"stages", stages}});
      }
  const Conv &conv = convs[0], &point = convs[3];
  const ConfigChange changes[] = {
      {{"block_k", 32}, {"stages", 5}, {"split_k", 3}},
      {{"block_k", 32}, {"stages", 4}, {"swizzle", 0}},
      {{"block_k", 32}, {"stages", 2}},
      {{"stages", 2}, {"groups_per_unit", 1}},
      {{"block_m", 64}, {"block_n", 64}, {"wave_m", 32}, {"stages", 2}}};
  for (const char *gpu : {"gfx942:cu=2", "gfx950:cu=2"}) {
    for (const ConfigChange &change : changes)
      check(runners, gpu, getKey(conv, "f16", ":nhwc"), change);
    check(runners, gpu, getKey(conv, "f32", ":nhwc"), {{"stages", 2}});
    check(runners, gpu, getKey(point, "i8q", ":nhwc"), {{"stages", 3}});
    // Bytes that are changed on their way go through registers.
    check(runners, gpu, getKey(point, "u8q", ":nhwc"), {{"stages", 2}});
    check(runners, gpu, getKey(conv, "i8q", ":nhwc"), {{"stages", 2}});
    check(runners, gpu,
          "matmul(5x40x96xf16, 5x96x72xf16)->5x40x72xf16 {transpose_lhs=0 "
          "transpose_rhs=0}",
          {{"stages", 2}, {"groups_per_unit", 1}});
  }
  // RDNA has none, and two waves copy no eight rows of 128 bytes by dwords.
  const Solver &solver = *findSolver("gpu-igemm-v1");
  Problem problem = makeProblem(getKey(conv, "f16", ":nhwc"));
  auto explain = [&](const char *gpu, const ConfigChange &change) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(gpu));
    PerfConfig config = solver.defaultConfig(problem, target);
    for (auto [field, value] : change)
      config.set(field, value);
    return solver.explainConfig(problem, target, config);
  };
  EXPECT_EQ(explain("gfx1100", {{"stages", 3}}), "LDS has one to 2 stages");
  const ConfigChange two = {{"block_m", 64}, {"block_n", 64}, {"wave_m", 32},
                            {"wave_n", 64},  {"block_k", 64}, {"stages", 2}};
  EXPECT_EQ(explain("gfx942", two),
            "the lanes must copy whole groups of eight rows");
  EXPECT_EQ(explain("gfx950", two), "");
  // One wave loads no eight rows of 512 bytes.
  EXPECT_EQ(explain("gfx942", {{"block_m", 32},
                               {"block_n", 32},
                               {"wave_m", 32},
                               {"wave_n", 32},
                               {"inst", 32},
                               {"block_k", 256},
                               {"stages", 2}}),
            "the lanes must load whole groups of eight rows");
}

/// A workgroup does blocks in turn, the last ones of which do not exist for
/// some workgroups.
TEST(GpuCopies, takesTurns) {
  Runners runners;
  const char *gpu = "sm_90a:cu=2";
  const ConfigChange small = {{"block_m", 32}, {"block_n", 32}, {"wave_m", 16},
                              {"wave_n", 16},  {"inst", 16},    {"stages", 3}};
  const ConfigChange groups = {{"block_m", 64}, {"block_n", 64}, {"wave_m", 64},
                               {"wave_n", 64},  {"inst", 64},    {"stages", 4}};
  auto run = [&](const Conv &conv, const char *dtype, const char *layout,
                 ConfigChange change, int64_t perUnit, int64_t splits = 1) {
    change.emplace_back("groups_per_unit", perUnit);
    change.emplace_back("split_k", splits);
    if (std::string(dtype).ends_with("q"))
      change.emplace_back("block_k", 128);
    check(runners, gpu, getKey(conv, dtype, layout), change);
  };
  Conv conv{2, 80, 9, 9, 136, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  Conv point{2, 64, 13, 9, 128, 1, 1};
  Conv grouped{2, 64, 9, 9, 160, 3, 3, 2, 1, 2, {1, 1, 1, 1}};
  for (const ConfigChange &change : {small, groups})
    for (const char *layout : {":nhwc", ""}) {
      run(conv, "f16", layout, change, 1);
      run(point, "f16", layout, change, 2);
      run(point, "u8q", layout, change, 1);
      run(grouped, "bf16", layout, change, 1, /*splits=*/2);
    }
  // More workgroups than blocks.
  run(point, "f16", ":nhwc", groups, 32);
  ConfigChange batched = small;
  batched.emplace_back("groups_per_unit", 1);
  check(runners, gpu,
        "matmul(5x40x96xf16, 5x96x72xf16)->5x40x72xf16 {transpose_lhs=0 "
        "transpose_rhs=0}",
        batched);
}
