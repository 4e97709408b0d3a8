//===- GlobalChoice.cpp - One dtype, layout and fusion for all ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/GlobalChoice.h"

#include "HostStandIn.h"
#include "ModelCompiler.h"
#include "PipelineKey.h"
#include "Search/TempDirectory.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

using namespace tarpon;
using runtime::Error;
using runtime::EvaluationAnswer;
using runtime::EvaluationOutcome;
using runtime::EvaluationRequest;
using runtime::Result;
using runtime::Status;

std::vector<GlobalChoice>
tarpon::enumerateChoices(const std::vector<std::string> &dtypes,
                         const std::vector<std::string> &layouts,
                         const std::vector<std::string> &fusions) {
  std::vector<GlobalChoice> choices;
  for (const std::string &dtype : dtypes)
    for (const std::string &layout : layouts)
      for (const std::string &fusion : fusions)
        choices.push_back({dtype, layout, fusion});
  // Calibration and accuracy go by kernels for the first of these.
  auto getRank = [](const GlobalChoice &choice) {
    bool isExact = choice.dtype == "fp32";
    return std::tuple(!isExact,
                      isExact && choice.layout != kReferenceChoice.layout,
                      isExact && choice.fusion != kReferenceChoice.fusion);
  };
  llvm::stable_sort(choices, [&](const GlobalChoice &a, const GlobalChoice &b) {
    return getRank(a) < getRank(b);
  });
  return choices;
}

/// One choice on its way.
struct GlobalTuner::Trial {
  CandidateRecord record;
  /// Trials that are still to come, this one included.
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
                         std::string evaluatorProgram)
    : model(model), tuner(tuner), journal(journal), progress(progress),
      inputs(inputs), evaluator(std::move(evaluatorProgram)),
      maxError(policy::kDefaultMaxError) {}

GlobalTuner::~GlobalTuner() = default;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// Problems with one key may differ in scales and zero points, and a solver may
/// ask for some: the solution of the one that was tuned is checked for this
/// one.
Result<Solution> GlobalTuner::solve(const Problem &problem) {
  auto known = solutions.find(problem.key());
  const TargetInfo &target = model.getKernelCompiler().getTarget();
  if (known == solutions.end() ||
      !checkApplicable(*known->second.solver, problem, target))
    // Asking a model is cheap, and every layer needs a time.
    return standIn ? tuner.tune(problem) : tuner.lookUp(problem);
  return known->second;
}

Status GlobalTuner::tuneProblems(Trial &trial, Deadline until) {
  std::vector<std::pair<std::string, Problem>> open;
  for (auto &[name, problem] : trial.prepared.problems)
    if (!solutions.count(problem.key()))
      open.emplace_back(name, problem);
  // Problems that were solved for other choices cost nothing here.
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
      choice.dtype == "int8" ? model.getRanges(choice.fusion)
                             : std::vector<TensorRange>());
  // In memory, all of them would need too much of it.
  std::string path = directory->file(choice.dtype + "-" + choice.layout + "-" +
                                     choice.fusion + ".tpn");
  Status status = runtime::writePackage(compiled->package, path);
  if (status)
    trial.package = path;
  return status;
}

Status GlobalTuner::writeInputs() {
  for (const auto &sample : inputs.samples) {
    inputFiles.emplace_back();
    for (const runtime::HostTensor &tensor : sample) {
      std::string path =
          directory->file("input-" + std::to_string(inputFiles.size()) + "-" +
                          std::to_string(inputFiles.back().size()) + ".npy");
      if (Status status = runtime::writeNpy(tensor, path); !status)
        return status;
      inputFiles.back().push_back(path);
    }
  }
  return runtime::success();
}

/// What accuracy is measured against, all of it verified. Built when it is
/// first needed, so that it has tuned kernels where fp32 is among the choices.
Status GlobalTuner::ensureReference() {
  if (!reference.empty())
    return runtime::success();
  Result<PreparedModel> prepared = model.prepare(kReferenceChoice);
  if (!prepared)
    return prepared.error();
  Result<CompiledModel> compiled =
      model.lower(std::move(*prepared),
                  [this](const Problem &problem, const std::string &) {
                    return tuner.getTrusted(problem);
                  });
  if (!compiled)
    return compiled.error();
  std::string path = directory->file("reference.tpn");
  Status status = runtime::writePackage(compiled->package, path);
  if (status)
    reference = path;
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

/// Takes over what was measured or what the journal has.
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

static MeasurementStatus toStatus(EvaluationOutcome outcome) {
  switch (outcome) {
  case EvaluationOutcome::Ok:
    return MeasurementStatus::Ok;
  case EvaluationOutcome::Crashed:
    return MeasurementStatus::Crashed;
  case EvaluationOutcome::TimedOut:
    return MeasurementStatus::TimedOut;
  case EvaluationOutcome::Failed:
    return MeasurementStatus::Failed;
  }
  return MeasurementStatus::Failed;
}

static constexpr std::chrono::milliseconds getPipelineTimeLimit() {
  return std::chrono::milliseconds(
      static_cast<int64_t>(policy::kPipelineTimeLimitSeconds * 1000));
}

/// Adds the samples of an answer, or takes over why there are none. Whether all
/// is well.
static bool addAnswer(PipelineMeasurement &measurement,
                      const EvaluationAnswer &answer) {
  measurement.status = toStatus(answer.outcome);
  measurement.detail = answer.error;
  return answer.outcome == EvaluationOutcome::Ok;
}

static void addSamples(PipelineMeasurement &measurement,
                       const EvaluationAnswer &answer) {
  llvm::append_range(measurement.samples, answer.samplesMs);
  runtime::Measurement summary = runtime::summarize(measurement.samples);
  measurement.median = summary.medianMs;
  measurement.mad = summary.madMs;
}

/// A time without samples, and the error on the host.
Status GlobalTuner::modelPipeline(Trial &trial) {
  progress.setPhase(trial.record.choice.name() + ": accuracy on the host");
  PipelineMeasurement measurement = startMeasurement(trial);
  Result<double> error = standIn->measureError(trial.record.choice, inputs);
  if (error) {
    measurement.status = MeasurementStatus::Ok;
    measurement.accuracy = *error;
  } else {
    measurement.detail = "on the host: " + error.message();
  }
  for (const LayerRecord &layer : trial.record.layers) {
    if (layer.timing) {
      measurement.median += layer.timing->median;
      continue;
    }
    // A choice is not faster for what nobody knows.
    measurement.status = MeasurementStatus::Failed;
    measurement.detail = "the model gave layer '" + layer.name + "' no time";
  }
  conclude(trial, measurement);
  return journal.recordPipeline(measurement);
}

/// Accuracy on every sample, the worst of which counts; time on the first.
Status GlobalTuner::measurePipeline(Trial &trial) {
  if (auto known = journal.getPipeline(trial.key)) {
    conclude(trial, *known);
    return runtime::success();
  }
  if (standIn)
    return modelPipeline(trial);
  if (Status status = ensureReference(); !status)
    return status;
  progress.setPhase(trial.record.choice.name() + ": whole model");
  PipelineMeasurement measurement = startMeasurement(trial);
  for (auto [index, files] : llvm::enumerate(inputFiles)) {
    EvaluationRequest request;
    request.package = trial.package;
    request.reference = reference;
    request.inputs = files;
    request.threads =
        static_cast<int>(model.getKernelCompiler().getTarget().threads);
    request.minSamples = index == 0 ? policy::kPipelineSamples : 1;
    request.minTimeMs = index == 0 ? policy::kPipelineMinMs : 0;
    request.maxTimeMs = policy::kPipelineMaxMs;
    Result<EvaluationAnswer> answer =
        evaluator.evaluate(request, getPipelineTimeLimit());
    if (!answer)
      return answer.error();
    if (!addAnswer(measurement, *answer))
      break;
    if (index == 0)
      addSamples(measurement, *answer);
    if (!answer->comparison || !std::isfinite(answer->comparison->relativeL2)) {
      measurement.status = MeasurementStatus::Wrong;
      measurement.detail = "an output has a NaN or an infinity";
      break;
    }
    measurement.accuracy =
        std::max(measurement.accuracy, answer->comparison->relativeL2);
  }
  conclude(trial, measurement);
  return journal.recordPipeline(measurement);
}

/// One more round of a finalist.
Status GlobalTuner::timeAgain(Trial &trial) {
  progress.setPhase(trial.record.choice.name() + ": once more");
  EvaluationRequest request;
  request.package = trial.package;
  request.inputs = inputFiles.front();
  request.threads =
      static_cast<int>(model.getKernelCompiler().getTarget().threads);
  request.minSamples = policy::kPipelineSamples;
  request.minTimeMs = policy::kPipelineMinMs;
  request.maxTimeMs = policy::kPipelineMaxMs;
  Result<EvaluationAnswer> answer =
      evaluator.evaluate(request, getPipelineTimeLimit());
  if (!answer)
    return answer.error();
  PipelineMeasurement measurement = startMeasurement(trial);
  // The first measurement was not interleaved with anything.
  if (measurement.rounds == 0)
    measurement.samples.clear();
  ++measurement.rounds;
  if (addAnswer(measurement, *answer))
    addSamples(measurement, *answer);
  conclude(trial, measurement);
  return journal.recordPipeline(measurement);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// The first choice's problems stand for those of all.
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
  // One choice has to be measured whatever the time.
  if (deadline.isOver() && measuredAny) {
    trial.record.failure = "the time was over before it was measured";
    return runtime::success();
  }
  return measurePipeline(trial);
}

/// What goes wrong with this choice becomes its failure; an error ends the run.
Status GlobalTuner::calibrate(const std::string &fusion) {
  if (!standIn)
    return model.calibrate(fusion, inputs,
                           [this](const Problem &problem, const std::string &) {
                             return tuner.getTrusted(problem);
                           });
  Result<std::vector<TensorRange>> ranges =
      standIn->measureRanges(fusion, inputs);
  if (!ranges)
    return ranges.error();
  model.setRanges(fusion, std::move(*ranges));
  return runtime::success();
}

Status GlobalTuner::tryChoice(Trial &trial) {
  const GlobalChoice &choice = trial.record.choice;
  // Every choice that is left gets the same share of the time that is left.
  Deadline share = deadline.part(1.0 / static_cast<double>(trial.remaining));
  Status calibrated = runtime::success();
  if (choice.dtype == "int8") {
    progress.setPhase(choice.name() + ": calibration");
    calibrated = calibrate(choice.fusion);
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

/// Packages are large, and those of choices that will not be in the final are
/// not needed any more.
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
  if (standIn)
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

/// Finalists that were all timed as often go before others.
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
    // Those that were too slow for the final have no package any more.
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
    // Nothing else may be chosen, and the user has asked for this.
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
  if (Status status = writeInputs(); !status)
    return status.error();
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
