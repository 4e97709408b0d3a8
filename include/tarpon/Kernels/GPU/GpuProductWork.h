//===- GpuProductWork.h - What a solution multiplies ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_GPU_GPUPRODUCTWORK_H
#define TARPON_KERNELS_GPU_GPUPRODUCTWORK_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Of the launch that does the floating-point work of a solution.
struct GpuProductWork {
  double flops = 0;
  double results = 0;
  /// Of the constants that it reads.
  double constantBytes = 0;
};

/// Other than what the problem says where the config is one of an algorithm
/// that multiplies something else.
GpuProductWork getGpuProductWork(const Problem &problem,
                                 const PerfConfig &config);

} // namespace tarpon

#endif // TARPON_KERNELS_GPU_GPUPRODUCTWORK_H
