//===- SolverRegistry.h - The solvers of each target ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_SOLVERREGISTRY_H
#define TARPON_SOLVER_SOLVERREGISTRY_H

#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tarpon {

/// Returns solvers in order of preference, in a list that lives forever.
using SolverList = llvm::ArrayRef<const Solver *> (*)();

/// Makes these the solvers of all targets of that TargetInfo::arch. Those of
/// the host need not be registered. Thread-safe; registering an architecture
/// again replaces its solvers.
void registerSolvers(llvm::StringRef arch, SolverList solvers);

/// The target's solvers, in order of preference; none for an architecture that
/// is not registered. Thread-safe.
llvm::ArrayRef<const Solver *> getSolvers(const TargetInfo &target);

/// Returns the target's solver with that id, or null. Thread-safe.
const Solver *findSolver(const TargetInfo &target, llvm::StringRef id);

} // namespace tarpon

#endif // TARPON_SOLVER_SOLVERREGISTRY_H
