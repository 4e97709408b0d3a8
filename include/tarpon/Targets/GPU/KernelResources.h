//===- KernelResources.h - The needs of a GPU kernel ------------*- C++ -*-===//
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_KERNELRESOURCES_H
#define TARPON_TARGETS_GPU_KERNELRESOURCES_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"

#include <cstdint>
#include <string>

namespace tarpon {

/// The resources of a compute unit that a kernel uses, from its code.
struct KernelResources {
  std::string symbol;
  /// Vector registers per lane, accumulation registers included.
  int64_t vectorRegisters = 0;
  int64_t accumulationRegisters = 0;
  /// Scalar registers per wave, where they are counted.
  int64_t scalarRegisters = 0;
  int64_t vectorSpills = 0, scalarSpills = 0;
  /// Bytes per workgroup, per lane, and of the arguments.
  int64_t ldsBytes = 0, privateBytes = 0, argumentBytes = 0;
  /// Lanes of a workgroup and of a wave.
  int64_t workgroup = 0, waveSize = 0;
};

/// Refuses kernels that spill, or that exceed the hardware's resources.
runtime::Status checkResources(const KernelResources &kernel,
                               const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_KERNELRESOURCES_H
