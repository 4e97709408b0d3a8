//===- HostCompiler.cpp - The compiler of the host's kernels --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of its own: programs that only run packages know the host, and link no
// compiler of kernels.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Host/HostBackend.h"

using namespace tarpon;

KernelCompiler tarpon::makeHostCompiler(const TargetInfo &target,
                                        std::shared_ptr<KernelCache> cache) {
  return KernelCompiler(target, std::move(cache), makeHostBackend(target));
}
