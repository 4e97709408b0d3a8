//===- GpuImplicitGemmTest.cpp - The tiled engine, emulated ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and matrix products of all shapes that the engine treats
// differently, on the emulated device, which also looks for races and for
// accesses outside of buffers. Random problems are GpuSolverPropertyTest.cpp's.
//
//===----------------------------------------------------------------------===//

#include "GpuProductTest.h"

#include "tarpon/Solver/GpuTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <array>
#include <map>
#include <set>

using namespace tarpon;
using namespace tarpon::test;

static constexpr const char *kGpus[] = {"gfx90a",  "gfx942",  "gfx950",
                                        "gfx1100", "gfx1201", "sm_90a"};

TEST(GpuImplicitGemm, convolves) {
  Runners runners;
  Conv conv{2, 64, 14, 14, 64, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  check(runners, "gfx942", getKey(conv, "f16", ":nhwc"));
}

TEST(GpuImplicitGemm, everyDtypeAndLayout) {
  Runners runners;
  Conv conv{2, 32, 7, 6, 40, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  for (const char *gpu : kGpus)
    for (const char *dtype : {"f16", "bf16", "f32", "i8q", "u8q"})
      for (const char *layout : {":nhwc", ""})
        check(runners, gpu, getKey(conv, dtype, layout));
}

TEST(GpuImplicitGemm, edgeCases) {
  Runners runners;
  const Conv convs[] = {
      // One pixel; a stride beyond the kernel; a window larger than the image.
      {1, 16, 1, 1, 24, 1, 1},
      {2, 24, 9, 7, 33, 2, 2, 3},
      {1, 8, 3, 3, 8, 5, 5, 1, 1, 1, {2, 2, 2, 2}},
      // Padding on one side, dilation, and no epilogue.
      {1, 40, 6, 8, 20, 3, 2, 2, 2, 1, {0, 3, 4, 1}, ""},
      // Groups: of several channels, of one each; a stem of three channels.
      {2, 48, 5, 5, 24, 3, 3, 1, 1, 3, {1, 1, 1, 1}},
      {1, 20, 6, 6, 20, 3, 3, 1, 1, 20, {1, 1, 1, 1}},
      {1, 3, 17, 17, 16, 7, 7, 2, 1, 1, {3, 3, 3, 3}, "add(2) | relu"},
      // More pixels and channels than a block.
      {1, 72, 12, 13, 136, 1, 1, 1, 1, 1, {0, 0, 0, 0}, "relu"},
  };
  for (const char *gpu : {"gfx942", "gfx1100", "sm_90a"})
    for (const char *dtype : {"f16", "i8q"})
      for (const char *layout : {":nhwc", ""})
        for (const Conv &conv : convs)
          check(runners, gpu, getKey(conv, dtype, layout));
}

TEST(GpuImplicitGemm, otherDimensions) {
  Runners runners;
  for (const char *gpu : {"gfx942", "gfx1201"})
    for (const char *layout : {":nhwc", ""}) {
      std::string l = layout;
      check(runners, gpu,
            "conv(2x16x19xf16" + l + ", 24x16x3xf16:const)->2x24x10xf16" + l +
                " {dilations=1 group=1 pads=1,1 strides=2}");
      check(runners, gpu,
            "conv(1x8x4x5x6xf16" + l +
                ", 16x8x3x2x3xf16:const)->1x16x4x4x3xf16" + l +
                " {dilations=1,1,1 group=1 pads=1,0,1,1,0,1 "
                "strides=1,1,2} | relu");
    }
}

TEST(GpuImplicitGemm, slices) {
  Runners runners;
  check(runners, "gfx942",
        "conv(1x16x5x5xf16:nhwc/40, 24x16x3x3xf16:const)->1x24x5x5xf16:nhwc/56 "
        "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | relu");
}

TEST(GpuImplicitGemm, filtersAtRunTime) {
  Runners runners;
  for (const char *gpu : {"gfx942", "gfx1100"})
    for (const char *dtype : {"f16", "f32"}) {
      std::string t = dtype;
      check(
          runners, gpu,
          "conv(1x20x6x6x" + t + ":nhwc, 24x10x3x3x" + t + ")->1x24x6x6x" + t +
              ":nhwc {dilations=1,1 group=2 pads=1,1,1,1 strides=1,1} | relu");
    }
}

/// Stacks, broadcasting, transposed sides, operands of every kind.
TEST(GpuImplicitGemm, multiplies) {
  Runners runners;
  const char *keys[] = {
      "matmul(5x40x{0}, 40x50x{0}:const; 50x{0})->5x50x{0} "
      "{{transpose_lhs=0 transpose_rhs=0} | add(2) | relu",
      "matmul(40x33x{0}, 50x40x{0})->33x50x{0} "
      "{{transpose_lhs=1 transpose_rhs=1}",
      "matmul(2x3x17x24x{0}, 2x3x24x20x{0})->2x3x17x20x{0} "
      "{{transpose_lhs=0 transpose_rhs=0}",
      "matmul(3x17x9x{0}, 2x1x9x12x{0}:const; 2x1x1x12x{0}, 3x17x1x{0})"
      "->2x3x17x12x{0} {{transpose_lhs=0 transpose_rhs=0} | add(2) | mul(3)",
      "matmul(2x24x17x{0}, 20x24x{0}:const)->2x17x20x{0} "
      "{{transpose_lhs=1 transpose_rhs=1}",
  };
  for (const char *gpu : {"gfx942", "gfx1100", "gfx1201"})
    for (const char *dtype : {"f16", "f32"})
      for (const char *key : keys)
        check(runners, gpu, llvm::formatv(key, dtype));
}

/// Each filter of a stack has sums of its own, which a zero point multiplies.
TEST(GpuImplicitGemm, multipliesStacksOfBytes) {
  Runners runners;
  for (const char *gpu : {"gfx942", "gfx1100"})
    check(runners, gpu,
          "matmul(2x3x10x15xu8q, 2x3x15x11xi8q:const)->2x3x10x11xu8q "
          "{transpose_lhs=0 transpose_rhs=0}");
}

/// Each field of the config at each of its values.
TEST(GpuImplicitGemm, everyConfigField) {
  Runners runners;
  Conv conv{1, 80, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  using Change = std::vector<std::pair<const char *, int64_t>>;
  const Change changes[] = {
      {{"block_m", 128}, {"block_n", 128}, {"wave_m", 64}, {"wave_n", 64}},
      {{"block_m", 64}, {"block_n", 128}, {"wave_m", 32}, {"wave_n", 64}},
      {{"block_m", 64},
       {"block_n", 64},
       {"wave_m", 32},
       {"wave_n", 32},
       {"block_k", 32}},
      {{"stages", 2}},
      {{"block_m", 64},
       {"block_n", 64},
       {"wave_m", 32},
       {"wave_n", 32},
       {"block_k", 32},
       {"stages", 2}},
      {{"block_k", 128}},
      {{"split_k", 1}},
      {{"split_k", 3}},
      {{"split_k", 5}, {"stages", 2}},
      {{"swizzle", 0}},
      {{"waves_per_eu", 0}},
      {{"waves_per_eu", 1}},
      {{"block_m", 64},
       {"block_n", 64},
       {"wave_m", 32},
       {"wave_n", 32},
       {"inst", 16}},
      {{"block_m", 64},
       {"block_n", 64},
       {"wave_m", 32},
       {"wave_n", 32},
       {"inst", 32}},
  };
  for (const Change &change : changes)
    for (const char *layout : {":nhwc", ""})
      check(runners, "gfx942", getKey(conv, "f16", layout), change);
  check(runners, "gfx942", getKey(conv, "u8q", ":nhwc"), {{"split_k", 3}});
  check(runners, "gfx1100", getKey(conv, "f32", ":nhwc"),
        {{"split_k", 3}, {"stages", 2}});
}

/// Pixels of few channels are packed as one: two of a row, four of bytes.
TEST(GpuImplicitGemm, foldsPixels) {
  Runners runners;
  const Conv convs[] = {
      {1, 3, 17, 17, 16, 7, 7, 2, 1, 1, {3, 3, 3, 3}, "add(2) | relu"},
      {2, 3, 12, 15, 24, 3, 3, 2, 1, 1, {0, 0, 1, 1}, ""},
      {1, 4, 9, 10, 8, 2, 5, 2, 1, 1, {1, 2, 0, 3}, "relu"},
      {1, 1, 8, 7, 8, 1, 4, 2, 1, 1, {0, 1, 0, 0}, "relu"},
  };
  for (const Conv &conv : convs)
    for (const char *dtype : {"f16", "bf16", "f32"})
      for (const char *layout : {":nhwc", ""})
        check(runners, "sm_90a", getKey(conv, dtype, layout));
}

/// Where padding is not zeros, the packed image has it.
TEST(GpuImplicitGemm, foldsPixelsOfBytes) {
  Runners runners;
  const Conv convs[] = {
      {1, 3, 17, 17, 16, 7, 7, 2, 1, 1, {3, 3, 3, 3}, "add(2) | relu"},
      {2, 4, 9, 10, 24, 2, 5, 2, 1, 1, {1, 2, 0, 3}, ""},
      // Strides of as many pixels as a chunk holds, and of no part of those.
      {1, 2, 12, 15, 8, 3, 6, 4, 1, 1, {0, 1, 1, 0}, "relu"},
      {1, 3, 9, 8, 8, 3, 3, 1, 1, 1, {1, 1, 1, 1}, "relu"},
      {1, 5, 8, 9, 8, 3, 3, 2, 1, 1, {1, 0, 1, 1}, "relu"},
  };
  const Solver &solver = *findSolver("gpu-igemm-v1");
  for (const Conv &conv : convs)
    for (const char *dtype : {"u8q", "i8q"})
      for (const char *layout : {":nhwc", ""}) {
        Problem problem = makeProblem(getKey(conv, dtype, layout));
        PerfConfig config =
            solver.defaultConfig(problem, runners.get("sm_90a").getTarget());
        EXPECT_GT(config.get("stages"), 1);
        check(runners, "sm_90a", problem);
      }
}

/// A lane stores 16 channels, or the parts of them that exist; it loads the
/// residual before the product. Zero points decide what is added, and if relu
/// is left to the saturation.
TEST(GpuImplicitGemm, storesRunsOfBytes) {
  Runners runners;
  const Solver &solver = *findSolver("gpu-igemm-v1");
  for (int64_t channels : {128, 72, 36, 30})
    for (const char *dtype : {"u8q", "i8q"})
      for (int64_t zeroPoint : {0, 7}) {
        Conv conv{1, 32, 9, 8, channels, 1, 1};
        Problem problem = makeProblem(getKey(conv, dtype, ":nhwc"));
        problem.operands[0].zeroPoint = zeroPoint;
        problem.operands[3].zeroPoint = 3 * zeroPoint;
        problem.result.zeroPoint = 2 * zeroPoint;
        check(runners, "sm_90a", problem);
        const TargetInfo &target = runners.get("sm_90a").getTarget();
        SolutionPlan plan =
            solver.plan(problem, target, solver.defaultConfig(problem, target));
        llvm::StringRef symbol = plan.launches.back().kernel.symbol;
        bool isSaturated = zeroPoint == 0 && problem.result.dtype == DType::U8;
        EXPECT_EQ(symbol.contains("relu"), !isSaturated) << symbol.str();
        EXPECT_EQ(symbol.contains("_z_"), zeroPoint != 0) << symbol.str();
      }
}

/// wgmma, whose operands are in LDS.
TEST(GpuImplicitGemm, multipliesInWarpgroups) {
  Runners runners;
  Conv conv{1, 80, 9, 9, 136, 3, 3, 1, 1, 1, {1, 1, 1, 1}};
  Conv point{1, 160, 7, 11, 72, 1, 1};
  using Change = std::vector<std::pair<const char *, int64_t>>;
  std::vector<Change> changes;
  // Sides of the block, of a group's tile and of the instruction.
  for (auto [m, n, waveM, waveN, inst, stages, splits] :
       {std::array{128, 128, 128, 64, 128, 3, 1},
        {128, 64, 64, 64, 64, 4, 2},
        {128, 256, 128, 128, 64, 2, 1}})
    changes.push_back({{"block_m", m},
                       {"block_n", n},
                       {"wave_m", waveM},
                       {"wave_n", waveN},
                       {"inst", inst},
                       {"stages", stages},
                       {"split_k", splits}});
  for (const Change &change : changes) {
    for (const char *dtype : {"f16", "bf16"})
      check(runners, "sm_90a", getKey(conv, dtype, ":nhwc"), change);
    // Half as many elements in a byte.
    Change bytes = change;
    bytes.emplace_back("block_k", 128);
    for (const char *dtype : {"u8q", "i8q"})
      check(runners, "sm_90a", getKey(point, dtype, ":nhwc"), bytes);
  }
  const Solver &solver = *findSolver("gpu-igemm-v1");
  Problem problem = makeProblem(getKey(conv, "f16", ":nhwc"));
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a"));
  PerfConfig config = solver.defaultConfig(problem, target);
  for (auto [field, value] : changes[0])
    config.set(field, value);
  EXPECT_EQ(solver.explainConfig(problem, target, config), "");
  config.set("swizzle", 0);
  EXPECT_EQ(solver.explainConfig(problem, target, config),
            "a warpgroup needs stages of rows of 128 bytes, swizzled");
  TargetInfo older = makeGpuTargetInfo(*parseGpuTarget("sm_80"));
  config.set("swizzle", 1);
  EXPECT_EQ(solver.explainConfig(problem, older, config),
            "the target has no such instruction");
}

TEST(GpuImplicitGemm, refusesBadConfigs) {
  Problem problem =
      makeProblem(getKey({1, 64, 8, 8, 64, 3, 3}, "f16", ":nhwc"));
  const Solver &solver = *findSolver("gpu-igemm-v1");
  for (const char *gpu : kGpus) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(gpu));
    PerfConfig good = solver.defaultConfig(problem, target);
    EXPECT_TRUE(solver.isValidConfig(problem, target, good)) << gpu;
    std::vector<PerfConfig> configs = solver.configs(problem, target);
    EXPECT_LE(configs.size(), 40u);
    EXPECT_EQ(configs.front(), good);
    for (const PerfConfig &config : configs)
      EXPECT_TRUE(solver.isValidConfig(problem, target, config))
          << gpu << " " << config.str();
    struct Fault {
      const char *field;
      int64_t value;
      const char *reason;
    };
    const Fault faults[] = {{"block_m", 96, "whole blocks"},
                            {"block_n", 17, "whole wave tiles"},
                            {"block_k", 24, "power of two"},
                            {"wave_m", 48, ""},
                            {"inst", 8, "no such instruction"},
                            {"stages", 6, "LDS has one to"},
                            {"split_k", 0, "take turns"},
                            {"split_k", 100, "from 0 to 64"},
                            {"split_k", 60, "split_k is at most"},
                            {"swizzle", 2, "0 or 1"},
                            {"block_n", 512, "more"},
                            {"waves_per_eu", 99, "more waves"},
                            {"groups_per_unit", 33, "from 0 to 32"},
                            {"more", 1, "the fields are block_m, block_n"}};
    for (const Fault &fault : faults) {
      PerfConfig bad = good;
      bad.set(fault.field, fault.value);
      SCOPED_TRACE(gpu + (" " + bad.str()));
      EXPECT_FALSE(solver.isValidConfig(problem, target, bad));
      std::string reason = solver.explainConfig(problem, target, bad);
      EXPECT_NE(reason, "");
      EXPECT_NE(reason.find(fault.reason), std::string::npos) << reason;
    }
    EXPECT_EQ(solver.explainConfig(problem, target, good), "");
  }
}

/// Other wave tiles than the block's shape says, and LDS without swizzles.
TEST(GpuImplicitGemm, proposesEveryField) {
  Problem problem = makeProblem(getKey(
      {64, 256, 14, 14, 256, 3, 3, 1, 1, 1, {1, 1, 1, 1}}, "f16", ":nhwc"));
  for (const char *gpu : kGpus) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(gpu));
    std::map<std::string, std::set<int64_t>> values;
    std::set<std::array<int64_t, 4>> shapes;
    for (const PerfConfig &config :
         findSolver("gpu-igemm-v1")->configs(problem, target)) {
      for (const auto &[field, value] : config.getFields())
        values[field].insert(value);
      shapes.insert({config.get("block_m"), config.get("block_n"),
                     config.get("wave_m"), config.get("wave_n")});
    }
    // Sums are too many for splits, some GPUs have one instruction, turns need
    // copies, ldmatrix swizzles, and wgmma rows of 128 bytes.
    for (const auto &[field, all] : values)
      if (field != "split_k" && field != "inst" &&
          (field != "groups_per_unit" || gpu == std::string("sm_90a")) &&
          ((field != "swizzle" && field != "block_k") ||
           gpu != std::string("sm_90a"))) {
        EXPECT_GT(all.size(), 1u) << gpu << " " << field;
      }
    // Nine blocks, one of them with more wave tiles.
    EXPECT_GT(shapes.size(), 10u) << gpu;
  }
}

/// Filters of one channel are padded to those of a matrix instruction, but not
/// to those of the largest tile.
TEST(GpuImplicitGemm, takesManySmallFiltersAtRunTime) {
  Runners runners;
  Problem problem =
      makeProblem("conv(8x960x14x14xf16:nhwc, "
                  "960x1x5x5xf16)->8x960x14x14xf16:nhwc {dilations=1,1 "
                  "group=960 pads=2,2,2,2 strides=1,1}");
  const Solver &solver = *findSolver("gpu-igemm-v1");
  for (const char *gpu : kGpus) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(gpu));
    Applicability answer = checkApplicable(solver, problem, target);
    ASSERT_TRUE(answer) << answer.getReason().str();
    int64_t workspace = solver.workspaceSize(problem, target);
    EXPECT_LT(workspace, 200 << 20);
    for (const PerfConfig &config : solver.configs(problem, target))
      EXPECT_LE(solver.plan(problem, target, config).workspaceBytes, workspace)
          << gpu << " " << config.str();
    PerfConfig padded = solver.defaultConfig(problem, target);
    padded.set("block_m", 512);
    EXPECT_FALSE(solver.isValidConfig(problem, target, padded));
  }
  check(runners, "gfx942",
        "conv(1x12x6x7xf16:nhwc, 12x1x5x5xf16)->1x12x6x7xf16:nhwc "
        "{dilations=1,1 group=12 pads=2,2,2,2 strides=1,1} | relu");
  Problem huge =
      makeProblem("matmul(4x70000xf16, 70000x70000xf16)->4x70000xf16 "
                  "{transpose_lhs=0 transpose_rhs=0}");
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  EXPECT_EQ(findSolver("gpu-gemm-v1")->isApplicable(huge, target).getReason(),
            "needs tensors below 2 GiB");
  // Groups of one channel take a whole instruction each.
  Problem groups = makeProblem("conv(1x200000x3x3xf16:nhwc, "
                               "200000x1x5x5xf16)->1x200000x3x3xf16:nhwc "
                               "{dilations=1,1 group=200000 pads=2,2,2,2 "
                               "strides=1,1}");
  EXPECT_EQ(solver.isApplicable(groups, target).getReason(),
            "needs a filter below 2 GiB when it is packed");
}
