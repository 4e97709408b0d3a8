//===- ExplainConfig.cpp - Explains invalid configs -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/GPU/GpuConfigs.h"

#include "GPU/ImplicitGemm/Engine.h"
#include "GPU/Winograd/Winograd.h"
#include "GpuSolvers.h"

using namespace mlir;
using namespace tarpon;

std::string tarpon::explainGpuConfig(const Solver &solver,
                                     const Problem &problem,
                                     const TargetInfo &target,
                                     const PerfConfig &config) {
  if (&solver == &getGpuConvImplicitGemm() || &solver == &getGpuGemm())
    return static_cast<const gpuigemm::EngineSolver &>(solver).explainConfig(
        problem, target, config);
  if (&solver == &getGpuWinogradF2x3())
    return gpuwinograd::explainConfig(problem, target, config);
  return "";
}
