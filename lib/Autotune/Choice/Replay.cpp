//===- Replay.cpp - Replays a tuning file ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cstdio>
#include <map>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

class Replayer {
public:
  Replayer(const TuningFile &file, ModelCompiler &model,
           const ReplayOptions &options)
      : file(file), model(model), options(options) {
    for (const LayerRecord &layer : file.getWinner().layers)
      records.try_emplace(layer.problem, &layer);
    if (options.otherSizes)
      for (const LayerRecord &layer : file.getWinner().layers)
        recordsByName.try_emplace(layer.name, &layer);
    if (options.alternative)
      for (const LayerRecord &layer : options.alternative->getWinner().layers)
        alternatives.try_emplace(layer.name, &layer);
  }

  Result<ReplayedModel> run();

private:
  Status checkOrigin();
  const LayerRecord *findRecord(const Problem &problem,
                                const std::string &layer) const;
  Result<Solution> solve(const Problem &problem, const std::string &layer);
  Solution getDefault(const Problem &problem) const;
  /// Explains why the record cannot be used; empty if it can.
  std::string check(const Problem &problem, const LayerRecord *record) const;

  const TuningFile &file;
  ModelCompiler &model;
  const ReplayOptions &options;
  /// Layers that pose the same problem have the same solution.
  std::map<std::string, const LayerRecord *> records;
  /// With ReplayOptions::otherSizes only.
  llvm::StringMap<const LayerRecord *> recordsByName, alternatives;
  std::vector<std::string> replaced;
  size_t numReplaced = 0;
};

} // namespace

Status Replayer::checkOrigin() {
  TuningFile::Model described = model.describeModel();
  // Those who compile several sizes have read the whole model once.
  if (options.otherSizes)
    described = {file.model.sha256, described.name, file.model.inputs};
  if (Status status = checkModel(file, described, options.path); !status)
    return status;
  Status status =
      checkTarget(file, model.getKernelCompiler().getTarget(), options.path);
  if (!status && options.anyway) {
    replaced.push_back(status.message());
    return runtime::success();
  }
  if (!status)
    return Error{status.message() + "; --replay-anyway re-checks every layer"};
  return status;
}

std::string Replayer::check(const Problem &problem,
                            const LayerRecord *record) const {
  if (!record)
    return "has no record for " + problem.key();
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  const Solver *solver = findSolver(target, record->solver);
  if (!solver)
    return "names the solver " + record->solver + ", which does not exist";
  if (Applicability applicable = checkApplicable(*solver, problem, target);
      !applicable)
    return "names the solver " + record->solver +
           ", which is not applicable: " + applicable.getReason().str();
  if (!solver->isValidConfig(problem, target, record->config))
    return "has the config {" + record->config.str() +
           "}, which is not valid for " + record->solver;
  return "";
}

Solution Replayer::getDefault(const Problem &problem) const {
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  Solution solution;
  solution.solver = getApplicableSolvers(problem, target).front();
  solution.config = solution.solver->defaultConfig(problem, target);
  solution.source = "default";
  return solution;
}

/// Returns true if the layer has at least half of the record's work: tiles that
/// were chosen for many rows leave most of theirs unused with few.
static bool isLike(const Problem &problem, const LayerRecord &record) {
  auto recorded = parseProblem(record.problem);
  return mlir::succeeded(recorded) && 2 * problem.flops() >= recorded->flops();
}

const LayerRecord *Replayer::findRecord(const Problem &problem,
                                        const std::string &layer) const {
  if (auto found = records.find(problem.key()); found != records.end())
    return found->second;
  const LayerRecord *record = recordsByName.lookup(layer);
  const LayerRecord *other = alternatives.lookup(layer);
  if (!other || other->timing || !check(problem, other).empty())
    return record;
  if (!record || !check(problem, record).empty())
    return other;
  if (record->timing || record->solver == other->solver ||
      !isLike(problem, *other))
    return record;
  auto expect = [&](const LayerRecord *of) {
    const TargetInfo &target = model.getKernelCompiler().getTarget();
    return findSolver(target, of->solver)->expectedFraction(problem, target);
  };
  return expect(other) > expect(record) ? other : record;
}

/// Guesses for other sizes are worth something where constants are packed for
/// them.
static bool isGuessAlone(const Problem &problem, const LayerRecord *record) {
  auto isConstant = [](const TensorDesc &desc) { return desc.constant; };
  return record && !record->timing &&
         llvm::none_of(problem.operands, isConstant);
}

Result<Solution> Replayer::solve(const Problem &problem,
                                 const std::string &layer) {
  const LayerRecord *record = findRecord(problem, layer);
  if (options.otherSizes && !records.contains(problem.key()))
    if (Result<Solution> known = options.otherwise(problem, layer);
        known && (known->measurement || isGuessAlone(problem, record)))
      return known;
  // This is done when the package is built, so that no layer has a record of
  // it.
  if (!record && movesConstant(problem))
    return getDefault(problem);
  std::string reason = check(problem, record);
  if (record && reason.empty()) {
    Solution solution;
    solution.solver =
        findSolver(model.getKernelCompiler().getTarget(), record->solver);
    solution.config = record->config;
    if (record->problem != problem.key() && !record->timing)
      solution.config = solution.solver->configLike(
          problem, model.getKernelCompiler().getTarget(), record->config);
    solution.source = record->source;
    return solution;
  }
  if (options.otherSizes) {
    ++numReplaced;
    return options.otherwise(problem, layer);
  }
  std::string text = "layer '" + layer + "': " + options.path + " " + reason;
  if (!options.anyway)
    return Error{text + "; --replay-anyway replaces it"};
  Result<Solution> solution = options.otherwise(problem, layer);
  if (solution)
    replaced.push_back(text + "; taking " + solution->solver->id().str() +
                       " {" + solution->config.str() + "} (" +
                       solution->source + ")");
  return solution;
}

Result<ReplayedModel> Replayer::run() {
  if (Status status = checkOrigin(); !status)
    return status.error();
  const CandidateRecord &winner = file.getWinner();
  if (!winner.ranges.empty())
    model.setRanges(winner.choice.fusion, winner.ranges);
  Result<PreparedModel> prepared = model.prepare(winner.choice);
  if (!prepared)
    return Error{options.path + ": " + prepared.message()};
  Result<CompiledModel> compiled = model.lower(
      std::move(*prepared),
      [this](const Problem &problem, const std::string &layer) {
        return solve(problem, layer);
      },
      options.candidates);
  if (!compiled)
    return compiled.error();
  // The measurements are those of the file.
  for (LayerRecord &layer : compiled->layers) {
    auto record = records.find(layer.problem);
    if (record != records.end() && record->second->solver == layer.solver &&
        record->second->config == layer.config)
      layer.timing = record->second->timing;
  }
  return ReplayedModel{std::move(*compiled), std::move(replaced), numReplaced};
}

Result<ReplayedModel> tarpon::replayTuningFile(const TuningFile &file,
                                               ModelCompiler &model,
                                               const ReplayOptions &options) {
  return Replayer(file, model, options).run();
}

Status tarpon::pickCandidate(TuningFile &file, const std::string &path,
                             std::optional<int64_t> point,
                             std::optional<double> maxError) {
  if (point) {
    std::vector<size_t> front = file.getFront();
    auto count = static_cast<int64_t>(front.size());
    if (*point < 0 || *point >= count)
      return Error{path + " has a front of " + std::to_string(count) +
                   " points, and no point " + std::to_string(*point)};
    file.winner = static_cast<int64_t>(front[*point]);
  } else if (maxError) {
    std::optional<size_t> found = file.findWithin(*maxError);
    if (!found) {
      char text[48];
      std::snprintf(text, sizeof text,
                    " has no candidate with an error of %.3g", *maxError);
      return Error{path + text + " or less"};
    }
    file.winner = static_cast<int64_t>(*found);
  }
  return runtime::success();
}
