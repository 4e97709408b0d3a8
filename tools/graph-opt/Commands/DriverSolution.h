//===- DriverSolution.h - What the driver runs and verifies -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which solution the driver runs, and whether its results are right.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H

#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/KernelCompiler.h"

#include <span>
#include <string>

namespace tarpon {

/// What is run.
struct DriverSolution {
  const Solver *solver;
  PerfConfig config;
};

/// A sentence about a text that is no config of the solver, with the reason
/// where the solver tells one.
std::string describeBadConfig(const Solver &solver, const Problem &problem,
                              const TargetInfo &target, llvm::StringRef text);

/// The solver that -S names, with its default config or the one behind a colon.
runtime::Result<DriverSolution> findNamedSolution(const Problem &problem,
                                                  const TargetInfo &target,
                                                  llvm::StringRef text);

/// The one that ranks first, with its default config.
runtime::Result<DriverSolution> findFirstSolution(const Problem &problem,
                                                  const TargetInfo &target);

/// "Problem: ..." and "Tarpon Forward Convolution. Solution: ...".
void printProblem(const DriverTask &task);
void printSolution(const DriverTask &task, const DriverSolution &solution);

/// The results of the host's reference solver. `inputs` are those of the
/// problem's package.
runtime::Result<std::vector<runtime::HostTensor>>
runReference(const Problem &problem, KernelCompiler &hostCompiler,
             std::span<const runtime::HostTensor> inputs);

/// Prints how far the results are from the reference's, and whether that is
/// near enough.
runtime::Result<bool>
printVerdict(const DriverTask &task,
             std::span<const runtime::HostTensor> actual,
             std::span<const runtime::HostTensor> expected);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_DRIVERSOLUTION_H
