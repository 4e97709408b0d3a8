//===- MeasuredProblems.cpp - The data that a model learns from -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/MeasuredProblems.h"

#include "tarpon/Autotune/Learn/Features.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

/// Returns the least sample, which the machine's other work has disturbed
/// least; the median of a row that was copied without its samples.
static double getTime(const Measurement &row) {
  auto least = llvm::min_element(row.samples);
  return least == row.samples.end() || *least <= 0 ? row.median : *least;
}

/// Adds one row, unless its problem or solution is no longer valid.
static void addRow(const Measurement &row, MeasuredProblem &measured) {
  const TargetInfo &target = *measured.target;
  const Solver *solver = findSolver(target, row.key.solver);
  auto config = PerfConfig::parse(row.key.config);
  if (!solver || solver == &getReferenceSolver() || mlir::failed(config) ||
      !checkApplicable(*solver, measured.problem, target) ||
      !solver->isValidConfig(measured.problem, target, *config))
    return;
  if (row.status == MeasurementStatus::Ok)
    measured.solutions.push_back({solver, *config, getTime(row)});
  else if (!row.mayPass())
    measured.rejected.push_back(row.key);
}

std::vector<MeasuredProblem> tarpon::readMeasuredProblems(
    const Journal &journal, const JournalContext &context,
    std::shared_ptr<const TargetInfo> target, const NetworkSplit &split) {
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
    measured.target = target;
    measured.targetName = context.target;
    measured.networks = split.getNetworks(measured.problem);
    measured.isHeldOut = split.isHeldOut(measured.problem);
    // The order is that of Journal::getBest.
    MeasurementStage stage = MeasurementStage::Race;
    for (const Measurement &row : journal.getMeasurements(key)) {
      size_t before = measured.solutions.size();
      addRow(row, measured);
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

/// Describes the CPU that records were made on: this machine if it is the one,
/// else a CPU of LLVM's list.
static Result<TargetInfo> describeCpu(const JournalContext &context) {
  llvm::StringRef cpu =
      llvm::StringRef(context.target).split('/').second.split('/').first;
  for (llvm::StringRef name : {llvm::StringRef("native"), cpu}) {
    Result<TargetInfo> host = getHostTarget(context.threads, name);
    if (host && JournalContext::forTarget(*host).target == context.target)
      return host;
  }
  return getNamedCpu(context.target, context.threads);
}

Result<std::vector<MeasuredProblem>>
tarpon::readStoreOfAnyCpu(const std::string &path, const TargetInfo &host,
                          const NetworkSplit &split,
                          std::vector<std::string> &skipped) {
  Result<std::unique_ptr<Journal>> store =
      Journal::openReadOnly(path, JournalContext::forTarget(host));
  if (!store)
    return store.error();
  std::vector<MeasuredProblem> problems;
  for (const JournalContext &context : (*store)->listContexts()) {
    Result<TargetInfo> cpu = describeCpu(context);
    if (!cpu) {
      skipped.push_back("store " + path + ": " + cpu.message());
      continue;
    }
    readCacheSizes(context.caches, *cpu);
    Result<std::unique_ptr<Journal>> part =
        Journal::openReadOnly(path, context);
    if (!part)
      return part.error();
    llvm::append_range(
        problems,
        readMeasuredProblems(**part, context,
                             std::make_shared<const TargetInfo>(*cpu), split));
  }
  return problems;
}
