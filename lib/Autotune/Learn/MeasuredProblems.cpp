//===- MeasuredProblems.cpp - The data that a model learns from -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/MeasuredProblems.h"

#include "tarpon/Autotune/Learn/Features.h"
#include "tarpon/Solver/SolverRegistry.h"

using namespace tarpon;

/// Adds one row, unless its problem or solution is no longer valid.
static void addRow(const Measurement &row, const TargetInfo &target,
                   MeasuredProblem &measured) {
  const Solver *solver = findSolver(target, row.key.solver);
  auto config = PerfConfig::parse(row.key.config);
  if (!solver || solver == &getReferenceSolver() || mlir::failed(config) ||
      !checkApplicable(*solver, measured.problem, target) ||
      !solver->isValidConfig(measured.problem, target, *config))
    return;
  if (row.status == MeasurementStatus::Ok)
    measured.solutions.push_back({solver, *config, row.median});
  else if (!row.mayPass())
    measured.rejected.push_back(row.key);
}

std::vector<MeasuredProblem>
tarpon::readMeasuredProblems(const Journal &journal, const TargetInfo &target,
                             const NetworkSplit &split) {
  std::vector<MeasuredProblem> problems;
  for (const std::string &key : journal.getProblems()) {
    auto problem = parseProblem(key);
    if (mlir::failed(problem))
      continue;
    std::optional<std::string> kind = getProblemKind(*problem);
    if (!kind)
      continue;
    MeasuredProblem measured;
    measured.problem = std::move(*problem);
    measured.kind = *kind;
    measured.networks = split.getNetworks(measured.problem);
    measured.isHeldOut = split.isHeldOut(measured.problem);
    // The order is that of Journal::getBest.
    MeasurementStage stage = MeasurementStage::Race;
    for (const Measurement &row : journal.getMeasurements(key)) {
      size_t before = measured.solutions.size();
      addRow(row, target, measured);
      if (measured.solutions.size() == before)
        continue;
      const MeasuredSolution &added = measured.solutions.back();
      if (before == 0 || row.stage > stage ||
          (row.stage == stage &&
           added.milliseconds < measured.tuned.milliseconds)) {
        measured.tuned = added;
        stage = row.stage;
      }
    }
    if (!measured.solutions.empty())
      problems.push_back(std::move(measured));
  }
  return problems;
}
