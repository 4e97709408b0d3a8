//===- RelatedProblems.cpp - Measurements of similar problems -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RelatedProblems.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

ProblemDescription tarpon::describeProblem(const Problem &problem) {
  ProblemDescription description;
  std::string &signature = description.signature;
  auto addNumber = [&](double value) {
    description.features.push_back(std::log2(std::max(value, 0.0) + 1));
  };
  auto add = [&](const TensorDesc &desc) {
    signature += " " + std::to_string(static_cast<int>(desc.dtype)) +
                 (desc.quantized ? "q" : "") + (desc.constant ? "c" : "") +
                 desc.layout.name() + std::to_string(desc.rank());
    for (int64_t size : desc.shape)
      addNumber(static_cast<double>(size));
  };
  signature = getOpName(problem.op);
  // The epilogue changes the times of all candidates alike.
  for (const TensorDesc &operand :
       llvm::ArrayRef(problem.operands).take_front(problem.rootOperands))
    add(operand);
  add(problem.result);
  for (const auto &[name, numbers] : problem.attrs) {
    signature += " " + name + std::to_string(numbers.size());
    llvm::for_each(numbers, addNumber);
  }
  return description;
}

std::vector<double> tarpon::expectTimes(const Problem &problem,
                                        llvm::ArrayRef<SolverConfig> candidates,
                                        const TargetInfo &target,
                                        const SolutionRanker *ranker) {
  std::vector<double> times;
  if (ranker)
    times = ranker->expectMs(problem, candidates, target);
  if (times.size() != candidates.size())
    times = ExpectedFractionRanker().expectMs(problem, candidates, target);
  return times;
}

//===----------------------------------------------------------------------===//
// Related problems
//===----------------------------------------------------------------------===//

const RelatedProblems::Known *RelatedProblems::parse(const std::string &key) {
  auto [entry, isNew] = parsed.try_emplace(key);
  if (isNew)
    if (auto problem = parseProblem(key); mlir::succeeded(problem))
      entry->second = {*problem, describeProblem(*problem)};
  return &entry->second;
}

static double getDistance(const ProblemDescription &a,
                          const ProblemDescription &b) {
  if (a.signature != b.signature || a.features.size() != b.features.size())
    return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (size_t i = 0; i < a.features.size(); ++i)
    sum += (a.features[i] - b.features[i]) * (a.features[i] - b.features[i]);
  return std::sqrt(sum);
}

/// Collects the fastest candidates, with their expected times.
static RelatedProblem makeRelated(const Problem &problem,
                                  const ProblemDescription &description,
                                  std::vector<Measurement> rows,
                                  const TargetInfo &target,
                                  const SolutionRanker *ranker) {
  RelatedProblem related;
  related.features = description.features;
  llvm::stable_sort(rows, [](const Measurement &a, const Measurement &b) {
    return a.median < b.median;
  });
  std::vector<SolverConfig> solutions;
  for (const Measurement &row : rows) {
    const Solver *solver = findSolver(target, row.key.solver);
    auto config = PerfConfig::parse(row.key.config);
    if (row.status != MeasurementStatus::Ok || !solver ||
        mlir::failed(config) || !checkApplicable(*solver, problem, target) ||
        !solver->isValidConfig(problem, target, *config))
      continue;
    solutions.push_back({solver, *config});
    related.candidates.push_back({solver->id().str(), *config, 0});
    related.milliseconds.push_back(row.median);
    if (solutions.size() == policy::kRelatedCandidates)
      break;
  }
  std::vector<double> expected =
      expectTimes(problem, solutions, target, ranker);
  for (size_t i = 0; i < expected.size(); ++i)
    related.candidates[i].expectedMs = expected[i];
  return related;
}

std::vector<RelatedProblem>
RelatedProblems::find(const Problem &problem, const Journal &journal,
                      const Journal *system, const TargetInfo &target,
                      const SolutionRanker *ranker) {
  struct Near {
    double distance;
    std::string key;
    const Known *known;
    const Journal *store;
  };
  std::vector<Near> nearest;
  std::string own = problem.key();
  ProblemDescription description = describeProblem(problem);
  for (const Journal *store : {&journal, system}) {
    if (!store)
      continue;
    for (std::string &key : store->getMeasuredProblems()) {
      const Known *known = parse(key);
      double distance = getDistance(description, known->description);
      if (key != own && std::isfinite(distance))
        nearest.push_back({distance, std::move(key), known, store});
    }
  }
  // For a problem that both stores know, the user's records come first.
  llvm::stable_sort(nearest, [](const Near &a, const Near &b) {
    return std::tie(a.distance, a.key) < std::tie(b.distance, b.key);
  });
  std::vector<RelatedProblem> result;
  std::string last;
  for (const Near &near : nearest) {
    if (result.size() == policy::kRelatedProblems)
      break;
    if (near.key == last)
      continue;
    last = near.key;
    result.push_back(makeRelated(near.known->problem, near.known->description,
                                 near.store->getMeasurements(near.key), target,
                                 ranker));
  }
  return result;
}
