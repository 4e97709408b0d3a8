//===- DriverSolution.cpp - Solutions of driver tasks -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverSolution.h"

#include "PackageRun.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using llvm::formatv;

std::string describeBadConfig(const Solver &solver, const Problem &problem,
                              const TargetInfo &target, llvm::StringRef text) {
  std::string sentence = formatv("'{0}' is no config of the solver {1} for {2}",
                                 text, solver.id(), problem.key());
  mlir::FailureOr<PerfConfig> config = PerfConfig::parse(text);
  std::string reason = mlir::succeeded(config)
                           ? solver.explainConfig(problem, target, *config)
                           : "";
  return reason.empty() ? sentence : sentence + ": " + reason;
}

Result<DriverSolution> findNamedSolution(const Problem &problem,
                                         const TargetInfo &target,
                                         llvm::StringRef solution) {
  auto [id, text] = solution.split(':');
  const Solver *solver = findSolver(target, id);
  if (!solver && !findSolver(id))
    return Error{"there is no solver '" + id.str() +
                 "' (see 'graph-opt solvers')"};
  if (!solver)
    return Error{formatv("the solver {0} has no kernels for {1}", id,
                         target.traits->getDisplayName(target))};
  if (Applicability answer = checkApplicable(*solver, problem, target); !answer)
    return Error{formatv("the solver {0} cannot solve {1}: it {2}", id,
                         problem.key(), answer.getReason())};
  if (text.empty())
    return DriverSolution{solver, solver->defaultConfig(problem, target)};
  mlir::FailureOr<PerfConfig> config = PerfConfig::parse(text);
  if (mlir::failed(config) || !solver->isValidConfig(problem, target, *config))
    return Error{describeBadConfig(*solver, problem, target, text)};
  return DriverSolution{solver, *config};
}

Result<DriverSolution> findFirstSolution(const Problem &problem,
                                         const TargetInfo &target) {
  std::vector<const Solver *> solvers = getApplicableSolvers(problem, target);
  if (solvers.empty())
    return Error{"no solver for " + target.name() + " can solve " +
                 problem.key()};
  return DriverSolution{solvers.front(),
                        solvers.front()->defaultConfig(problem, target)};
}

void printProblem(const DriverTask &task) {
  llvm::outs() << "Problem: " << task.problem.key() << "\n";
}

void printSolution(const DriverTask &task, const DriverSolution &solution) {
  llvm::outs() << formatv("Tarpon {0}. Solution: {1} {{{2}}\n", task.name,
                          solution.solver->id(), solution.config.str());
}

Result<std::vector<HostTensor>>
runReference(const Problem &problem, KernelCompiler &hostCompiler,
             std::span<const HostTensor> inputs) {
  const Solver &reference = getReferenceSolver();
  const TargetInfo &target = hostCompiler.getTarget();
  Result<Package> package = buildProblemPackage(
      problem, reference, reference.defaultConfig(problem, target),
      hostCompiler);
  if (!package)
    return package.error();
  Result<std::vector<HostTensor>> copies = cloneAll(inputs);
  if (!copies)
    return copies.error();
  return runPackage(std::move(*package), std::move(*copies), target.threads);
}

Result<bool> printVerdict(const DriverTask &task, const TargetInfo &target,
                          std::span<const HostTensor> actual,
                          std::span<const HostTensor> expected) {
  // The result that is furthest from the expected one counts.
  double error = 0, tolerance = 0;
  bool isRight = true;
  for (auto [index, got] : llvm::enumerate(actual)) {
    Result<TensorComparison> comparison = compareTensors(got, expected[index]);
    if (!comparison)
      return comparison.error();
    double allowed = getTolerance(
        task.problem, comparison->referenceScale, static_cast<int64_t>(index),
        target.traits->getProductRounding(task.problem, target));
    double found = comparison->maxAbsError;
    isRight &= found <= allowed;
    if (index == 0 || !(found * tolerance <= error * allowed)) {
      error = found;
      tolerance = allowed;
    }
  }
  llvm::outs() << formatv("{0} {1} on the reference solver (error {2:e2} {3} "
                          "{4:e2})\n",
                          task.name, isRight ? "Verifies OK" : "FAILED", error,
                          isRight ? "<=" : ">", tolerance);
  return isRight;
}

} // namespace tarpon
