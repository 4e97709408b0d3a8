//===- EvaluationServer.cpp - Runs and verifies candidates ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluationServer.h"
#include "Confinement.h"
#include "SampleFiles.h"

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/DeviceRotation.h"
#include "tarpon/Runtime/KernelABI.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tarpon::evaluator {

using namespace runtime;

/// The contents of outputs and their padding before the first run: NaN in every
/// float format, so that unwritten elements are noticed.
static constexpr uint8_t kPoison = 0xff;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

static Result<std::vector<HostTensor>>
loadInputs(const EvaluationRequest &request, const Package &package) {
  if (!request.samples.empty())
    return readTensors(request.samples.front());
  if (request.inputs.empty())
    return makeRandomInputs(package, request.inputSeed);
  return readTensors(request.inputs);
}

static bool sameTensors(const std::vector<TensorInfo> &left,
                        const std::vector<TensorInfo> &right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const TensorInfo &a, const TensorInfo &b) {
                      return a.dtype == b.dtype && a.shape == b.shape &&
                             a.usedPerRow == b.usedPerRow &&
                             a.quantized == b.quantized && a.scale == b.scale &&
                             a.zeroPoint == b.zeroPoint;
                    });
}

/// `device` is null for the host.
static Result<Instance> makeInstance(const EvaluationRequest &request,
                                     Package package, Device *device,
                                     std::vector<HostTensor> inputs) {
  ExecutorOptions options;
  options.threads = request.threads;
  options.paddedBuffers = true;
  options.poisonMemory = true;
  Result<std::unique_ptr<Executor>> executor =
      device ? Executor::create(std::move(package), *device, options)
             : Executor::create(std::move(package), options);
  if (!executor)
    return executor.error();
  // Times of fewer threads must not be recorded as those of so many.
  if (int threads = (*executor)->device().threads();
      !device && threads < request.threads)
    return Error{"the system has started " + std::to_string(threads) + " of " +
                 std::to_string(request.threads) + " threads"};
  Result<Instance> instance =
      Instance::create(std::move(*executor), std::move(inputs));
  if (instance)
    for (HostTensor &output : instance->outputs())
      output.data.fill(kPoison);
  return instance;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static Status checkPadding(const Instance &instance) {
  for (size_t index = 0; index < instance.outputs().size(); ++index) {
    const AlignedBuffer &data = instance.outputs()[index].data;
    const char *tail = data.data() + data.size();
    bool intact = std::all_of(tail, tail + kBufferTailPadding, [](char byte) {
      return static_cast<uint8_t>(byte) == kPoison;
    });
    if (!intact)
      return Error{"candidate writes behind the end of output " +
                   std::to_string(index)};
  }
  return success();
}

/// Returns a copy of an output with zeros, like the reference's, where the
/// tensor has no elements. Fails if the candidate wrote there.
static Result<HostTensor> withoutGaps(const HostTensor &output,
                                      const TensorInfo &info, size_t index) {
  Result<HostTensor> copy = output.clone();
  if (!copy)
    return copy.error();
  int64_t size = dtypeBytes(info.dtype), row = info.shape.back();
  for (int64_t i = 0, end = info.numElements(); i < end; ++i) {
    if (i % row < info.usedPerRow)
      continue;
    char *element = copy->data.data() + i * size;
    for (char *byte = element; byte != element + size; ++byte) {
      if (static_cast<uint8_t>(*byte) != kPoison)
        return Error{"candidate writes between the rows of output " +
                     std::to_string(index)};
      *byte = 0;
    }
  }
  return copy;
}

/// Adds the current outputs of the instance, which are those of a sample, to
/// the answer's comparisons.
static Status verify(const Instance &instance, const Reference *reference,
                     size_t sample, EvaluationAnswer &answer) {
  if (Status status = checkPadding(instance); !status || !reference)
    return status;
  if (!answer.comparison)
    answer.comparison.emplace();
  const std::vector<HostTensor> &expected = reference->samples[sample];
  answer.outputs.resize(expected.size());
  for (size_t index = 0; index < expected.size(); ++index) {
    const TensorInfo &info = reference->outputs[index];
    const HostTensor *output = &instance.outputs()[index];
    Result<HostTensor> copy = Error{""};
    if (info.usedPerRow) {
      copy = withoutGaps(*output, info, index);
      if (!copy)
        return copy.error();
      output = &*copy;
    }
    Result<TensorComparison> next = compareTensors(
        *output, expected[index], info.quantized ? info.zeroPoint : 0);
    if (!next)
      return next.error();
    mergeComparison(*answer.comparison, *next);
    mergeComparison(answer.outputs[index], *next);
  }
  return success();
}

static bool haveSameBytes(const std::vector<HostTensor> &a,
                          const std::vector<HostTensor> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const HostTensor &x, const HostTensor &y) {
                      return x.data.size() == y.data.size() &&
                             std::memcmp(x.data.data(), y.data.data(),
                                         static_cast<size_t>(x.data.size())) ==
                                 0;
                    });
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

static MeasureOptions makeOptions(const EvaluationRequest &request) {
  MeasureOptions options;
  options.minSamples = request.minSamples;
  options.minTimeMs = request.minTimeMs;
  options.maxTimeMs = request.maxTimeMs;
  options.cutoffMs = request.cutoffMs;
  options.coldConstantBytes = request.coldConstantBytes;
  return options;
}

static void addTimes(Timing measurement, EvaluationAnswer &answer) {
  answer.samplesMs = std::move(measurement.samplesMs);
  answer.medianMs = measurement.medianMs;
  answer.madMs = measurement.madMs;
  answer.isDropped = measurement.isDropped;
}

/// Times runs on rotating buffers of the host. Returns the instance that ran
/// first.
static Result<Instance> timeOnHost(const EvaluationRequest &request,
                                   Instance instance,
                                   EvaluationAnswer &answer) {
  Result<std::vector<Instance>> rotation =
      makeRotation(std::move(instance), request.rotateBytes);
  if (!rotation)
    return rotation.error();
  addTimes(measure(*rotation, makeOptions(request)), answer);
  return std::move(rotation->front());
}

/// The same on a GPU, and a run after which its results are on the host.
static Result<Instance> timeOnDevice(const EvaluationRequest &request,
                                     Instance instance,
                                     EvaluationAnswer &answer) {
  Result<Timing> timing =
      measureOnDevice(instance, request.rotateBytes, makeOptions(request));
  if (!timing)
    return timing.error();
  addTimes(std::move(*timing), answer);
  if (Status status = instance.executor().poison(); !status)
    return status.error();
  if (Status status = instance.run(); !status)
    return status.error();
  return instance;
}

/// Returns what a model computes of each sample.
static Result<EvaluationAnswer> runSamples(const EvaluationRequest &request,
                                           Instance instance) {
  EvaluationAnswer answer;
  for (const std::vector<std::string> &sample : request.samples) {
    if (Status status = loadSample(sample, instance); !status)
      return status.error();
    if (Status status = instance.run(); !status)
      return status.error();
    if (Status status = checkPadding(instance); !status)
      return status.error();
    answer.results.emplace_back();
    for (const HostTensor &output : instance.outputs())
      answer.results.back().push_back(toDoubles(output));
  }
  return answer;
}

/// Runs a model on a sample, and returns how far that is from the reference.
static Result<double> compareSample(const std::vector<std::string> &sample,
                                    Instance &instance,
                                    const Reference &reference, size_t index) {
  if (Status status = loadSample(sample, instance); !status)
    return status.error();
  if (Status status = instance.run(); !status)
    return status.error();
  EvaluationAnswer compared;
  if (Status status = verify(instance, &reference, index, compared); !status)
    return status.error();
  return compared.comparison->relativeL2;
}

/// Compares a model with the reference on each sample, and on the first one
/// once more: a race between threads, or memory that holds an earlier run's
/// values, does not show in the first run.
static Result<EvaluationAnswer> compareSamples(const EvaluationRequest &request,
                                               Instance instance,
                                               const Reference &reference) {
  EvaluationAnswer answer;
  for (size_t index = 0; index < request.samples.size(); ++index) {
    Result<double> error =
        compareSample(request.samples[index], instance, reference, index);
    if (!error)
      return error.error();
    answer.sampleErrors.push_back(*error);
  }
  Result<double> again =
      compareSample(request.samples.front(), instance, reference, 0);
  if (!again)
    return again.error();
  answer.sampleErrors.front() = std::max(answer.sampleErrors.front(), *again);
  return answer;
}

/// Times the layers of a model within its runs.
static Status profile(const EvaluationRequest &request, Instance &instance,
                      EvaluationAnswer &answer) {
  constexpr int64_t kFewestRuns = 3;
  auto runs =
      static_cast<int64_t>(request.minTimeMs / std::max(answer.medianMs, 1e-3));
  runs = std::min<int64_t>(std::max(runs, kFewestRuns), request.profiledRuns);
  Result<std::vector<double>> layers = measureLayers(instance, runs);
  if (!layers)
    return layers.error();
  std::map<std::string, double> counts;
  for (size_t i = 0; i < layers->size(); ++i) {
    const std::string &problem =
        instance.executor().package().layers[i].problem;
    answer.problemsMs[problem] += (*layers)[i];
    ++counts[problem];
  }
  for (auto &[problem, milliseconds] : answer.problemsMs)
    milliseconds /= counts[problem];
  return success();
}

/// Candidates run all the same where they cannot be confined.
void EvaluationServer::confine() {
  if (isConfined)
    return;
  isConfined = true;
  if (Status status = confineProcess(); !status)
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name,
                 status.message().c_str());
}

Result<EvaluationAnswer>
EvaluationServer::evaluate(const EvaluationRequest &request) {
  Result<Package> package = readPackage(request.package);
  if (!package)
    return package.error();
  Result<std::vector<HostTensor>> inputs = loadInputs(request, *package);
  if (!inputs)
    return inputs.error();
  const Reference *reference = nullptr;
  if (request.reference) {
    Result<const Reference *> found = references.get(request, *inputs);
    if (!found)
      return found.error();
    reference = *found;
    if (!sameTensors(package->inputs, reference->inputs) ||
        !sameTensors(package->outputs, reference->outputs))
      return Error{"package '" + request.package + "' and its reference '" +
                   *request.reference + "' differ in their inputs or outputs"};
  }
  Result<Device *> device = devices.find(*package);
  if (!device)
    return device.error();
  // Drivers of GPUs need more than a confined process may do.
  bool isTimed = !*device || (*device)->hasTimes();
  if (!*device || !isTimed)
    confine();
  Result<Instance> instance =
      makeInstance(request, std::move(*package), *device, std::move(*inputs));
  if (!instance)
    return instance.error();
  if (!request.samples.empty())
    return reference ? compareSamples(request, std::move(*instance), *reference)
                     : runSamples(request, std::move(*instance));

  EvaluationAnswer answer;
  if (Status status = instance->run(); !status)
    return status.error();
  if (Status status = verify(*instance, reference, /*sample=*/0, answer);
      !status)
    return status.error();
  if (!isTimed)
    return answer;
  Result<std::vector<HostTensor>> verified = cloneAll(instance->outputs());
  if (!verified)
    return verified.error();
  Result<Instance> last =
      *device ? timeOnDevice(request, std::move(*instance), answer)
              : timeOnHost(request, std::move(*instance), answer);
  if (!last)
    return last.error();
  if (!*device && request.profiledRuns > 0)
    if (Status status = profile(request, *last, answer); !status)
      return status.error();
  // The results are verified again after many runs: a race between threads, or
  // memory that holds an earlier run's values, does not show in the first run.
  // Usually the bits are the same, which is quick to check.
  Status status = haveSameBytes(last->outputs(), *verified)
                      ? checkPadding(*last)
                      : verify(*last, reference, /*sample=*/0, answer);
  if (!status)
    return status.error();
  return answer;
}

EvaluationAnswer EvaluationServer::answer(const std::string &line) {
  EvaluationAnswer failure;
  failure.outcome = EvaluationOutcome::Failed;
  Result<EvaluationRequest> request = parseEvaluationRequest(line);
  if (!request) {
    failure.error = request.message();
    return failure;
  }
  Result<EvaluationAnswer> answer = evaluate(*request);
  if (answer) {
    answer->id = request->id;
    return std::move(*answer);
  }
  failure.id = request->id;
  failure.error = answer.message();
  if (!devices.areAlive()) {
    failure.outcome = EvaluationOutcome::Crashed;
    failure.error = "candidate made the device fail: " + failure.error;
  }
  return failure;
}

} // namespace tarpon::evaluator
