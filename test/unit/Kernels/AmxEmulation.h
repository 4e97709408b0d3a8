//===- AmxEmulation.h - AMX kernels on CPUs without AMX ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_AMXEMULATION_H
#define TARPON_TEST_UNIT_KERNELS_AMXEMULATION_H

#include "tarpon/Targets/KernelBackend.h"

#include <memory>

namespace tarpon::test {

/// Compiles kernels as `inner` does, but replaces AMX's instructions by calls
/// of functions of this process, which do the same to blocks of memory. All
/// else of a kernel stays as its solver emits it.
std::unique_ptr<KernelBackend>
makeAmxEmulation(std::unique_ptr<KernelBackend> inner);

/// The products of bytes and of bf16 that emulated instructions have made.
int64_t countEmulatedProducts();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_AMXEMULATION_H
