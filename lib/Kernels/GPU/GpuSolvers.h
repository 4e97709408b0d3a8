//===- GpuSolvers.h - One accessor for each GPU solver ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_GPUSOLVERS_H
#define TARPON_LIB_KERNELS_GPU_GPUSOLVERS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

const Solver &getGpuConvImplicitGemm();
const Solver &getGpuConvertLayout();
const Solver &getGpuDepthwise();
const Solver &getGpuElementwise();
const Solver &getGpuGemm();
const Solver &getGpuLayerNorm();
const Solver &getGpuNaive();
const Solver &getGpuPool();
const Solver &getGpuReduce();
const Solver &getGpuSoftmax();
const Solver &getGpuWinogradF2x3();

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_GPUSOLVERS_H
