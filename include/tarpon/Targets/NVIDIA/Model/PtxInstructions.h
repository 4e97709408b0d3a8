//===- PtxInstructions.h - Reads the instructions of PTX --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a cubin is documented nowhere, but that of PTX is (PTX ISA), and
// in the loops of kernels ptxas changes little but the order.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_MODEL_PTXINSTRUCTIONS_H
#define TARPON_TARGETS_NVIDIA_MODEL_PTXINSTRUCTIONS_H

#include "tarpon/Targets/GPU/Model/StaticModel.h"

namespace tarpon {

/// Reads the first kernel of PTX.
runtime::Result<MachineCode> parsePtx(llvm::StringRef ptx);

/// Profiles the first kernel of PTX, with the resources that its cubin takes.
runtime::Result<KernelProfile> profilePtx(llvm::StringRef ptx,
                                          const KernelResources &resources,
                                          const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_MODEL_PTXINSTRUCTIONS_H
