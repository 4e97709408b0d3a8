//===- KernelImage.h - Checks shared objects before loading -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_KERNELIMAGE_H
#define TARPON_LIB_RUNTIME_KERNELIMAGE_H

#include "tarpon/Runtime/Result.h"

#include <span>

namespace tarpon::runtime {

/// Refuses an ELF shared object that would run code or load another library
/// when it is loaded, which the kernels that Tarpon links never do:
/// constructors, destructors, dependencies, indirect functions. Refuses tables
/// of sections or segments that do not lie in the file, too. A kernel is code
/// all the same: docs/trust.md.
Status validateKernelImage(std::span<const char> image);

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_KERNELIMAGE_H
