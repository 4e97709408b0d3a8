//===- GpuProductWork.h - The arithmetic of a solution ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_GPU_GPUPRODUCTWORK_H
#define TARPON_KERNELS_GPU_GPUPRODUCTWORK_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// The launch that does the floating-point work of a solution.
struct GpuProductWork {
  double flops = 0;
  double results = 0;
  /// Bytes of the constants that it reads.
  double constantBytes = 0;
};

/// Returns the work, which differs from the problem's where the config is one
/// of an algorithm that multiplies other matrices.
GpuProductWork getGpuProductWork(const Problem &problem,
                                 const PerfConfig &config);

} // namespace tarpon

#endif // TARPON_KERNELS_GPU_GPUPRODUCTWORK_H
