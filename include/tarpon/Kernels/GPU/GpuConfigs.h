//===- GpuConfigs.h - Explains invalid configs ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_GPU_GPUCONFIGS_H
#define TARPON_KERNELS_GPU_GPUCONFIGS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Explains in a message why Solver::isValidConfig refuses a config: "a block
/// must be made of whole wave tiles". "" for valid configs, and for solvers
/// whose configs need no explanation.
std::string explainGpuConfig(const Solver &solver, const Problem &problem,
                             const TargetInfo &target,
                             const PerfConfig &config);

} // namespace tarpon

#endif // TARPON_KERNELS_GPU_GPUCONFIGS_H
