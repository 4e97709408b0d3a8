//===- LearnedRanker.cpp - Ranks solutions by a learned model -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Store/SystemStore.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "FeatureRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

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
  // Another version of the solver may have other fields, and on another CPU
  // some configs have more of them (AMX).
  llvm::erase_if(list, [&](const PerfConfig &config) {
    return !model.space.knowsFields(config);
  });
  if (list.empty())
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
  llvm::StringRef arch = model.madeBy.target;
  arch = arch.take_until([](char c) { return c == '/'; });
  if (arch != target.arch)
    return "the heuristic was trained on " + arch.str() + ", not " +
           target.arch;
  if (model.madeBy.threads != target.threads)
    return llvm::formatv("the heuristic was trained for {0} thread(s), not {1}",
                         model.madeBy.threads, target.threads)
        .str();
  std::optional<std::string> kind = getProblemKind(problem);
  if (!kind)
    return "the heuristic knows convolutions with two spatial dimensions and "
           "a constant filter only";
  if (!model.kinds.count(*kind))
    return "the heuristic was trained on no problem of kind '" + *kind + "'";
  return std::nullopt;
}

/// Describes one kind's error on problems that an adjective and a place tell
/// from others; "" if there is none of the kind.
static std::string describeKind(llvm::ArrayRef<RankingError> errors,
                                llvm::StringRef kind, llvm::StringRef adjective,
                                llvm::StringRef place) {
  for (const RankingError &error : errors)
    if (error.kind == kind && error.problems > 0)
      return llvm::formatv("on {0} {1}problem{2} of this kind{3} its first "
                           "choice reached {4:f1} % of the tuned speed, {5:f1} "
                           "% at the 10th percentile",
                           error.problems, adjective,
                           error.problems == 1 ? "" : "s", place,
                           100 * error.mean, 100 * error.tenth)
          .str();
  return "";
}

std::string LearnedRanker::describeError(const Problem &problem,
                                         const TargetInfo &target) const {
  std::string kind = getProblemKind(problem).value_or("");
  std::string name = JournalContext::forTarget(target).target;
  if (model.targets.count(name))
    return describeKind(model.heldOut, kind, "held-out ", "");
  std::string text =
      describeKind(model.heldOutCpus, kind, "", " on CPUs held out in turn");
  return "the heuristic was trained on " +
         llvm::join(llvm::make_first_range(model.targets), " and ") +
         ", not on " + name + "; " +
         (text.empty() ? "its error on other CPUs is not known" : text);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string tarpon::getModelPath(llvm::StringRef folder,
                                 const TargetInfo &target) {
  return (folder + "/" + target.arch + ".model").str();
}

runtime::Status tarpon::writeModelFile(const LearnedModel &model,
                                       const std::string &path) {
  // A store of measurements must not be lost because its name was given.
  auto former = llvm::MemoryBuffer::getFile(path);
  if (former && !LearnedModel::isModel((*former)->getBuffer()))
    return runtime::Error{path + " is there already, and is no model"};
  std::string bytes = model.serialize();
  return runtime::writeFileAtomically(path, {std::span<const char>(bytes)});
}

namespace {
/// A model as bytes, and the file that they come from.
struct StoredModel {
  std::string path, bytes;
};
} // namespace

/// Lists the models that there are, the most special one first.
static std::vector<StoredModel> listModels(const TargetInfo &target,
                                           const Journal &user,
                                           const Journal *system) {
  std::vector<StoredModel> models;
  for (const Journal *store : {&user, system})
    if (store)
      if (std::optional<std::string> bytes = store->getModel())
        models.push_back({store->getPath(), std::move(*bytes)});
  for (const std::string &folder :
       {Journal::getDefaultDirectory(), getSystemStoreDirectory()}) {
    std::string path = getModelPath(folder, target);
    if (auto file = llvm::MemoryBuffer::getFile(path))
      models.push_back({path, (*file)->getBuffer().str()});
  }
  return models;
}

std::unique_ptr<LearnedRanker>
tarpon::loadLearnedRanker(const TargetInfo &target, const Journal &user,
                          const Journal *system,
                          std::vector<std::string> &remarks) {
  for (const StoredModel &stored : listModels(target, user, system)) {
    auto model = LearnedModel::parse(stored.bytes, stored.path);
    if (model)
      return std::make_unique<LearnedRanker>(std::move(*model));
    remarks.push_back(model.message());
  }
  return nullptr;
}
