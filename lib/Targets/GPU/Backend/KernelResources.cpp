//===- KernelResources.cpp - The needs of a GPU kernel --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/KernelResources.h"

using namespace tarpon;
using runtime::Error;
using runtime::Status;

Status tarpon::checkResources(const KernelResources &kernel,
                              const GpuTarget &gpu) {
  std::string who = "kernel '" + kernel.symbol + "' ";
  // Scalars are spilled to lanes of vector registers; if there are too few, to
  // memory, which the next check detects.
  if (kernel.vectorSpills > 0)
    return Error{who + "spills " + std::to_string(kernel.vectorSpills) +
                 " registers"};
  if (kernel.privateBytes > 0)
    return Error{who + "keeps " + std::to_string(kernel.privateBytes) +
                 " bytes per lane in memory"};
  if (gpu.getOccupancy(kernel.vectorRegisters, kernel.ldsBytes,
                       kernel.workgroup) == 0)
    return Error{who + "does not fit on a compute unit of " + gpu.chip + ": " +
                 std::to_string(kernel.vectorRegisters) + " registers, " +
                 std::to_string(kernel.ldsBytes) + " bytes of LDS"};
  return runtime::success();
}
