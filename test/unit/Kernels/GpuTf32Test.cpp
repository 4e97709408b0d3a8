//===- GpuTf32Test.cpp - Products of f32 in TF32 --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuProblems.h"
#include "GpuProductTest.h"
#include "Tf32Reference.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr const char *kAllowed[] = {"sm_80:tf32", "sm_89:tf32", "sm_90a:tf32",
                                    "sm_100a:tf32"};

constexpr Conv kConv = {2, 40, 9, 9, 72, 3, 3, 1, 1, 1, {1, 1, 1, 1}};

std::string getKeyOf(const std::string &layout, bool isConstant) {
  constexpr llvm::StringLiteral kFilter = "3x3xf32", kConstant = ":const";
  std::string key = getKey(kConv, "f32", layout);
  if (!isConstant)
    key.erase(key.find(kFilter) + kFilter.size(), kConstant.size());
  return key;
}

/// Rounds halves away from zero, and keeps infinities.
TEST(GpuTf32, RoundingIsThatOfTheInstruction) {
  EXPECT_EQ(roundToTf32(1 + 0x1p-11), 1 + 0x1p-10);
  EXPECT_EQ(roundToTf32(-1 - 0x1p-11), -1 - 0x1p-10);
  EXPECT_EQ(roundToTf32(1 + 0x1p-12), 1);
  EXPECT_EQ(truncateToTf32(1 + 0x1p-11 + 0x1p-12), 1);
  EXPECT_EQ(roundToTf32(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<float>::infinity());
}

/// Random problems, with the default config and another one.
TEST(GpuTf32, AgreesWithRoundedFactors) {
  Runners runners;
  SolverRunner &host = runners.get("native");
  size_t wgmma = 0, mma = 0;
  for (const char *name : kAllowed) {
    SolverRunner &gpu = runners.get(name);
    bool isHopper = name == std::string("sm_90a:tf32");
    size_t wanted = getNumber("TARPON_TEST_GPU_PROBLEMS", isHopper ? 24 : 4);
    for (const Tf32Case &drawn :
         drawTf32Cases(gpu.getTarget(), wanted,
                       getNumber("TARPON_TEST_SEED", 1), /*maxFlops=*/4e5))
      for (const PerfConfig &config : pickConfigs(
               *drawn.solver, drawn.problem, gpu.getTarget(), drawn.seed)) {
        SCOPED_TRACE(name + (" " + drawn.problem.key()) + " {" + config.str() +
                     "}");
        ++(config.get("inst") >= 64 ? wgmma : mma);
        EXPECT_EQ(compareTf32(host, gpu, drawn.problem, *drawn.solver, config,
                              drawn.seed),
                  "");
      }
  }
  EXPECT_GT(mma, 0u);
  EXPECT_GT(wgmma, 0u);
}

/// Stages, splits, turns, both kinds of instructions, filters that are packed
/// beforehand and at run time.
TEST(GpuTf32, EveryFormOfTheKernel) {
  Runners runners;
  SolverRunner &host = runners.get("native"), &gpu = runners.get("sm_90a:tf32");
  const Solver &solver = *findSolver("gpu-igemm-v1");
  const ConfigChange changes[] = {
      {},
      {{"stages", 1}},
      {{"split_k", 2}},
      {{"groups_per_unit", 1}, {"stages", 3}},
      {{"split_k", 0}, {"groups_per_unit", 1}, {"stages", 3}},
      {{"block_m", 128},
       {"block_n", 128},
       {"wave_m", 128},
       {"wave_n", 64},
       {"inst", 128},
       {"stages", 3}},
      {{"block_m", 64},
       {"block_n", 64},
       {"wave_m", 64},
       {"wave_n", 64},
       {"inst", 64},
       {"stages", 4},
       {"split_k", 2}},
      {{"block_m", 256},
       {"block_n", 64},
       {"wave_m", 256},
       {"wave_n", 64},
       {"inst", 256},
       {"stages", 2}}};
  for (const char *layout : {"", ":nhwc"})
    for (bool isConstant : {true, false})
      for (const ConfigChange &change : changes) {
        Problem problem = makeProblem(getKeyOf(layout, isConstant));
        PerfConfig config = solver.defaultConfig(problem, gpu.getTarget());
        for (auto [field, value] : change)
          config.set(field, value);
        SCOPED_TRACE(problem.key() + " {" + config.str() + "}");
        // Packing at run time has no room for so much padding.
        if (!isConstant && config.get("block_m") > 128)
          continue;
        ASSERT_EQ(solver.explainConfig(problem, gpu.getTarget(), config), "");
        EXPECT_EQ(compareTf32(host, gpu, problem, solver, config, 7), "");
      }
}

/// The product of a problem's default config, as PTX.
std::string getPtx(const char *gpuName, const std::string &key) {
  GpuTarget gpu = *parseGpuTarget(gpuName);
  TargetInfo target = makeGpuTargetInfo(gpu);
  const Solver &solver = *findSolver("gpu-igemm-v1");
  Problem problem = makeProblem(key);
  SolutionPlan plan =
      solver.plan(problem, target, solver.defaultConfig(problem, target));
  const LaunchPlan &launch = plan.launches.front();
  KernelSource kernel = launch.kernel;
  kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
  kernel.numParams = static_cast<int64_t>(launch.params.size());
  auto ptx = makeNvidiaGpuBackend(gpu)->printAssembly(kernel);
  EXPECT_TRUE(ptx) << ptx.message();
  return *ptx;
}

TEST(GpuTf32, IsNeverUsedUnlessItIsAllowed) {
  std::string key = getKeyOf(":nhwc", true);
  for (const char *allowed : kAllowed) {
    std::string chip = allowed;
    chip.resize(chip.find(':'));
    std::string tf32 = getPtx(allowed, key), f32 = getPtx(chip.c_str(), key);
    EXPECT_THAT(tf32, HasSubstr(".tf32.tf32")) << allowed;
    EXPECT_THAT(f32, Not(HasSubstr(".tf32"))) << chip;
  }
  EXPECT_THAT(getPtx("sm_80:tf32", key),
              HasSubstr("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"));
  EXPECT_THAT(getPtx("sm_80:tf32", key), HasSubstr("cvt.rna.tf32.f32"));
}

/// Transformed tiles would be rounded.
TEST(GpuTf32, WinogradIsForTrueF32) {
  Problem problem = makeProblem(getKeyOf(":nhwc", true));
  const Solver &solver = *findSolver("gpu-winograd-f2x3-v1");
  auto ask = [&](const char *gpu) {
    return checkApplicable(solver, problem,
                           makeGpuTargetInfo(*parseGpuTarget(gpu)));
  };
  EXPECT_TRUE(ask("sm_90a"));
  EXPECT_EQ(ask("sm_90a:tf32").getReason(),
            "needs a target without TF32 for an f32 input: results would show "
            "the rounding of transformed tiles");
}

/// The search's tolerance holds what rounding does to results, with room, and
/// is a hundredth of them.
TEST(GpuTf32, ToleranceIsThatOfTenBits) {
  Problem problem = makeProblem(getKeyOf(":nhwc", true));
  TargetInfo allowed = makeGpuTargetInfo(*parseGpuTarget("sm_90a:tf32"));
  auto getRounding = [](const Problem &problem, const TargetInfo &target) {
    return target.traits->getProductRounding(problem, target);
  };
  double rounding = getRounding(problem, allowed);
  EXPECT_EQ(rounding, 0x1p-11 + 0x1p-10);
  EXPECT_EQ(getRounding(problem, makeGpuTargetInfo(*parseGpuTarget("sm_90a"))),
            0);
  EXPECT_EQ(getRounding(problem, TargetInfo()), 0);
  EXPECT_EQ(getRounding(makeProblem(getKey(kConv, "f16", ":nhwc")), allowed),
            0);
  EXPECT_EQ(getRounding(makeProblem("relu(4x8xf32)->4x8xf32"), allowed), 0);
  EXPECT_EQ(getRounding(
                makeProblem("relu(1x8x5x3xf32:nhwc; 16x8x1x1xf32:const)->"
                            "1x16x5x3xf32:nhwc | conv(1){dilations=1,1 group=1 "
                            "pads=0,0,0,0 strides=1,1}"),
                allowed),
            rounding);
  EXPECT_LT(tarpon::getTolerance(problem, 1, 0, rounding), 0.01);

  Runners runners;
  SolverRunner &host = runners.get("native"), &gpu = runners.get("sm_90a:tf32");
  const Solver &solver = *findSolver("gpu-igemm-v1");
  auto expected = host.run(problem, getReferenceSolver(), {});
  auto actual =
      gpu.run(problem, solver, solver.defaultConfig(problem, gpu.getTarget()));
  ASSERT_TRUE(expected && actual);
  double scale = 0, error = 0;
  for (auto [got, wanted] :
       llvm::zip_equal(actual->front(), expected->front())) {
    scale = std::max(scale, std::fabs(wanted));
    error = std::max(error, std::fabs(got - wanted));
  }
  EXPECT_GT(error, tarpon::getTolerance(problem, scale, 0, 0));
  EXPECT_LT(error, tarpon::getTolerance(problem, scale, 0, rounding) / 2);
}

} // namespace
