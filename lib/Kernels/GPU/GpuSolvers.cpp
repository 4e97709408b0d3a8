//===- GpuSolvers.cpp - The solvers of AMD GPUs ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"

using namespace mlir;
using namespace tarpon;

/// In order of preference; the naive one comes last.
ArrayRef<const Solver *> tarpon::getGpuSolvers() {
  static const Solver *const solvers[] = {
      &getGpuDepthwise(),    &getGpuConvImplicitGemm(),
      &getGpuWinogradF2x3(), &getGpuGemm(),
      &getGpuElementwise(),  &getGpuConvertLayout(),
      &getGpuPool(),         &getGpuSoftmax(),
      &getGpuLayerNorm(),    &getGpuReduce(),
      &getGpuNaive(),
  };
  return solvers;
}
