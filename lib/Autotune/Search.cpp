//===- Search.cpp - Finds the fastest solution of a problem ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search.h"

#include "ProblemSearch.h"
#include "tarpon/Autotune/Policy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

std::string tarpon::findEvaluatorProgram() {
  const char *program = std::getenv("TARPON_EVALUATOR");
  if (program && *program)
    return program;
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(path, "tarpon-evaluator");
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// The tuner
//===----------------------------------------------------------------------===//

Tuner::Tuner(KernelCompiler &compiler, Journal &journal, Progress &progress,
             std::string evaluatorProgram)
    : compiler(compiler), journal(journal), progress(progress),
      evaluator(std::move(evaluatorProgram)) {}

Tuner::~Tuner() = default;

/// Orders measurements as Journal::getBest does.
static bool isBetter(const Measurement &a, const Measurement &b) {
  if (a.stage != b.stage)
    return a.stage > b.stage;
  return a.median < b.median;
}

static Solution makeReferenceSolution(const Problem &problem,
                                      const TargetInfo &target) {
  const Solver &reference = getReferenceSolver();
  return {&reference, reference.defaultConfig(problem, target), "default",
          std::nullopt};
}

/// The best of `known` that can be had.
std::optional<Solution>
Tuner::findVerified(const Problem &problem,
                    const std::vector<Measurement> &known) const {
  const TargetInfo &target = compiler.getTarget();
  std::vector<Measurement> ranked = known;
  llvm::stable_sort(ranked, isBetter);
  for (const Measurement &measurement : ranked) {
    const Solver *solver = findSolver(measurement.key.solver);
    auto config = PerfConfig::parse(measurement.key.config);
    // What a database says is checked like everything that comes from outside.
    if (measurement.status == MeasurementStatus::Ok && solver &&
        mlir::succeeded(config) && checkApplicable(*solver, problem, target) &&
        solver->isValidConfig(problem, target, *config))
      return Solution{solver, *config, "user-db", measurement};
  }
  return std::nullopt;
}

Solution Tuner::lookUp(const Problem &problem) const {
  const TargetInfo &target = compiler.getTarget();
  std::vector<Measurement> known = journal.getMeasurements(problem.key());
  if (auto verified = findVerified(problem, known))
    return *verified;
  auto isBad = [&](const Solver &solver, const PerfConfig &config) {
    return llvm::any_of(known, [&](const Measurement &measurement) {
      return measurement.key.solver == solver.id() &&
             measurement.key.config == config.str();
    });
  };
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    PerfConfig config = solver->defaultConfig(problem, target);
    if (!isBad(*solver, config))
      return {solver, config, "default", std::nullopt};
  }
  return makeReferenceSolution(problem, target);
}

Solution Tuner::getTrusted(const Problem &problem) {
  std::string key = problem.key();
  auto verified = findVerified(problem, journal.getMeasurements(key));
  if (verified)
    return *verified;
  // The reference does where the verification cannot be had, only slower.
  if (problem.flops() >= policy::kSlowReferenceFlops && openDirectory()) {
    ProblemSearch search({compiler, journal, progress, evaluator, *directory,
                          Deadline::never(), statistics},
                         problem);
    if (search.verifyDefault())
      verified = findVerified(problem, journal.getMeasurements(key));
  }
  return verified ? *verified
                  : makeReferenceSolution(problem, compiler.getTarget());
}

Status Tuner::openDirectory() {
  if (directory)
    return runtime::success();
  Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
  if (!created)
    return created.error();
  directory = std::move(*created);
  return runtime::success();
}

Result<Solution> Tuner::tune(const Problem &problem) {
  if (Status status = openDirectory(); !status)
    return status.error();
  ++statistics.problems;
  int64_t before = statistics.measured;
  {
    ProblemSearch search({compiler, journal, progress, evaluator, *directory,
                          deadline, statistics},
                         problem);
    if (Status status = search.run(); !status)
      return status.error();
  }
  Solution solution = lookUp(problem);
  if (solution.measurement && statistics.measured > before)
    solution.source = "measured";
  return solution;
}
