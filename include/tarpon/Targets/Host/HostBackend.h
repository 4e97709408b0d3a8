//===- HostBackend.h - Compiles kernels for the host ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_HOST_HOSTBACKEND_H
#define TARPON_TARGETS_HOST_HOSTBACKEND_H

#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/KernelBackend.h"

namespace tarpon {

/// Makes a backend that compiles to native objects and links them to one shared
/// object.
std::unique_ptr<KernelBackend> makeHostBackend(const TargetInfo &target);

/// Makes a compiler with that backend; `cache` may be null.
KernelCompiler makeHostCompiler(const TargetInfo &target,
                                std::shared_ptr<KernelCache> cache);

} // namespace tarpon

#endif // TARPON_TARGETS_HOST_HOSTBACKEND_H
