//===- PoolGradient.h - Common code of pools' gradients ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_POOL_POOLGRADIENT_H
#define TARPON_LIB_KERNELS_HOST_POOL_POOLGRADIENT_H

#include "Common/Window.h"

namespace tarpon {

bool isPoolGradient(OpKind op);

/// The gradient of a global pool as that of a pool whose window is the whole
/// input.
Problem asWindowedGradient(Problem problem);

/// For each place of the pooled dimension `dim`: the number of cells by which a
/// mean divides, as f32.
std::vector<float> countGradientCells(const Problem &problem, int64_t dim);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_POOL_POOLGRADIENT_H
