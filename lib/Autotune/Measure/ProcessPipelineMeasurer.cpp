//===- ProcessPipelineMeasurer.cpp - Measures whole models here -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ProcessPipelineMeasurer.h"

#include "Measure/EvaluationStatus.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Npy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace tarpon;
using runtime::Error;
using runtime::EvaluationAnswer;
using runtime::EvaluationOutcome;
using runtime::EvaluationRequest;
using runtime::Result;
using runtime::Status;

ProcessPipelineMeasurer::ProcessPipelineMeasurer(const PipelineContext &context)
    : PipelineMeasurer(context), evaluator(context.evaluatorProgram) {}

/// The evaluator reads inputs from files.
Result<ProcessPipelineMeasurer::Files>
ProcessPipelineMeasurer::writeSamples(const CalibrationInputs &inputs,
                                      const std::string &prefix) {
  Files files;
  for (const auto &sample : inputs.samples) {
    files.emplace_back();
    for (const runtime::HostTensor &tensor : sample) {
      std::string path =
          directory->file(prefix + "-" + std::to_string(files.size()) + "-" +
                          std::to_string(files.back().size()) + ".npy");
      if (Status status = runtime::writeNpy(tensor, path); !status)
        return status.error();
      files.back().push_back(path);
    }
  }
  return files;
}

Status ProcessPipelineMeasurer::ensureInputs() {
  if (directory)
    return runtime::success();
  Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
  if (!created)
    return created.error();
  directory = std::move(*created);
  Result<Files> files = writeSamples(context.inputs, "input");
  if (!files)
    return files.error();
  inputFiles = std::move(*files);
  return runtime::success();
}

/// Makes the reference, all of whose kernels are verified. It is built when it
/// is first needed, so that it has tuned kernels if fp32 is among the choices.
Status ProcessPipelineMeasurer::ensureReference() {
  if (!reference.empty())
    return runtime::success();
  Result<PreparedModel> prepared = context.model.prepare(kReferenceChoice);
  if (!prepared)
    return prepared.error();
  Result<CompiledModel> compiled =
      context.model.lower(std::move(*prepared),
                          [this](const Problem &problem, const std::string &) {
                            return context.tuner.getTrusted(problem);
                          });
  if (!compiled)
    return compiled.error();
  std::string path = directory->file("reference.tpn");
  Status status = runtime::writePackage(compiled->package, path);
  if (status)
    reference = path;
  return status;
}

Status ProcessPipelineMeasurer::calibrate(Fusion fusion) {
  return context.model.calibrate(
      fusion, context.inputs,
      [this](const Problem &problem, const std::string &) {
        return context.tuner.getTrusted(problem);
      });
}

Result<Solution> ProcessPipelineMeasurer::solve(const Problem &problem) {
  return context.tuner.lookUp(problem);
}

static constexpr std::chrono::milliseconds getTimeLimit() {
  return std::chrono::milliseconds(
      static_cast<int64_t>(policy::kPipelineTimeLimitSeconds * 1000));
}

/// Adds the samples of an answer, or the reason why there are none. Returns
/// true on success.
static bool addAnswer(PipelineMeasurement &measurement,
                      const EvaluationAnswer &answer) {
  measurement.status = toStatus(answer.outcome);
  measurement.detail = answer.error;
  return answer.outcome == EvaluationOutcome::Ok;
}

static void addSamples(PipelineMeasurement &measurement,
                       const EvaluationAnswer &answer) {
  llvm::append_range(measurement.samples, answer.samplesMs);
  runtime::Timing summary = runtime::summarize(measurement.samples);
  measurement.median = summary.medianMs;
  measurement.mad = summary.madMs;
}

EvaluationRequest ProcessPipelineMeasurer::makeRequest(
    const std::string &package, const std::vector<std::string> &files) const {
  EvaluationRequest request;
  request.package = package;
  request.inputs = files;
  request.threads =
      static_cast<int>(context.model.getKernelCompiler().getTarget().threads);
  request.minSamples = policy::kPipelineSamples;
  request.minTimeMs = policy::kPipelineMinMs;
  request.maxTimeMs = policy::kPipelineMaxMs;
  return request;
}

/// Measures the time on the first sample.
Status ProcessPipelineMeasurer::time(const CompiledChoice &choice,
                                     PipelineMeasurement &measurement) {
  context.progress.setPhase(choice.record.choice.name() + ": whole model");
  if (Status status = ensureInputs(); !status)
    return status;
  EvaluationRequest request = makeRequest(choice.package, inputFiles.front());
  request.profiledRuns = timesLayers ? policy::kProfiledRuns : 0;
  Result<EvaluationAnswer> answer = evaluator.evaluate(request, getTimeLimit());
  if (!answer)
    return answer.error();
  measurement.problemsMs = std::move(answer->problemsMs);
  if (addAnswer(measurement, *answer))
    addSamples(measurement, *answer);
  return runtime::success();
}

/// Adds the errors of samples, or the reason why there are none. Returns true
/// on success.
Result<bool> ProcessPipelineMeasurer::compareSamples(
    const CompiledChoice &choice,
    llvm::ArrayRef<std::vector<std::string>> files, std::vector<double> &errors,
    PipelineMeasurement &measurement) {
  EvaluationRequest request = makeRequest(choice.package, {});
  request.reference = reference;
  request.samples = files;
  Result<EvaluationAnswer> answer = evaluator.evaluate(
      request, getTimeLimit() * static_cast<int>(files.size()));
  if (!answer)
    return answer.error();
  if (!addAnswer(measurement, *answer))
    return false;
  if (answer->sampleErrors.size() != files.size())
    return Error{"the evaluator '" + context.evaluatorProgram +
                 "' gives no errors of samples"};
  llvm::append_range(errors, answer->sampleErrors);
  return true;
}

/// Measures the accuracy on all samples that count: on the first one alone, so
/// that a choice that hangs takes the time of one sample.
Status ProcessPipelineMeasurer::compare(const CompiledChoice &choice,
                                        PipelineMeasurement &measurement) {
  context.progress.setPhase(choice.record.choice.name() + ": accuracy");
  if (Status status = ensureInputs(); !status)
    return status;
  if (Status status = ensureReference(); !status)
    return status;
  llvm::ArrayRef files(inputFiles);
  files = files.take_front(countSamples(choice.record.choice, files.size()));
  std::vector<double> errors;
  for (llvm::ArrayRef part : {files.take_front(), files.drop_front()}) {
    if (part.empty())
      continue;
    Result<bool> isCompared = compareSamples(choice, part, errors, measurement);
    if (!isCompared)
      return isCompared.error();
    if (!*isCompared)
      return runtime::success();
  }
  measurement.accuracy = runtime::rootMeanSquare(errors);
  if (std::isfinite(measurement.accuracy))
    return runtime::success();
  measurement.status = MeasurementStatus::Wrong;
  measurement.detail = "an output has a NaN or an infinity";
  return runtime::success();
}

/// Answers are lines of limited length.
static size_t countSamplesPerRequest(ModelCompiler &model) {
  int64_t elements = 1;
  for (const runtime::TensorInfo &output : model.getOutputs())
    elements += output.numElements();
  return std::clamp<int64_t>(policy::kMaxResultsPerRequest / elements, 1,
                             policy::kMaxSamples);
}

Result<SampleResults>
ProcessPipelineMeasurer::runSamples(const CompiledChoice *choice,
                                    PipelineMeasurement &measurement) {
  context.progress.setPhase((choice ? choice->record.choice.name() : "fp32") +
                            ": " + context.goal->metric->getName());
  for (auto ensure : {&ProcessPipelineMeasurer::ensureInputs,
                      &ProcessPipelineMeasurer::ensureReference})
    if (Status status = (this->*ensure)(); !status)
      return status.error();
  if (goalFiles.empty()) {
    Result<Files> files = writeSamples(context.goal->inputs, "sample");
    if (!files)
      return files.error();
    goalFiles = std::move(*files);
  }
  size_t most = countSamplesPerRequest(context.model);
  SampleResults results;
  while (results.size() < goalFiles.size()) {
    EvaluationRequest request =
        makeRequest(choice ? choice->package : reference, {});
    llvm::ArrayRef<std::vector<std::string>> rest = goalFiles;
    rest = rest.drop_front(results.size()).take_front(most);
    request.samples = rest;
    Result<EvaluationAnswer> answer = evaluator.evaluate(
        request, getTimeLimit() * static_cast<int>(rest.size()));
    if (!answer)
      return answer.error();
    if (!addAnswer(measurement, *answer))
      break;
    llvm::append_range(results, std::move(answer->results));
  }
  return results;
}

Status ProcessPipelineMeasurer::timeAgain(const CompiledChoice &choice,
                                          PipelineMeasurement &measurement) {
  context.progress.setPhase(choice.record.choice.name() + ": once more");
  if (Status status = ensureInputs(); !status)
    return status;
  EvaluationRequest request = makeRequest(choice.package, inputFiles.front());
  request.minSamples = policy::kPipelineRoundSamples;
  Result<EvaluationAnswer> answer = evaluator.evaluate(request, getTimeLimit());
  if (!answer)
    return answer.error();
  // The first measurement was not interleaved with others.
  if (measurement.rounds == 0)
    measurement.samples.clear();
  ++measurement.rounds;
  if (addAnswer(measurement, *answer))
    addSamples(measurement, *answer);
  return runtime::success();
}
