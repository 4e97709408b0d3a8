//===- GpuConfigs.h - What is wrong with a config ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_GPU_GPUCONFIGS_H
#define TARPON_KERNELS_GPU_GPUCONFIGS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Why Solver::isValidConfig says no, for a message: "a block must be made of
/// whole wave tiles". "" if it says yes, and of solvers whose configs explain
/// themselves.
std::string explainGpuConfig(const Solver &solver, const Problem &problem,
                             const TargetInfo &target,
                             const PerfConfig &config);

} // namespace tarpon

#endif // TARPON_KERNELS_GPU_GPUCONFIGS_H
