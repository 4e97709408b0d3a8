//===- ConfigSpace.cpp - All configs of a solver --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigSpace.h"

#include "Store/Digest.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

using namespace tarpon;

static constexpr int64_t kLargestPower = 4096;

namespace {

class Explorer {
public:
  Explorer(const Solver &solver, const Problem &problem,
           const TargetInfo &target)
      : solver(solver), problem(problem), target(target) {}

  std::vector<PerfConfig> run();
  /// Digests the listed configs, and those that one step leads to.
  std::string digest();

private:
  void collectValues(llvm::ArrayRef<PerfConfig> listed);
  void visit(const PerfConfig &config);
  std::optional<PerfConfig> step(const PerfConfig &from,
                                 const std::string &name, bool up) const;
  std::string describeLaunches(const PerfConfig &config) const;

  const Solver &solver;
  const Problem &problem;
  const TargetInfo &target;
  /// The values of each field, ascending.
  std::map<std::string, std::vector<int64_t>, std::less<>> values;
  /// The configs in the order of their distance. Steps start from all of them,
  /// even from those whose launches are known.
  std::vector<PerfConfig> reached;
  std::set<PerfConfig> seen;
  std::set<std::string> launches;
  std::vector<PerfConfig> configs;
};

} // namespace

void Explorer::collectValues(llvm::ArrayRef<PerfConfig> listed) {
  std::map<std::string, std::set<int64_t>> sets;
  for (const PerfConfig &config : listed)
    for (const auto &[name, value] : config.getFields())
      sets[name].insert(value);
  for (auto &[name, set] : sets) {
    for (int64_t power = 1; power <= kLargestPower; power *= 2)
      set.insert(power);
    values[name].assign(set.begin(), set.end());
  }
}

/// Describes a config's launches, to compare them with those of others.
std::string Explorer::describeLaunches(const PerfConfig &config) const {
  SolutionPlan plan = solver.plan(problem, target, config);
  std::string text;
  for (const LaunchPlan &launch : plan.launches) {
    text += launch.kernel.symbol + "/" + std::to_string(launch.tasks) + "/" +
            std::to_string(launch.scratchBytes);
    for (int64_t param : launch.params)
      text += "," + std::to_string(param);
    text += ";";
  }
  return text;
}

void Explorer::visit(const PerfConfig &config) {
  if (configs.size() == policy::kMaxConfigs || !seen.insert(config).second)
    return;
  reached.push_back(config);
  if (launches.insert(describeLaunches(config)).second)
    configs.push_back(config);
}

/// Values in between may be invalid, for example as a vector width.
std::optional<PerfConfig>
Explorer::step(const PerfConfig &from, const std::string &name, bool up) const {
  const std::vector<int64_t> &list = values.find(name)->second;
  auto at = llvm::lower_bound(list, from.get(name)) - list.begin();
  auto count = static_cast<ptrdiff_t>(list.size());
  for (ptrdiff_t i = up ? at + 1 : at - 1; i >= 0 && i < count;
       i += up ? 1 : -1) {
    PerfConfig config = from;
    config.set(name, list[i]);
    if (solver.isValidConfig(problem, target, config))
      return config;
  }
  return std::nullopt;
}

std::vector<PerfConfig> Explorer::run() {
  std::vector<PerfConfig> listed = solver.configs(problem, target);
  if (listed.size() == 1 && listed.front().getFields().empty())
    return listed;
  collectValues(listed);
  for (const PerfConfig &config : listed)
    visit(config);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (configs.size() == policy::kMaxConfigs)
      break;
    PerfConfig from = reached[i];
    for (const auto &[name, value] : from.getFields())
      for (bool up : {true, false})
        if (std::optional<PerfConfig> config = step(from, name, up))
          visit(*config);
  }
  return configs;
}

std::string Explorer::digest() {
  std::vector<PerfConfig> listed = solver.configs(problem, target);
  collectValues(listed);
  std::set<PerfConfig> sorted(listed.begin(), listed.end()), nearest;
  for (const PerfConfig &from : sorted)
    for (const auto &[name, value] : from.getFields())
      for (bool up : {true, false})
        if (std::optional<PerfConfig> config = step(from, name, up))
          nearest.insert(std::move(*config));
  Digest digest;
  digest.add(llvm::StringRef(std::to_string(policy::kMaxConfigs)));
  for (const auto &configs : {sorted, nearest}) {
    digest.add(llvm::StringRef(std::to_string(configs.size())));
    for (const PerfConfig &config : configs)
      digest.add(llvm::StringRef(config.str()));
  }
  return digest.hex().substr(0, 12);
}

std::vector<PerfConfig> tarpon::getConfigSpace(const Solver &solver,
                                               const Problem &problem,
                                               const TargetInfo &target) {
  return Explorer(solver, problem, target).run();
}

CandidateDigests tarpon::describeCandidates(const Problem &problem,
                                            const TargetInfo &target) {
  CandidateDigests candidates;
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    if (solver == &getReferenceSolver())
      continue;
    candidates.add(solver->id(), getBehaviourVersion(solver->id()),
                   Explorer(*solver, problem, target).digest());
  }
  return candidates;
}

std::vector<std::string> tarpon::getKernels(const Solver &solver,
                                            const PerfConfig &config,
                                            const Problem &problem,
                                            const TargetInfo &target) {
  std::vector<std::string> names;
  for (const LaunchPlan &launch :
       solver.plan(problem, target, config).launches) {
    std::string name = solver.id().str() + ":" + launch.kernel.symbol;
    if (!llvm::is_contained(names, name))
      names.push_back(std::move(name));
  }
  return names;
}
