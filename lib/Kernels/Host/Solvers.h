//===- Solvers.h - One accessor for each solver -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_SOLVERS_H
#define TARPON_LIB_KERNELS_HOST_SOLVERS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

#define TARPON_SOLVER(FUNCTION) const Solver &FUNCTION();
#include "Solvers.def"

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_SOLVERS_H
