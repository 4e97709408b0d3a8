//===- ModelTraining.cpp - Learns from measurements -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/ModelTraining.h"

#include "FeatureRows.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tarpon;

TrainingOptions::TrainingOptions() {
  solvers.trees = 150;
  configs.trees = 200;
}

namespace {

/// Collects the rows of both forests, problem by problem.
class RowCollector {
public:
  RowCollector(const FeatureSpace &space, const TrainingOptions &options)
      : space(space), options(options) {
    solvers.columns = space.solverColumns();
    configs.columns = space.configColumns();
  }

  void add(const MeasuredProblem &measured);

  TrainingRows solvers, configs;

private:
  /// Adds the solutions of one solver; `least` is the time of its best one, and
  /// that of the problem's best.
  void addSolver(const MeasuredProblem &measured, const Solver &solver,
                 double leastOfAll, FeatureRows &rows);

  const FeatureSpace &space;
  const TrainingOptions &options;
};

} // namespace

static double getLeast(llvm::ArrayRef<MeasuredSolution> solutions,
                       const Solver *solver) {
  double least = HUGE_VAL;
  for (const MeasuredSolution &solution : solutions)
    if (!solver || solution.solver == solver)
      least = std::min(least, solution.milliseconds);
  return least;
}

void RowCollector::addSolver(const MeasuredProblem &measured,
                             const Solver &solver, double leastOfAll,
                             FeatureRows &rows) {
  const Problem &problem = measured.problem;
  const TargetInfo &target = *measured.target;
  rows.setSolver(solver, solver.expectedFraction(problem, target));
  double least = getLeast(measured.solutions, &solver);
  double behind = std::min(std::log2(least / leastOfAll), options.solverCap);
  double level =
      std::log2(leastOfAll / (getRooflineCycles(problem, target) * 1e-6));
  llvm::append_range(solvers.features, rows.solverRow());
  solvers.targets.push_back(static_cast<float>(level + behind));
  solvers.weights.push_back(
      static_cast<float>(std::exp2(-options.solverFocus * behind)));

  std::vector<PerfConfig> listed = solver.configs(problem, target);
  for (const MeasuredSolution &solution : measured.solutions) {
    if (solution.solver != &solver)
      continue;
    size_t place = llvm::find(listed, solution.config) - listed.begin();
    rows.appendConfig(solution.config, place, configs.features);
    double slower =
        std::min(std::log2(solution.milliseconds / least), options.configCap);
    configs.targets.push_back(static_cast<float>(slower));
    configs.weights.push_back(static_cast<float>(std::exp2(
        -options.configFocus * slower - options.solverFocus * behind)));
  }
}

void RowCollector::add(const MeasuredProblem &measured) {
  FeatureRows rows(space, measured.problem, *measured.target);
  double least = getLeast(measured.solutions, nullptr);
  std::vector<const Solver *> seen;
  for (const MeasuredSolution &solution : measured.solutions) {
    if (llvm::is_contained(seen, solution.solver))
      continue;
    seen.push_back(solution.solver);
    addSolver(measured, *solution.solver, least, rows);
  }
}

/// BoostingOptions::minLeafWeight assumes a mean of 1.
static void normalizeWeights(TrainingRows &rows) {
  double sum = 0;
  for (float weight : rows.weights)
    sum += weight;
  auto factor = static_cast<float>(static_cast<double>(rows.size()) / sum);
  for (float &weight : rows.weights)
    weight *= factor;
}

static FeatureSpace
makeSpace(llvm::ArrayRef<const MeasuredProblem *> problems) {
  std::set<std::string> solvers, fields;
  for (const MeasuredProblem *problem : problems)
    for (const MeasuredSolution &solution : problem->solutions) {
      solvers.insert(solution.solver->id().str());
      for (const auto &[name, value] : solution.config.getFields())
        fields.insert(name);
    }
  return FeatureSpace({solvers.begin(), solvers.end()},
                      {fields.begin(), fields.end()});
}

/// Names the one CPU, or the architecture of several.
static JournalContext makeContext(const LearnedModel &model,
                                  const TargetInfo &target) {
  JournalContext context = JournalContext::forTarget(target);
  context.target =
      model.targets.size() == 1 ? model.targets.begin()->first : target.arch;
  return context;
}

LearnedModel
tarpon::trainModel(llvm::ArrayRef<const MeasuredProblem *> problems,
                   const TrainingOptions &options) {
  LearnedModel model;
  model.seed = options.seed;
  model.problems = static_cast<int64_t>(problems.size());
  model.space = makeSpace(problems);
  RowCollector collector(model.space, options);
  for (const MeasuredProblem *problem : problems) {
    collector.add(*problem);
    ++model.kinds[problem->kind];
    ++model.targets[problem->targetName];
  }
  model.madeBy = makeContext(model, *problems.front()->target);
  model.rows = static_cast<int64_t>(collector.configs.size());
  BoostingOptions forSolvers = options.solvers, forConfigs = options.configs;
  forSolvers.seed = options.seed;
  forConfigs.seed = options.seed + 1;
  normalizeWeights(collector.solvers);
  normalizeWeights(collector.configs);
  model.solvers = growForest(collector.solvers, forSolvers);
  model.configs = growForest(collector.configs, forConfigs);
  return model;
}
