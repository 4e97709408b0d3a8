//===- GpuInstructionsTest.cpp - What GPU kernels become ------------------===//
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

#include "tarpon/Kernels/Solver.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using testing::HasSubstr;
using testing::Not;

namespace {

struct Case {
  const char *name, *solver, *problem;
};

/// The kernel of the default config as assembly.
std::string getAssembly(const Case &test, const char *gpuName) {
  GpuTarget gpu = *parseGpuTarget(gpuName);
  TargetInfo target = makeGpuTargetInfo(gpu);
  auto problem = parseProblem(test.problem);
  EXPECT_TRUE(mlir::succeeded(problem)) << test.problem;
  const Solver &solver = *findSolver(test.solver);
  Applicability answer = checkApplicable(solver, *problem, target);
  EXPECT_TRUE(answer) << answer.getReason().str();
  SolutionPlan plan =
      solver.plan(*problem, target, solver.defaultConfig(*problem, target));
  const LaunchPlan &launch = plan.launches.front();
  KernelSource kernel = launch.kernel;
  kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
  kernel.numParams = static_cast<int64_t>(launch.params.size());
  auto assembly = makeGpuBackend(gpu)->printAssembly(kernel);
  EXPECT_TRUE(assembly) << assembly.message();
  return *assembly;
}

constexpr Case kCases[] = {
    {"elementwise", "gpu-elementwise-v1",
     "add(1x64x14x14xf16:nhwc, 1x64x14x14xf16:nhwc)->1x64x14x14xf16:nhwc"},
    {"bias", "gpu-elementwise-v1",
     "add(1x64x14x14xf16:nhwc, 1x64x1x1xf32)->1x64x14x14xf16:nhwc"},
    {"convert", "gpu-elementwise-v1", "convert(4x1000xf32)->4x1000xf16"},
    {"pool", "gpu-pool-v1",
     "max_pool(1x64x14x14xf16:nhwc)->1x64x7x7xf16:nhwc {ceil_mode=0 "
     "dilations=1,1 kernel=3,3 pads=1,1,0,0 strides=2,2}"},
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

INSTANTIATE_TEST_SUITE_P(Solvers, GpuInstructions, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
