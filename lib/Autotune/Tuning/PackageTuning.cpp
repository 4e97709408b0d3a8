//===- PackageTuning.cpp - Tunes a package where its GPU is ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/PackageTuning.h"

#include "Measure/CandidateTrial.h"
#include "Measure/DeviceMeasurer.h"
#include "Search/KnownRecords.h"
#include "Search/LayerRace.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/DeviceRotation.h"
#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Instance;
using runtime::Layer;
using runtime::Package;
using runtime::Result;
using runtime::Status;

std::optional<Solution> tarpon::findMeasured(const Journal &journal,
                                             const Problem &problem,
                                             const TargetInfo &target) {
  std::vector<Solution> right =
      KnownRecords(problem.key(), journal, /*system=*/nullptr)
          .getRight(problem, target, {});
  if (right.empty())
    return std::nullopt;
  return std::move(right.front());
}

int64_t PackageTuning::countLeft() const {
  return llvm::count_if(problems, [](const TunedProblem &problem) {
    return problem.results.empty();
  });
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static double getModelMs(const Layer &layer) {
  std::optional<size_t> chosen = runtime::findChosen(layer);
  return chosen ? layer.candidates[*chosen].modelMs : 0;
}

/// In case the time runs out, the problems with most to gain come first.
static std::vector<TunedProblem> collectProblems(const Package &package) {
  std::vector<TunedProblem> problems;
  llvm::StringMap<size_t> known;
  for (auto [index, layer] : llvm::enumerate(package.layers)) {
    if (layer.candidates.empty())
      continue;
    auto [entry, isNew] = known.try_emplace(layer.problem, problems.size());
    if (isNew) {
      TunedProblem problem;
      problem.problem = layer.problem;
      problems.push_back(std::move(problem));
    }
    TunedProblem &problem = problems[entry->second];
    problem.layers.push_back(index);
    problem.modelMs += getModelMs(layer);
  }
  llvm::stable_sort(problems, [](const TunedProblem &a, const TunedProblem &b) {
    return a.modelMs > b.modelMs;
  });
  return problems;
}

/// The right results, the fastest first: finalists precede all others.
static std::vector<const Measurement *>
rankResults(const std::vector<Measurement> &results) {
  std::vector<const Measurement *> ranked;
  for (const Measurement &result : results)
    if (result.status == MeasurementStatus::Ok)
      ranked.push_back(&result);
  llvm::stable_sort(ranked, [](const Measurement *a, const Measurement *b) {
    if (a->stage != b->stage)
      return a->stage > b->stage;
    return a->median < b->median;
  });
  return ranked;
}

/// Finds the layer's candidate that a result belongs to, if the layer has it.
static std::optional<size_t> findCandidate(const Layer &layer,
                                           const CandidateKey &key) {
  for (auto [index, candidate] : llvm::enumerate(layer.candidates)) {
    Result<PerfConfig> config = parseJsonConfig(candidate.config);
    if (candidate.solver == key.solver && config && config->str() == key.config)
      return index;
  }
  return std::nullopt;
}

/// The result of a layer's candidate, if there is one.
static const Measurement *findResult(const std::vector<Measurement> &results,
                                     const Layer &layer, size_t candidate) {
  for (const Measurement &result : results)
    if (findCandidate(layer, result.key) == candidate)
      return &result;
  return nullptr;
}

/// Where the device has no times, the model's order is kept, without the wrong
/// candidates. One without a predicted time goes last.
static bool chooseModelled(Package &package, size_t index,
                           const std::vector<Measurement> &results) {
  Layer &layer = package.layers[index];
  std::optional<size_t> before = runtime::findChosen(layer), best;
  auto getTime = [&](size_t i) {
    double time = layer.candidates[i].modelMs;
    return time > 0 ? time : std::numeric_limits<double>::infinity();
  };
  for (size_t i = 0; i < layer.candidates.size(); ++i) {
    const Measurement *result = findResult(results, layer, i);
    if (!result || result->status != MeasurementStatus::Ok)
      continue;
    if (i == before)
      return false;
    if (!best || getTime(i) < getTime(*best))
      best = i;
  }
  if (!best)
    return false;
  runtime::chooseCandidate(package, index, *best);
  layer.source = "model";
  return true;
}

/// Layers of one problem may differ in scales, and so in candidates: each gets
/// the best of its own. Returns true if it is another one than before.
static bool chooseBest(Package &package, size_t index,
                       const std::vector<Measurement> &results) {
  bool areTimed = llvm::any_of(
      results, [](const Measurement &m) { return !m.samples.empty(); });
  if (!areTimed)
    return chooseModelled(package, index, results);
  const Layer &layer = package.layers[index];
  std::optional<size_t> before = runtime::findChosen(layer);
  for (const Measurement *result : rankResults(results))
    if (std::optional<size_t> best = findCandidate(layer, result->key)) {
      runtime::chooseCandidate(package, index, *best);
      return best != before;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

/// A NaN in the old results makes no comparison possible.
static Status compareOutputs(const Package &package, const Instance &before,
                             const Instance &after, Progress &progress) {
  for (size_t i = 0; i < package.outputs.size(); ++i) {
    const HostTensor &right = before.outputs()[i];
    Result<runtime::TensorComparison> self =
        runtime::compareTensors(right, right);
    Result<runtime::TensorComparison> distance =
        runtime::compareTensors(after.outputs()[i], right);
    if (!self || !distance || !std::isfinite(self->relativeL2)) {
      progress.remark("output '" + package.outputs[i].name +
                      "' was not finite before, and is not compared");
      continue;
    }
    if (distance->relativeL2 <= policy::kTunedMaxError)
      continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", distance->relativeL2);
    return Error{"the tuned model's output '" + package.outputs[i].name +
                 "' is off by " + text +
                 " (relative L2) from what it was before"};
  }
  return runtime::success();
}

/// Returns a layer that was computed wrongly before, if there is one.
static const Layer *findWrong(const Package &before,
                              const std::vector<TunedProblem> &problems) {
  for (const TunedProblem &problem : problems)
    for (size_t index : problem.layers) {
      const Layer &layer = before.layers[index];
      std::optional<size_t> chosen = runtime::findChosen(layer);
      const Measurement *result =
          chosen ? findResult(problem.results, layer, *chosen) : nullptr;
      if (result && result->status == MeasurementStatus::Wrong)
        return &layer;
    }
  return nullptr;
}

/// Returns the model after a run on inputs of seed 0, with poisoned memory.
static Result<Instance> runOnce(const Package &package,
                                runtime::Device &device) {
  Result<std::vector<HostTensor>> inputs =
      runtime::makeRandomInputs(package, /*seed=*/0);
  if (!inputs)
    return inputs.error();
  runtime::ExecutorOptions options;
  options.poisonMemory = true;
  Result<Instance> instance =
      Instance::create(package, device, std::move(*inputs), options);
  if (!instance)
    return instance.error();
  if (Status status = instance->run(); !status)
    return status.error();
  return instance;
}

/// Compares the model before and after, and times both in turn. `wrong` is a
/// layer that was computed wrongly before, or null.
static Status measureWhole(const Package &before, PackageTuning &tuning,
                           runtime::Device &device, const Layer *wrong,
                           Progress &progress) {
  Result<Instance> old = runOnce(before, device);
  if (!old)
    return old.error();
  Result<Instance> tuned = runOnce(tuning.package, device);
  if (!tuned)
    return tuned.error();
  if (wrong)
    progress.remark("layer '" + wrong->name + "' was computed wrongly by " +
                    wrong->solver + ": the model's results are not compared " +
                    "with what they were");
  else if (Status status = compareOutputs(before, *old, *tuned, progress);
           !status)
    return status;
  if (!device.hasTimes())
    return runtime::success();
  runtime::MeasureOptions options;
  options.minSamples = policy::kPipelineSamples;
  options.minTimeMs = policy::kPipelineMinMs;
  options.maxTimeMs = policy::kPipelineMaxMs;
  options.minSampleMs = runtime::DeviceRotation::kSampleMs;
  std::vector<std::unique_ptr<runtime::DeviceRotation>> rotations;
  std::vector<runtime::TimedRuns> timed;
  for (Instance *model : {&*old, &*tuned}) {
    auto rotation = runtime::DeviceRotation::create(model->shareExecutor(),
                                                    /*rotateBytes=*/0);
    if (!rotation)
      return rotation.error();
    timed.push_back((*rotation)->getTimed());
    rotations.push_back(std::move(*rotation));
  }
  rotations.front()->warmUp(runtime::DeviceRotation::kWarmupMs);
  std::vector<runtime::Timing> measured =
      runtime::measureInterleaved(timed, options);
  for (const auto &rotation : rotations)
    if (!rotation->getFailure())
      return rotation->getFailure();
  tuning.before = std::move(measured[0]);
  tuning.after = std::move(measured[1]);
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static Status measureProblems(PackageTuning &tuning, runtime::Device &device,
                              Progress &progress, Journal &journal,
                              const PackageTuningOptions &options) {
  const Package &package = tuning.package;
  std::unique_ptr<CandidateTrial> trial;
  if (!options.evaluatorProgram.empty())
    trial = std::make_unique<CandidateTrial>(options.evaluatorProgram);
  auto countCandidates = [&](const TunedProblem &problem) {
    return package.layers[problem.layers.front()].candidates.size();
  };
  for (const TunedProblem &problem : tuning.problems)
    progress.expect(static_cast<double>(countCandidates(problem)));
  for (auto [index, problem] : llvm::enumerate(tuning.problems)) {
    if (options.deadline.isOver())
      return runtime::success();
    const Layer &layer = package.layers[problem.layers.front()];
    progress.setPhase(layer.name + " (" + std::to_string(index + 1) + "/" +
                      std::to_string(tuning.problems.size()) + ")");
    ++tuning.search.problems;
    Result<std::vector<Measurement>> results =
        raceLayer({package, device, progress, journal, options.again,
                   options.deadline, tuning.search, trial.get()},
                  layer);
    if (!results)
      return results.error();
    problem.results = std::move(*results);
  }
  return runtime::success();
}

Result<PackageTuning> tarpon::tunePackage(Package package,
                                          runtime::Device &device,
                                          Progress &progress,
                                          const PackageTuningOptions &options) {
  PackageTuning tuning;
  tuning.package = std::move(package);
  tuning.problems = collectProblems(tuning.package);
  progress.setDeadline(options.deadline);
  std::unique_ptr<Journal> temporary;
  if (!options.journal)
    temporary = Journal::openInMemory(JournalContext());
  Journal &journal = options.journal ? *options.journal : *temporary;
  if (Status status =
          measureProblems(tuning, device, progress, journal, options);
      !status)
    return status.error();
  progress.setPhase("the whole model");
  Package before = runtime::dropCandidates(tuning.package);
  std::optional<Layer> wrong;
  if (const Layer *layer = findWrong(tuning.package, tuning.problems))
    wrong = *layer;
  for (const TunedProblem &problem : tuning.problems)
    for (size_t layer : problem.layers)
      tuning.changed += chooseBest(tuning.package, layer, problem.results);
  if (Status status = measureWhole(before, tuning, device,
                                   wrong ? &*wrong : nullptr, progress);
      !status)
    return status.error();
  progress.finish();
  return tuning;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

static void updateLayer(LayerRecord &record, const Layer &layer,
                        const std::vector<Measurement> &results) {
  std::optional<size_t> chosen = runtime::findChosen(layer);
  Result<PerfConfig> config = parseJsonConfig(layer.config);
  if (!chosen || !config)
    return;
  record.solver = layer.solver;
  record.config = *config;
  record.workspaceBytes = layer.candidates[*chosen].workspaceBytes;
  record.source = layer.source;
  for (const Measurement &result : results)
    if (result.key.solver == layer.solver &&
        result.key.config == config->str() && !result.samples.empty())
      record.timing = {result.median, result.mad,
                       static_cast<int64_t>(result.samples.size()),
                       result.maxError};
}

/// A package does not tell the choices of its regions, but their problems.
static bool isOf(const CandidateRecord &candidate, const Package &package) {
  const GlobalChoice &choice = candidate.choice;
  if (choice.getDtypeName() != package.dtype ||
      choice.getLayoutName() != package.layout ||
      choice.getFusionName() != package.fusion)
    return false;
  auto poseSame = [](const LayerRecord &record, const Layer &layer) {
    return record.problem == layer.problem;
  };
  return choice.regions.empty() ||
         std::ranges::equal(candidate.layers, package.layers, poseSame);
}

static CandidateRecord *findChoice(TuningFile &file, const Package &package) {
  for (auto [index, candidate] : llvm::enumerate(file.candidates))
    if (candidate.failure.empty() && isOf(candidate, package)) {
      file.winner = static_cast<int64_t>(index);
      return &candidate;
    }
  return nullptr;
}

Status tarpon::updateRecord(TuningFile &file, const PackageTuning &tuning,
                            const TargetInfo &target, const std::string &path) {
  const Package &package = tuning.package;
  TuningFile::Model model;
  model.sha256 = package.modelSha256;
  model.name = package.modelName;
  for (const runtime::TensorInfo &input : package.inputs)
    model.inputs[input.name] = input.shape;
  if (Status status = checkModel(file, model, path); !status)
    return status;
  CandidateRecord *candidate = findChoice(file, package);
  if (!candidate)
    return Error{path + " has no record of the package's choice, " +
                 package.dtype + "/" + package.layout + ", with fusion " +
                 package.fusion};
  llvm::StringMap<LayerRecord *> records;
  for (LayerRecord &record : candidate->layers)
    records[record.name] = &record;
  for (const TunedProblem &problem : tuning.problems)
    for (size_t index : problem.layers) {
      const Layer &layer = package.layers[index];
      auto record = records.find(layer.name);
      if (record != records.end() && record->second->problem == layer.problem)
        updateLayer(*record->second, layer, problem.results);
    }
  file.target = describeTarget(target);
  const runtime::Timing &whole = tuning.after;
  if (!whole.samplesMs.empty())
    candidate->pipeline = {whole.medianMs, whole.madMs,
                           static_cast<int64_t>(whole.samplesMs.size())};
  return runtime::success();
}
