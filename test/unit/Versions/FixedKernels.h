//===- FixedKernels.h - Kernels that belong to no solver --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_FIXEDKERNELS_H
#define TARPON_TEST_UNIT_VERSIONS_FIXEDKERNELS_H

#include "tarpon/Solver/Solver.h"

#include <vector>

namespace tarpon::test {

/// Kernels for any target, with three buffers and a parameter: sums over rows,
/// a tile of products, and products of single elements.
std::vector<KernelSource> makeFixedKernels();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_FIXEDKERNELS_H
