//===- SolverRegistry.h - Whose solvers a target has ------------*- C++ -*-===//
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

/// Gives solvers in order of preference, in a list that lives forever.
using SolverList = llvm::ArrayRef<const Solver *> (*)();

/// Makes these the solvers of all targets of that TargetInfo::arch. Those of
/// GPUs and of the host need not be registered. Thread-safe; registering an
/// architecture again replaces its solvers.
void registerSolvers(llvm::StringRef arch, SolverList solvers);

/// The target's solvers, in order of preference; none for an architecture that
/// nobody has registered. Thread-safe.
llvm::ArrayRef<const Solver *> getSolvers(const TargetInfo &target);

/// The target's solver of that id, or null. Thread-safe.
const Solver *findSolver(const TargetInfo &target, llvm::StringRef id);

/// "gfx942:cu=304": the GPU that code is for. Empty where it is none, and
/// architecture and features say what code is for.
std::string getChip(const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_SOLVER_SOLVERREGISTRY_H
