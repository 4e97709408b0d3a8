//===- GlobalTuner.cpp - Tries all choices of a model ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "Choice/ModelCompiler.h"
#include "Measure/PipelineMeasurer.h"
#include "Search/TempDirectory.h"
#include "Tuning/PipelineKey.h"
#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

std::vector<GlobalChoice>
tarpon::enumerateChoices(const std::vector<Precision> &dtypes,
                         const std::vector<Layout> &layouts,
                         const std::vector<Fusion> &fusions) {
  std::vector<GlobalChoice> choices;
  for (Precision dtype : dtypes)
    for (Layout layout : layouts)
      for (Fusion fusion : fusions)
        choices.push_back({dtype, layout, fusion});
  // Calibration and accuracy use kernels for the first of these.
  auto getRank = [](const GlobalChoice &choice) {
    bool isExact = choice.dtype == kReferenceChoice.dtype;
    return std::tuple(!isExact,
                      isExact && choice.layout != kReferenceChoice.layout,
                      isExact && choice.fusion != kReferenceChoice.fusion);
  };
  llvm::stable_sort(choices, [&](const GlobalChoice &a, const GlobalChoice &b) {
    return getRank(a) < getRank(b);
  });
  return choices;
}

/// A choice in progress.
struct GlobalTuner::Trial {
  CandidateRecord record;
  /// The number of trials still to come, this one included.
  size_t remaining = 1;
  PreparedModel prepared;
  std::string package;
  PipelineKey key;
  std::vector<double> samples;
  int64_t rounds = 0;

  bool isMeasured() const {
    return record.failure.empty() && record.pipeline && record.accuracy;
  }
  bool isUsable() const {
    return isMeasured() && record.accuracy->withinBudget;
  }
};

GlobalTuner::GlobalTuner(ModelCompiler &model, Tuner &tuner, Journal &journal,
                         Progress &progress, const CalibrationInputs &inputs,
                         PipelineMeasurer &measurer)
    : model(model), tuner(tuner), journal(journal), progress(progress),
      inputs(inputs), measurer(measurer), maxError(policy::kDefaultMaxError) {}

GlobalTuner::~GlobalTuner() = default;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// Problems with one key may differ in scales and zero points, which some
/// solvers restrict: the tuned solution is checked for this problem.
Result<Solution> GlobalTuner::solve(const Problem &problem) {
  auto known = solutions.find(problem.key());
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  if (known == solutions.end() ||
      !checkApplicable(*known->second.solver, problem, target))
    return measurer.solve(problem);
  return known->second;
}

Status GlobalTuner::tuneProblems(Trial &trial, Deadline until) {
  std::vector<std::pair<std::string, Problem>> open;
  for (auto &[name, problem] : trial.prepared.problems)
    if (!solutions.count(problem.key()))
      open.emplace_back(name, problem);
  // Problems that were solved for other choices take no time here.
  double work = open.size() * policy::kExpectedProblemSeconds;
  if (work < problemSeconds)
    progress.advance(problemSeconds - work);
  else
    progress.expect(work - problemSeconds);
  tuner.setDeadline(until);
  for (auto [index, entry] : llvm::enumerate(open)) {
    auto &[name, problem] = entry;
    progress.setPhase(trial.record.choice.name() + ": " + name + " (" +
                      std::to_string(index + 1) + "/" +
                      std::to_string(open.size()) + ")");
    Result<Solution> solution = tuner.tune(problem);
    if (!solution)
      return solution.error();
    solutions[problem.key()] = std::move(*solution);
    progress.advance(policy::kExpectedProblemSeconds);
  }
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Whole models
//===----------------------------------------------------------------------===//

Status GlobalTuner::compile(Trial &trial) {
  Result<CompiledModel> compiled =
      model.lower(std::move(trial.prepared),
                  [this](const Problem &problem, const std::string &) {
                    return solve(problem);
                  });
  if (!compiled)
    return compiled.error();
  const GlobalChoice &choice = trial.record.choice;
  trial.record.layers = std::move(compiled->layers);
  trial.key = makePipelineKey(
      model.describeModel(), choice, inputs.digest, trial.record.layers,
      choice.dtype == Precision::I8 ? model.getRanges(choice.fusion)
                                    : std::vector<TensorRange>());
  // Keeping all of them in memory would take too much.
  std::string path = directory->file(
      std::string(getPrecisionName(choice.dtype)) + "-" + choice.layout.name() +
      "-" + std::string(getFusionName(choice.fusion)) + ".tpn");
  Status status = runtime::writePackage(compiled->package, path);
  if (status)
    trial.package = path;
  return status;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

PipelineMeasurement GlobalTuner::startMeasurement(const Trial &trial) const {
  PipelineMeasurement measurement;
  measurement.key = trial.key;
  measurement.samples = trial.samples;
  measurement.rounds = trial.rounds;
  if (trial.record.accuracy)
    measurement.accuracy = trial.record.accuracy->value;
  return measurement;
}

/// Copies the result of a measurement or of the journal.
void GlobalTuner::conclude(Trial &trial,
                           const PipelineMeasurement &measurement) {
  trial.samples = measurement.samples;
  trial.rounds = measurement.rounds;
  if (measurement.status != MeasurementStatus::Ok) {
    trial.record.failure = measurement.detail;
    return;
  }
  measuredAny = true;
  bool isExact = trial.record.choice.dtype == kReferenceChoice.dtype;
  double budget = isExact ? policy::kExactMaxError : maxError;
  trial.record.accuracy = {measurement.accuracy, budget,
                           measurement.accuracy <= budget};
  trial.record.pipeline = {measurement.median, measurement.mad,
                           static_cast<int64_t>(measurement.samples.size())};
}

Status GlobalTuner::measurePipeline(Trial &trial) {
  if (auto known = journal.getPipeline(trial.key)) {
    conclude(trial, *known);
    return runtime::success();
  }
  PipelineMeasurement measurement = startMeasurement(trial);
  if (Status status =
          measurer.measure({trial.record, trial.package}, measurement);
      !status)
    return status;
  conclude(trial, measurement);
  return journal.recordPipeline(measurement);
}

/// One more round of a finalist.
Status GlobalTuner::timeAgain(Trial &trial) {
  PipelineMeasurement measurement = startMeasurement(trial);
  if (Status status =
          measurer.timeAgain({trial.record, trial.package}, measurement);
      !status)
    return status;
  conclude(trial, measurement);
  return journal.recordPipeline(measurement);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// The first choice's problems serve as an estimate for those of all.
void GlobalTuner::expectWork(size_t choices) {
  if (Result<PreparedModel> first = model.prepare(kReferenceChoice))
    problemSeconds = first->problems.size() * policy::kExpectedProblemSeconds;
  progress.expect(choices *
                  (problemSeconds + policy::kExpectedPipelineSeconds));
}

Status GlobalTuner::tuneAndMeasure(Trial &trial, Deadline share) {
  if (Status status = tuneProblems(trial, share.part(policy::kSearchShare));
      !status)
    return status;
  if (Status status = compile(trial); !status) {
    trial.record.failure = status.message();
    return runtime::success();
  }
  // At least one choice is measured, whatever the time.
  if (deadline.isOver() && measuredAny) {
    trial.record.failure = "the time was over before it was measured";
    return runtime::success();
  }
  return measurePipeline(trial);
}

/// An error of this choice becomes its failure; an error of the machine ends
/// the run.
Status GlobalTuner::tryChoice(Trial &trial) {
  const GlobalChoice &choice = trial.record.choice;
  // The choices that are left share the remaining time equally.
  Deadline share = deadline.part(1.0 / static_cast<double>(trial.remaining));
  Status calibrated = runtime::success();
  if (choice.dtype == Precision::I8) {
    progress.setPhase(choice.name() + ": calibration");
    calibrated = measurer.calibrate(choice.fusion);
    if (calibrated)
      trial.record.ranges = model.getRanges(choice.fusion);
  }
  Result<PreparedModel> prepared =
      calibrated ? model.prepare(choice) : calibrated.error();
  if (prepared) {
    trial.prepared = std::move(*prepared);
    if (Status status = tuneAndMeasure(trial, share); !status)
      return status;
  } else {
    trial.record.failure = prepared.message();
    progress.advance(problemSeconds);
  }
  progress.advance(policy::kExpectedPipelineSeconds);
  if (!trial.record.failure.empty())
    progress.remark(choice.name() + " cannot be used: " + trial.record.failure);
  return runtime::success();
}

/// Packages are large, so that those of choices outside of the final are
/// deleted.
void GlobalTuner::dropLosers(std::vector<Trial> &trials) {
  double best = INFINITY;
  for (const Trial &trial : trials)
    if (trial.isUsable())
      best = std::min(best, trial.record.pipeline->median);
  for (Trial &trial : trials)
    if (!trial.package.empty() && std::isfinite(best) &&
        (!trial.isUsable() || trial.record.pipeline->median >
                                  policy::kPipelineFinalistRatio * best)) {
      (void)llvm::sys::fs::remove(trial.package);
      trial.package.clear();
    }
}

Status GlobalTuner::runFinal(std::vector<Trial> &trials) {
  if (!measurer.isNoisy())
    return runtime::success();
  std::vector<Trial *> ranked;
  for (Trial &trial : trials)
    if (trial.isUsable())
      ranked.push_back(&trial);
  llvm::stable_sort(ranked, [](const Trial *a, const Trial *b) {
    return a->record.pipeline->median < b->record.pipeline->median;
  });
  size_t count = 0;
  while (count < std::min(ranked.size(), policy::kMaxPipelineFinalists) &&
         ranked[count]->record.pipeline->median <=
             policy::kPipelineFinalistRatio *
                 ranked[0]->record.pipeline->median)
    ++count;
  if (count < 2)
    return runtime::success();
  ranked.resize(count);
  for (int round = 0; round < policy::kPipelineRounds; ++round)
    for (Trial *trial : ranked)
      if (trial->isUsable() && trial->rounds <= round && !deadline.isOver())
        if (Status status = timeAgain(*trial); !status)
          return status;
  return runtime::success();
}

/// Choices that took part in as many rounds of the final precede others.
static bool isFaster(const CandidateRecord &a, int64_t aRounds,
                     const CandidateRecord &b, int64_t bRounds) {
  if ((aRounds > 0) != (bRounds > 0))
    return aRounds > 0;
  return a.pipeline->median < b.pipeline->median;
}

Result<GlobalResult> GlobalTuner::pickWinner(std::vector<Trial> &trials) {
  GlobalResult result;
  const Trial *winner = nullptr;
  for (auto [index, trial] : llvm::enumerate(trials)) {
    // The packages of choices that were too slow for the final are gone.
    if (trial.isUsable() && !trial.package.empty() &&
        (!winner || isFaster(trial.record, trial.rounds, winner->record,
                             winner->rounds))) {
      winner = &trial;
      result.winner = index;
    }
    result.candidates.push_back(trial.record);
  }
  const Trial &first = trials.front();
  if (!winner &&
      llvm::any_of(trials, [](const Trial &trial) { return trial.isUsable(); }))
    return Error{"the fastest choices failed when they were measured again"};
  if (!winner && !first.isMeasured())
    return Error{"no choice can be used; " + first.record.choice.name() + ": " +
                 first.record.failure};
  if (!winner) {
    char text[96];
    std::snprintf(text, sizeof(text),
                  "an error of %.3g, which is over the budget of %.3g",
                  first.record.accuracy->value, first.record.accuracy->budget);
    std::string what = first.record.choice.name() + " has " + text;
    if (trials.size() > 1)
      return Error{"no choice is within the accuracy budget; " + what};
    // This is the only choice, which the user has asked for.
    result.warning = what;
    winner = &first;
  }
  Result<runtime::Package> package = runtime::readPackage(winner->package);
  if (!package)
    return package.error();
  result.package = std::move(*package);
  return result;
}

Result<GlobalResult>
GlobalTuner::run(const std::vector<GlobalChoice> &choices) {
  Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
  if (!created)
    return created.error();
  directory = std::move(*created);
  expectWork(choices.size());
  std::vector<Trial> trials(choices.size());
  for (auto [index, trial] : llvm::enumerate(trials)) {
    trial.record.choice = choices[index];
    trial.remaining = choices.size() - index;
    if (Status status = tryChoice(trial); !status)
      return status.error();
    dropLosers(trials);
  }
  if (Status status = runFinal(trials); !status)
    return status.error();
  return pickWinner(trials);
}
