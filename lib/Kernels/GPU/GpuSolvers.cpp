//===- GpuSolvers.cpp - The solvers of AMD GPUs ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"

using namespace mlir;
using namespace tarpon;

ArrayRef<const Solver *> tarpon::getGpuSolvers() {
  static const Solver *const solvers[] = {
#define TARPON_SOLVER(FUNCTION) &FUNCTION(),
#include "GpuSolvers.def"
  };
  return solvers;
}
