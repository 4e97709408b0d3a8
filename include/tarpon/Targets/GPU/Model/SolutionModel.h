//===- SolutionModel.h - Estimates the time of a solution -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_MODEL_SOLUTIONMODEL_H
#define TARPON_TARGETS_GPU_MODEL_SOLUTIONMODEL_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/GPU/Model/StaticModel.h"
#include "tarpon/Targets/KernelBackend.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tarpon {

/// The model with its version (BehaviourVersion.h): "gpu-model-1".
std::string getGpuModelName();

/// Profiles the kernel of a launch, which was compiled to these bytes.
using ProfileLaunch = llvm::function_ref<runtime::Result<KernelProfile>(
    const LaunchPlan &launch, llvm::ArrayRef<char> object)>;

/// Adds up the launches' estimates. The solution's floating-point work is
/// attributed to the launch whose loop does the most.
runtime::Result<SolutionEstimate>
estimateGpuSolution(const CompiledSolution &solution, ProfileLaunch profile,
                    const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_MODEL_SOLUTIONMODEL_H
