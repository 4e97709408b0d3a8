//===- StaticKernels.h - Kernels with the shapes compiled in ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dynamic kernels cost at run time can only be known by comparing them
// with static ones. Those are for measuring: no package of the product has any.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_BENCHMARKS_STATICKERNELS_H
#define TARPON_BENCHMARKS_STATICKERNELS_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

namespace tarpon::benchmarks {

/// The cost of the kernels that makeStatic has compiled.
struct StaticCost {
  int64_t kernels = 0;
  double compileMs = 0;
  int64_t codeBytes = 0;
};

/// The same kernel, in which the parameters are constants.
KernelSource makeStaticKernel(const KernelSource &kernel,
                              const std::vector<int64_t> &params);

/// The package with a kernel of its own for each list of parameters that any of
/// its kernels is launched with. Compiles past all caches.
runtime::Result<runtime::Package> makeStatic(const runtime::Package &package,
                                             const TargetInfo &target,
                                             StaticCost &cost);

} // namespace tarpon::benchmarks

#endif // TARPON_BENCHMARKS_STATICKERNELS_H
