//===- DriverSolution.h - Solutions of driver tasks -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the solution that the driver runs, and checks its results.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H

#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <span>
#include <string>

namespace tarpon {

/// The solution that is run.
struct DriverSolution {
  const Solver *solver;
  PerfConfig config;
};

/// Describes a text that is no config of the solver in a sentence, with the
/// reason if the solver gives one.
std::string describeBadConfig(const Solver &solver, const Problem &problem,
                              const TargetInfo &target, llvm::StringRef text);

/// Returns the solver that -S names, with its default config or the one behind
/// a colon.
runtime::Result<DriverSolution> findNamedSolution(const Problem &problem,
                                                  const TargetInfo &target,
                                                  llvm::StringRef text);

/// Returns the first-ranking solver with its default config.
runtime::Result<DriverSolution> findFirstSolution(const Problem &problem,
                                                  const TargetInfo &target);

/// Prints "Problem: ..." and "Tarpon Forward Convolution. Solution: ...".
void printProblem(const DriverTask &task);
void printSolution(const DriverTask &task, const DriverSolution &solution);

/// Computes the results of the host's reference solver. `inputs` are those of
/// the problem's package.
runtime::Result<std::vector<runtime::HostTensor>>
runReference(const Problem &problem, KernelCompiler &hostCompiler,
             std::span<const runtime::HostTensor> inputs);

/// Prints the distance of the results of a target's solver from the
/// reference's; returns true if it is within the tolerance.
runtime::Result<bool>
printVerdict(const DriverTask &task, const TargetInfo &target,
             std::span<const runtime::HostTensor> actual,
             std::span<const runtime::HostTensor> expected);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H
