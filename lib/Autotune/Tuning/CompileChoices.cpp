//===- CompileChoices.cpp - Chooses and lowers a model's plan -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a compilation that differ: tuning, replaying a tuning file, and
// taking what is known.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "Choice/ReferencePackage.h"
#include "Choice/Replay.h"
#include "Tuning/RegionTuner.h"
#include "Tuning/TunedCandidates.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Tuning/GlobalTuner.h"
#include "tarpon/Autotune/Tuning/PackageTuning.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;

bool Compilation::wantsTuning() const {
  if (!options.replays.empty())
    return false;
  return options.dtype.values.size() > 1 || options.layout.values.size() > 1 ||
         options.fusion.values.size() > 1 || !options.tuningFile.empty() ||
         options.tuningTime.has_value() || wantsMetric();
}

bool Compilation::wantsMetric() const {
  return !options.labels.empty() || !options.metric.empty();
}

bool Compilation::mayMeasure() const {
  return wantsTuning() || options.candidates > 0 ||
         getFindRule(findPolicy).mayMeasureOrStore() ||
         (options.replays.empty() && measurers->verifiesWhenCalibrating() &&
          options.dtype.values.front() == Precision::I8);
}

static TuningFile::Calibration
describeCalibration(const CalibrationInputs &inputs) {
  return {inputs.source, static_cast<int64_t>(inputs.samples.size()),
          inputs.digest};
}

Result<std::unique_ptr<PipelineMeasurer>>
Compilation::makePipelineMeasurer(const CalibrationInputs &inputs) {
  return measurers->createPipelineMeasurer(
      {*module, *model, *tuner, progress, inputs, options.evaluatorProgram,
       options.cpu, goal ? &*goal : nullptr});
}

/// Measures the ranges for a single choice.
Status Compilation::calibrate(CandidateRecord &record) {
  Result<CalibrationInputs> inputs =
      getCalibration(options.calibration, model->getInputs());
  if (!inputs)
    return inputs.error();
  Result<std::unique_ptr<PipelineMeasurer>> measurer =
      makePipelineMeasurer(*inputs);
  if (!measurer)
    return measurer.error();
  Fusion fusion = record.choice.fusion;
  if (Status status = (*measurer)->calibrate(fusion); !status)
    return status;
  outcome.record.calibration = describeCalibration(*inputs);
  record.ranges = model->getRanges(fusion);
  return runtime::success();
}

Status Compilation::tune() {
  outcome.mode = CompileOutcome::Tuned;
  Deadline deadline = options.tuningTime ? Deadline::after(*options.tuningTime)
                                         : Deadline::never();
  if (options.isStopped)
    deadline = deadline.orWhen(*options.isStopped);
  progress.setDeadline(deadline);
  Result<CalibrationInputs> inputs =
      getCalibration(options.calibration, model->getInputs());
  if (!inputs)
    return inputs.error();
  if (wantsMetric()) {
    Result<AccuracyGoal> made =
        makeAccuracyGoal(options.labels, options.metric, options.maxDrop,
                         options.calibration, *model);
    if (!made)
      return made.error();
    goal = std::move(*made);
  }
  Result<std::unique_ptr<PipelineMeasurer>> measurer =
      makePipelineMeasurer(*inputs);
  if (!measurer)
    return measurer.error();
  GlobalTuner global(*model, *tuner, *journal, progress, *inputs, **measurer);
  global.setMaxError(options.maxError);
  global.setGoal(goal ? &*goal : nullptr);
  global.setDeadline(deadline);
  RegionOptions regions = {options.dtype.values, options.layout.values,
                           options.fusion.values.front()};
  if (llvm::is_contained(options.fusion.values, Fusion::On))
    regions.fusion = Fusion::On;
  regions.choosesDtypes = options.dtype.perRegion;
  regions.choosesLayouts = options.layout.perRegion;
  regions.choosesFusion = options.fusion.perRegion;
  global.setRegionOptions(std::move(regions));
  Result<GlobalResult> result = global.run(enumerateChoices(
      options.dtype.values, options.layout.values, options.fusion.values));
  if (!result)
    return result.error();
  outcome.record.calibration = describeCalibration(*inputs);
  outcome.record.candidates = std::move(result->candidates);
  outcome.record.winner = static_cast<int64_t>(result->winner);
  outcome.record.progress = std::move(result->progress);
  outcome.package = std::move(result->package);
  if (!result->warning.empty())
    if (Status status = fallBack(result->warning); !status)
      return status;
  return checkSources(result->leftOut);
}

/// A layer that was not measured in time, or whose candidates were all wrong,
/// is a fallback; one that cannot make the model faster is not.
Status Compilation::checkSources(const std::set<std::string> &leftOut) {
  int64_t count = 0;
  bool isLearned = false;
  for (const LayerRecord &layer : outcome.record.getWinner().layers) {
    bool isGuess = layer.source == "default" || layer.source == "heuristic";
    if (!isGuess || layer.solver == getReferenceSolver().id() ||
        leftOut.count(layer.problem))
      continue;
    ++count;
    isLearned |= layer.source == "heuristic";
  }
  if (count == 0)
    return runtime::success();
  return fallBack(std::to_string(count) +
                  " layers take the default of their solver" +
                  (isLearned ? " or what the heuristic expects" : "") +
                  ", since they were not measured in time");
}

/// A layer that only the reference can compute is slow and may dominate the
/// model's time.
Status Compilation::checkReferenceLayers() {
  std::vector<std::string> names;
  for (const runtime::Layer &layer : outcome.package.layers)
    if (layer.solver == getReferenceSolver().id() &&
        layer.flops >= policy::kNotableReferenceFlops)
      names.push_back("'" + layer.name + "'");
  if (names.empty())
    return runtime::success();
  size_t count = names.size();
  constexpr size_t kShown = 3;
  names.resize(std::min(count, kShown));
  return fallBack(
      (count == 1 ? "a layer is" : std::to_string(count) + " layers are") +
      std::string(" computed by the slow reference solver: ") +
      llvm::join(names, ", ") + (count > kShown ? ", ..." : ""));
}

Status Compilation::compileQuickly() {
  outcome.mode = CompileOutcome::Quick;
  GlobalChoice choice = {options.dtype.values.front(),
                         options.layout.values.front(),
                         options.fusion.values.front()};
  auto solve = [this](const Problem &problem,
                      const std::string &) -> Result<Solution> {
    if (measured)
      if (auto known = findMeasured(*measured, problem, kernels->getTarget()))
        return std::move(*known);
    // For a package to be tuned elsewhere, this asks for candidates.
    return options.candidates > 0 ? tuner->tune(problem) : tuner->find(problem);
  };
  CandidateRecord record;
  record.choice = choice;
  if (choice.dtype == Precision::I8)
    if (Status status = calibrate(record); !status)
      return status;
  Result<PreparedModel> prepared = model->prepare(choice);
  if (!prepared)
    return prepared.error();
  Result<CompiledModel> compiled = model->lower(std::move(*prepared), solve);
  if (!compiled)
    return compiled.error();
  record.layers = std::move(compiled->layers);
  outcome.package = std::move(compiled->package);
  outcome.record.candidates = {std::move(record)};
  return runtime::success();
}

Status Compilation::compileReference() {
  Result<runtime::Package> reference = compileReferencePackage(
      *module, *kernels, {options.threads, options.cpu, /*device=*/""});
  if (!reference)
    return reference.error();
  outcome.reference = std::move(*reference);
  return runtime::success();
}

CandidateSource Compilation::makeCandidateSource() {
  if (options.candidates == 0)
    return {};
  return makeTunedSource(*tuner, *journal, target->getInfo(),
                         options.candidates, getKernelVersion(*target));
}

/// The winner is known only after all choices are compiled: it is compiled once
/// more, with candidates.
Status Compilation::includeCandidates() {
  if (options.candidates == 0 || outcome.mode == CompileOutcome::Replayed)
    return runtime::success();
  progress.setPhase("candidates");
  describe();
  ReplayOptions again;
  again.path = "the package with candidates";
  // Layers with one key may differ in scales, which a record does not hold.
  again.anyway = true;
  again.otherwise = [this](const Problem &problem, const std::string &) {
    return tuner->tune(problem);
  };
  again.candidates = makeCandidateSource();
  Result<ReplayedModel> made = replayTuningFile(outcome.record, *model, again);
  if (!made)
    return made.error();
  outcome.package = std::move(made->model.package);
  return runtime::success();
}

Result<TuningFile> Compilation::readReplay(const std::string &path) {
  Result<TuningFile> file = readTuningFile(path);
  if (!file)
    return file;
  if (Status status =
          pickCandidate(*file, path, options.point, options.replayMaxError);
      !status)
    return status.error();
  TuningFile::Toolchain current = {getTarponVersion().str(),
                                   LLVM_VERSION_STRING};
  if (file->toolchain != current)
    if (Status status =
            fallBack(path + " was made by tarpon " + file->toolchain.tarpon +
                     " with LLVM " + file->toolchain.llvm +
                     ", so kernels may differ from those that were measured");
        !status)
      return status.error();
  return file;
}

ReplayOptions Compilation::makeReplayOptions(const std::string &path) {
  ReplayOptions replayOptions;
  replayOptions.path = path;
  replayOptions.anyway = options.replayAnyway;
  replayOptions.otherwise = [this](const Problem &problem,
                                   const std::string &) {
    return tuner->lookUp(problem);
  };
  replayOptions.candidates = makeCandidateSource();
  return replayOptions;
}

Status Compilation::replay() {
  outcome.mode = CompileOutcome::Replayed;
  const std::string &path = options.replays.front();
  Result<TuningFile> file = readReplay(path);
  if (!file)
    return file.error();
  Result<ReplayedModel> replayed =
      replayTuningFile(*file, *model, makeReplayOptions(path));
  if (!replayed)
    return replayed.error();
  for (const std::string &what : replayed->replaced)
    if (Status status = fallBack(what); !status)
      return status;
  outcome.record = std::move(*file);
  outcome.record.candidates[outcome.record.winner].layers =
      std::move(replayed->model.layers);
  outcome.package = std::move(replayed->model.package);
  outcome.replaced = std::move(replayed->replaced);
  return runtime::success();
}
