//===- SolutionModel.h - Estimates the time of a solution -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_MODEL_SOLUTIONMODEL_H
#define TARPON_TARGETS_AMDGPU_MODEL_SOLUTIONMODEL_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/KernelBackend.h"

namespace tarpon {

/// The model with its version (BehaviourVersion.h): "gpu-model-1".
std::string getGpuModelName();

/// Adds up the launches' estimates. The solution's objects are code objects.
/// Its floating-point work is attributed to the launch whose loop does the
/// most.
runtime::Result<SolutionEstimate>
estimateGpuSolution(const CompiledSolution &solution, const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_MODEL_SOLUTIONMODEL_H
