//===- Cubin.h - Reads assembled code of NVIDIA GPUs ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_CUBIN_H
#define TARPON_TARGETS_NVIDIA_CUBIN_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/GPU/KernelResources.h"

#include "llvm/ADT/ArrayRef.h"

namespace tarpon {

/// Reads the resources of the kernel in a cubin that was assembled from
/// compileToPtx's text.
runtime::Result<KernelResources> readCubinResources(llvm::ArrayRef<char> cubin);

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_CUBIN_H
