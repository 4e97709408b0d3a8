//===- GpuInstructionsTest.cpp - The instructions of GPU kernels ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that are bound by memory read and write 16 bytes per lane, and divide
// no integers: LLVM's expansion of that starts from a reciprocal of its own.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <optional>

using namespace tarpon;
using testing::HasSubstr;
using testing::Not;

namespace {

struct Case {
  const char *name, *solver, *problem;
};

/// The kernel of a config, or of the default one.
KernelSource getKernel(const Case &test, const GpuTarget &gpu,
                       std::optional<PerfConfig> config = std::nullopt) {
  TargetInfo target = makeGpuTargetInfo(gpu);
  auto problem = parseProblem(test.problem);
  EXPECT_TRUE(mlir::succeeded(problem)) << test.problem;
  const Solver &solver = *findSolver(test.solver);
  Applicability answer = checkApplicable(solver, *problem, target);
  EXPECT_TRUE(answer) << answer.getReason().str();
  SolutionPlan plan =
      solver.plan(*problem, target,
                  config ? *config : solver.defaultConfig(*problem, target));
  const LaunchPlan &launch = plan.launches.front();
  KernelSource kernel = launch.kernel;
  kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
  kernel.numParams = static_cast<int64_t>(launch.params.size());
  return kernel;
}

std::string getAssembly(const Case &test, const char *gpuName) {
  GpuTarget gpu = *parseGpuTarget(gpuName);
  auto assembly = makeAmdGpuBackend(gpu)->printAssembly(getKernel(test, gpu));
  EXPECT_TRUE(assembly) << assembly.message();
  return *assembly;
}

constexpr Case kCases[] = {
    {"elementwise", "gpu-elementwise-v1",
     "add(1x64x14x14xf16:nhwc, 1x64x14x14xf16:nhwc)->1x64x14x14xf16:nhwc"},
    {"bias", "gpu-elementwise-v1",
     "add(1x64x14x14xf16:nhwc, 1x64x1x1xf32)->1x64x14x14xf16:nhwc"},
    {"convert", "gpu-elementwise-v1", "convert(4x1000xf32)->4x1000xf16"},
    {"to_nhwc", "gpu-convert-layout-v1",
     "convert(1x64x56x56xf32)->1x64x56x56xf16:nhwc"},
    {"to_nchw", "gpu-convert-layout-v1",
     "convert(1x64x56x56xf16:nhwc)->1x64x56x56xf16"},
    {"pool", "gpu-pool-v1",
     "max_pool(1x64x14x14xf16:nhwc)->1x64x7x7xf16:nhwc {ceil_mode=0 "
     "dilations=1,1 kernel=3,3 pads=1,1,0,0 strides=2,2}"},
    {"global_pool", "gpu-global-pool-v1",
     "global_avg_pool(1x64x14x14xf16:nhwc)->1x64x1x1xf16:nhwc"},
    {"depthwise", "gpu-depthwise-v1",
     "conv(1x64x14x14xf32:nhwc, 64x1x3x3xf32:const)->1x64x14x14xf32:nhwc "
     "{dilations=1,1 group=64 pads=1,1,1,1 strides=1,1}"},
    {"softmax", "gpu-softmax-v1", "softmax(8x1000xf16)->8x1000xf16 {axis=1}"},
};

class GpuInstructions : public testing::TestWithParam<Case> {};

TEST_P(GpuInstructions, areWide) {
  std::string cdna = getAssembly(GetParam(), "gfx942");
  EXPECT_THAT(cdna, HasSubstr("global_load_dwordx4"));
  std::string rdna = getAssembly(GetParam(), "gfx1100");
  EXPECT_THAT(rdna, HasSubstr("global_load_b128"));
  for (const std::string &assembly : {cdna, rdna}) {
    EXPECT_THAT(assembly, Not(HasSubstr("v_rcp_iflag")));
    EXPECT_THAT(assembly, Not(HasSubstr("scratch_")));
  }
}

/// The side that is accessed across the lines of the source, too.
TEST(GpuConvertLayout, StoresAreWide) {
  for (const Case &test : kCases) {
    if (llvm::StringRef(test.solver) != "gpu-convert-layout-v1")
      continue;
    EXPECT_THAT(getAssembly(test, "gfx942"), HasSubstr("global_store_dwordx4"))
        << test.name;
    EXPECT_THAT(getAssembly(test, "gfx1100"), HasSubstr("global_store_b128"))
        << test.name;
  }
}

/// Why the solver does not take the problem; empty if it does.
std::string getLayoutRefusal(const char *key) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  auto problem = parseProblem(key);
  EXPECT_TRUE(mlir::succeeded(problem)) << key;
  const Solver &solver = *findSolver("gpu-convert-layout-v1");
  return checkApplicable(solver, *problem, target).getReason().str();
}

TEST(GpuConvertLayout, SaysWhatItDoesNotTake) {
  EXPECT_EQ(getLayoutRefusal("convert(1x8x4x4xf16)->1x8x4x4xf16:nhwc"), "");
  EXPECT_EQ(getLayoutRefusal("convert(1x8x4x4xf16)->1x8x4x4xf16:nhwc | relu"),
            "has an epilogue");
  EXPECT_EQ(getLayoutRefusal("convert(1x8x4x4xf16)->1x8x4x4xf32"),
            "is not between nchw and nhwc");
  EXPECT_EQ(getLayoutRefusal("convert(1x8x4x4xf16)->1x8x4x4xf16:nchw8c"),
            "is not between nchw and nhwc");
  EXPECT_EQ(
      getLayoutRefusal("convert(16777216x2x2x1xf16)->16777216x2x2x1xf16:nhwc"),
      "has too many small images for one launch");
}

/// A tile that an image fills by half has half of the bandwidth.
TEST(GpuConvertLayout, CountsWhatTilesLeaveEmpty) {
  GpuTarget gpu = *parseGpuTarget("gfx942");
  TargetInfo target = makeGpuTargetInfo(gpu);
  const Solver &solver = *findSolver("gpu-convert-layout-v1");
  auto getFraction = [&](const char *key) {
    return solver.expectedFraction(*parseProblem(key), target);
  };
  double full = getFraction("convert(1x64x8x8xf16)->1x64x8x8xf16:nhwc");
  EXPECT_DOUBLE_EQ(getFraction("convert(1x32x8x8xf16)->1x32x8x8xf16:nhwc"),
                   full / 2);
}

/// HIP reads this number, which also limits the registers of a lane.
TEST(GpuWorkgroup, IsInTheCodeObject) {
  for (const char *name : {"gfx942", "gfx1100"})
    for (int64_t workgroup : {128, 256, 512, 1024}) {
      GpuTarget gpu = *parseGpuTarget(name);
      PerfConfig config = {{"workgroup", workgroup}};
      auto object = compileGpuKernel(getKernel(kCases[0], gpu, config), gpu);
      ASSERT_TRUE(object) << object.message();
      EXPECT_EQ(object->kernels.front().workgroup, workgroup) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Solvers, GpuInstructions, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
