//===- NvidiaGpuBackend.h - Compiles kernels for NVIDIA GPUs ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_NVIDIAGPUBACKEND_H
#define TARPON_TARGETS_NVIDIA_NVIDIAGPUBACKEND_H

#include "tarpon/Targets/GPU/GpuBackend.h"

#include <memory>

namespace tarpon {

/// Makes a backend that compiles each kernel to bytes of that form: code
/// objects are cubins where an assembler is found (PtxAssembler.h), else PTX.
std::unique_ptr<KernelBackend>
makeNvidiaGpuBackend(const GpuTarget &gpu,
                     GpuCodeForm form = GpuCodeForm::CodeObject);

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_NVIDIAGPUBACKEND_H
