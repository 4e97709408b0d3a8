//===- LearnedRanker.cpp - Ranks solutions by a learned model -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "FeatureRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

namespace {

/// A solver that takes part in the ranking.
struct Entrant {
  const Solver *solver;
  double fraction;
  /// The predicted level of its best config, as a power of two; none if the
  /// model does not know the solver.
  std::optional<float> level;
};

/// Ranks one problem.
class Ranking {
public:
  Ranking(const LearnedModel &model, const Problem &problem,
          const TargetInfo &target)
      : model(model), problem(problem), target(target),
        rows(model.space, problem, target) {}

  std::vector<Solution> run();

private:
  std::vector<Entrant> collect();
  std::vector<PerfConfig> listConfigs(const Entrant &entrant) const;
  Solution choose(const Entrant &entrant);
  Solution makeDefault(const Entrant &entrant);

  const LearnedModel &model;
  const Problem &problem;
  const TargetInfo &target;
  FeatureRows rows;
  std::vector<float> configRows, answers;
  /// The level of the first solver.
  float leastLevel = 0;
};

} // namespace

/// Collects the solvers, the one that is expected to be fastest first.
std::vector<Entrant> Ranking::collect() {
  std::vector<Entrant> entrants;
  for (const Solver *solver : getSolvers(target)) {
    if (!checkApplicable(*solver, problem, target))
      continue;
    Entrant entrant = {solver, solver->expectedFraction(problem, target), {}};
    if (model.space.knowsSolver(solver->id())) {
      rows.setSolver(*solver, entrant.fraction);
      entrant.level = model.solvers.predict(rows.solverRow());
    }
    entrants.push_back(entrant);
  }
  llvm::stable_sort(entrants, [](const Entrant &a, const Entrant &b) {
    bool isReference = a.solver == &getReferenceSolver();
    if (isReference != (b.solver == &getReferenceSolver()))
      return !isReference;
    if (a.level.has_value() != b.level.has_value())
      return a.level.has_value();
    return a.level ? *a.level < *b.level : a.fraction > b.fraction;
  });
  return entrants;
}

Solution Ranking::makeDefault(const Entrant &entrant) {
  Solution solution;
  solution.solver = entrant.solver;
  solution.config = entrant.solver->defaultConfig(problem, target);
  solution.source = "heuristic";
  return solution;
}

/// The configs to choose from. Solvers with more fields than this have so many
/// configs that ranking them takes milliseconds for their list alone: they get
/// their default, which their own cost model has chosen. So do solvers that are
/// behind the first one by this many powers of two, more than configs differ.
std::vector<PerfConfig> Ranking::listConfigs(const Entrant &entrant) const {
  constexpr size_t kMaxFields = 3;
  constexpr float kFarBehind = 0.25F;
  const Solver &solver = *entrant.solver;
  PerfConfig standard = solver.defaultConfig(problem, target);
  if (standard.getFields().size() > kMaxFields ||
      *entrant.level > leastLevel + kFarBehind)
    return {std::move(standard)};
  return solver.configs(problem, target);
}

/// Chooses the config that is expected to be the fastest, with its time.
Solution Ranking::choose(const Entrant &entrant) {
  if (!entrant.level)
    return makeDefault(entrant);
  std::vector<PerfConfig> list = listConfigs(entrant);
  // Another version of the solver may have other fields.
  if (!model.space.knowsFields(list.front()))
    return makeDefault(entrant);
  rows.setSolver(*entrant.solver, entrant.fraction);
  configRows.clear();
  for (auto [place, config] : llvm::enumerate(list))
    rows.appendConfig(config, place, configRows);
  answers.resize(list.size());
  model.configs.predict(configRows, answers);
  size_t best =
      std::min_element(answers.begin(), answers.end()) - answers.begin();
  Solution solution;
  solution.solver = entrant.solver;
  solution.config = std::move(list[best]);
  solution.source = "heuristic";
  solution.expectedMs = getRooflineCycles(problem, target) * 1e-6 *
                        std::exp2(*entrant.level + answers[best]);
  return solution;
}

std::vector<Solution> Ranking::run() {
  std::vector<Solution> solutions;
  std::vector<Entrant> entrants = collect();
  leastLevel = entrants.front().level.value_or(0);
  for (const Entrant &entrant : entrants)
    solutions.push_back(choose(entrant));
  return solutions;
}

std::vector<Solution> LearnedRanker::rank(const Problem &problem,
                                          const TargetInfo &target) const {
  if (explainAbstention(problem, target))
    return {};
  return Ranking(model, problem, target).run();
}

std::vector<double>
LearnedRanker::expectMs(const Problem &problem,
                        llvm::ArrayRef<SolverConfig> candidates,
                        const TargetInfo &target) const {
  if (explainAbstention(problem, target))
    return {};
  double roofline = getRooflineCycles(problem, target) * 1e-6;
  FeatureRows rows(model.space, problem, target);
  std::vector<double> expected;
  // Candidates of one solver are usually consecutive.
  const Solver *solver = nullptr;
  std::vector<PerfConfig> listed;
  std::vector<float> row;
  float level = 0;
  for (const SolverConfig &candidate : candidates) {
    if (!model.space.knowsSolver(candidate.solver->id()) ||
        !model.space.knowsFields(candidate.config)) {
      expected.push_back(std::nan(""));
      continue;
    }
    if (candidate.solver != solver) {
      solver = candidate.solver;
      listed = solver->configs(problem, target);
      rows.setSolver(*solver, solver->expectedFraction(problem, target));
      level = model.solvers.predict(rows.solverRow());
    }
    size_t place = llvm::find(listed, candidate.config) - listed.begin();
    row.clear();
    rows.appendConfig(candidate.config, place, row);
    expected.push_back(roofline *
                       std::exp2(level + model.configs.predict(row)));
  }
  return expected;
}

std::optional<std::string>
LearnedRanker::explainAbstention(const Problem &problem,
                                 const TargetInfo &target) const {
  JournalContext wanted = JournalContext::forTarget(target);
  if (model.madeBy.target != wanted.target)
    return "the heuristic was trained on " + model.madeBy.target + ", not " +
           wanted.target;
  if (model.madeBy.threads != wanted.threads)
    return llvm::formatv("the heuristic was trained for {0} thread(s), not {1}",
                         model.madeBy.threads, wanted.threads)
        .str();
  std::optional<std::string> kind = getProblemKind(problem);
  if (!kind)
    return "the heuristic knows convolutions with two spatial dimensions and "
           "a constant filter only";
  if (!model.kinds.count(*kind))
    return "the heuristic was trained on no problem of kind '" + *kind + "'";
  return std::nullopt;
}

std::string LearnedRanker::describeError(const Problem &problem) const {
  std::optional<std::string> kind = getProblemKind(problem);
  for (const RankingError &error : model.heldOut)
    if (kind && error.kind == *kind)
      return llvm::formatv("on {0} held-out problem{1} of this kind its first "
                           "choice reached {2:f1} % of the tuned speed, {3:f1} "
                           "% at the 10th percentile",
                           error.problems, error.problems == 1 ? "" : "s",
                           100 * error.mean, 100 * error.tenth)
          .str();
  return "";
}

std::unique_ptr<LearnedRanker>
tarpon::loadLearnedRanker(const Journal &user, const Journal *system,
                          std::vector<std::string> &remarks) {
  for (const Journal *store : {&user, system}) {
    std::optional<std::string> bytes;
    if (store)
      bytes = store->getModel();
    if (!bytes)
      continue;
    auto model = LearnedModel::parse(*bytes, store->getPath());
    if (model)
      return std::make_unique<LearnedRanker>(std::move(*model));
    remarks.push_back(model.message());
  }
  return nullptr;
}
