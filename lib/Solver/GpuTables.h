//===- GpuTables.h - The GPUs of each vendor --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_SOLVER_GPUTABLES_H
#define TARPON_LIB_SOLVER_GPUTABLES_H

#include "tarpon/Solver/GpuTarget.h"

#include <cstdint>
#include <vector>

namespace tarpon {

/// A product that has the chip of another one's description.
struct GpuProduct {
  llvm::StringRef chip;
  int64_t computeUnits;
  double memoryGbps;
};

/// Descriptions of GPUs, the oldest first.
std::vector<GpuTarget> getAmdGpus();
std::vector<GpuTarget> getNvidiaGpus();

llvm::ArrayRef<GpuProduct> getNvidiaProducts();

} // namespace tarpon

#endif // TARPON_LIB_SOLVER_GPUTABLES_H
