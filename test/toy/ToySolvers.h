//===- ToySolvers.h - The solvers of the toy target -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_TOY_TOYSOLVERS_H
#define TARPON_TEST_TOY_TOYSOLVERS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon::toy {

/// "toy-relu-v1", which has a field to tune, and "toy-naive-v1", which takes
/// everything.
llvm::ArrayRef<const Solver *> getSolvers();

} // namespace tarpon::toy

#endif // TARPON_TEST_TOY_TOYSOLVERS_H
