//===- LaunchKernel.h - The kernel of a launch ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_COMPILER_LAUNCHKERNEL_H
#define TARPON_TARGETS_COMPILER_LAUNCHKERNEL_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// The kernel's source, with the launch's numbers of buffers and parameters.
inline KernelSource getKernelSource(const LaunchPlan &launch) {
  KernelSource source = launch.kernel;
  source.numBuffers = static_cast<int64_t>(launch.buffers.size());
  source.numParams = static_cast<int64_t>(launch.params.size());
  return source;
}

} // namespace tarpon

#endif // TARPON_TARGETS_COMPILER_LAUNCHKERNEL_H
