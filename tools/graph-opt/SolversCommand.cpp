//===- SolversCommand.cpp - graph-opt solvers -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Messages.h"

#include "tarpon/Kernels/Solver.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

static void printSolver(const Solver &solver, const Problem &problem,
                        const TargetInfo &target) {
  Applicability answer = checkApplicable(solver, problem, target);
  if (!answer) {
    llvm::outs() << solver.id() << ": no, " << answer.getReason() << "\n";
    return;
  }
  llvm::outs() << llvm::formatv(
      "{0}: yes, expected to reach {1:P0} of peak, workspace {2} bytes\n",
      solver.id(), solver.expectedFraction(problem, target),
      solver.workspaceSize(problem, target));
  PerfConfig standard = solver.defaultConfig(problem, target);
  for (const PerfConfig &config : solver.configs(problem, target))
    if (std::string text = config.str(); !text.empty())
      llvm::outs() << "  " << text << (config == standard ? " (default)" : "")
                   << "\n";
}

int runSolvers(const SolversArguments &arguments) {
  if (arguments.problem.empty()) {
    for (const Solver *solver : getHostSolvers())
      llvm::outs() << solver->id() << "\n";
    return kSuccess;
  }
  std::string fault;
  mlir::FailureOr<Problem> problem = parseProblem(arguments.problem, &fault);
  if (mlir::failed(problem))
    return fail("'" + arguments.problem + "' is not a problem key: " + fault);
  runtime::Result<TargetInfo> target =
      getHostTarget(arguments.threads, arguments.cpu);
  if (!target)
    return fail(target.message());
  for (const Solver *solver : getHostSolvers())
    printSolver(*solver, *problem, *target);
  return kSuccess;
}

} // namespace tarpon
