//===- GpuKernelCountTest.cpp - The number of a network's GPU kernels -----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResNet50.h"

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "gtest/gtest.h"

#include <map>

using namespace tarpon;

/// The kernels of all convolutions and of the classifier, by symbol.
static std::map<std::string, KernelSource>
getKernels(const TargetInfo &target, int64_t batch, const char *layout) {
  std::map<std::string, KernelSource> kernels;
  for (const std::string &key : test::getResNet50Keys(batch, layout, "f16")) {
    auto problem = parseProblem(key);
    EXPECT_TRUE(mlir::succeeded(problem)) << key;
    const Solver *solver = getApplicableSolvers(*problem, target).front();
    EXPECT_NE(solver->id(), "gpu-naive-v1") << key;
    PerfConfig config = solver->defaultConfig(*problem, target);
    for (LaunchPlan &launch : solver->plan(*problem, target, config).launches) {
      launch.kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
      launch.kernel.numParams = static_cast<int64_t>(launch.params.size());
      kernels.try_emplace(launch.kernel.symbol, launch.kernel);
    }
  }
  return kernels;
}

/// At most 20 of a whole model: two are left for what is not a product.
TEST(GpuKernelCount, resNet50) {
  for (const char *name : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"})
    for (int64_t batch : {1, 8, 64})
      for (const char *layout : {":nhwc", ""}) {
        auto kernels =
            getKernels(makeGpuTargetInfo(*parseGpuTarget(name)), batch, layout);
        std::string list;
        for (const auto &[symbol, kernel] : kernels)
          list += "\n" + symbol;
        EXPECT_LE(kernels.size(), 18u)
            << name << " " << batch << layout << list;
      }
}

/// All of them compile, and none spills.
TEST(GpuKernelCount, resNet50Compiles) {
  GpuTarget gpu = *parseGpuTarget("gfx942");
  auto kernels = getKernels(makeGpuTargetInfo(gpu), 64, ":nhwc");
  for (const auto &[symbol, kernel] : kernels) {
    auto object = compileGpuKernel(kernel, gpu);
    ASSERT_TRUE(object) << object.message();
    const KernelResources &resources = object->kernels.front();
    EXPECT_EQ(resources.vectorSpills + resources.scalarSpills, 0) << symbol;
  }
}
