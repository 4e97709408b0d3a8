//===- DeviceRace.cpp - Measures a problem's candidates on a GPU ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates run in this process: what brings the GPU down ends the run, and is
// recorded as crashed. What brings the process down is left out by those that
// follow when that has happened twice.
//
//===----------------------------------------------------------------------===//

#include "DeviceRace.h"

#include "tarpon/Autotune/Policy.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;
using runtime::Status;
using runtime::TensorInfo;

//===----------------------------------------------------------------------===//
// Candidates on the device
//===----------------------------------------------------------------------===//

/// A candidate as often as the caches call for, run in turn.
struct DeviceRace::Rotation {
  std::vector<std::unique_ptr<GpuExecutor>> executors;
  runtime::Device *device = nullptr;
  size_t next = 0;
  Status failure = runtime::success();

  double time(int runs) {
    Result<double> milliseconds = device->time([&] {
      Status status = runtime::success();
      for (int i = 0; i < runs && status; ++i) {
        status = executors[next]->enqueue();
        next = (next + 1) % executors.size();
      }
      return status;
    });
    if (milliseconds)
      return *milliseconds;
    failure = milliseconds.error();
    return std::numeric_limits<double>::infinity();
  }
  runtime::TimedRuns getTimed() {
    return {[this](int runs) { return time(runs); },
            static_cast<int>(executors.size())};
  }
};

static std::vector<void *> getPointers(std::vector<HostTensor> &tensors) {
  std::vector<void *> pointers;
  for (HostTensor &tensor : tensors)
    pointers.push_back(tensor.data.data());
  return pointers;
}

static int64_t countBytes(const runtime::Package &package) {
  int64_t bytes =
      static_cast<int64_t>(package.constants.size()) + package.arenaBytes;
  for (const auto *list : {&package.inputs, &package.outputs})
    for (const TensorInfo &info : *list)
      bytes += info.numBytes();
  return bytes;
}

Result<std::vector<HostTensor>> DeviceRace::makeOutputTensors() const {
  runtime::Package border;
  border.outputs = outputInfos;
  return runtime::makeOutputs(border);
}

/// The outputs are those of the first run of the first instance.
Result<DeviceRace::Rotation> DeviceRace::makeRotation(size_t index,
                                                      Tensors &outputs) {
  runtime::Package package = runtime::extractCandidate(
      context.package, layer, layer.candidates[index], inputInfos, outputInfos);
  int64_t each = std::max<int64_t>(1, countBytes(package));
  int64_t count = std::min(rotateBytes / each + 1, policy::kMaxDeviceInstances);
  Rotation rotation;
  rotation.device = &context.device;
  for (int64_t i = 0; i < count; ++i) {
    Result<std::unique_ptr<GpuExecutor>> executor =
        GpuExecutor::create(package, context.device);
    if (!executor)
      return executor.error();
    rotation.executors.push_back(std::move(*executor));
  }
  Result<Tensors> others = makeOutputTensors();
  if (!others)
    return others.error();
  for (std::unique_ptr<GpuExecutor> &executor : rotation.executors)
    if (Status status =
            run(*executor,
                &executor == &rotation.executors.front() ? outputs : *others);
        !status)
      return status.error();
  return rotation;
}

Status DeviceRace::run(GpuExecutor &executor, Tensors &outputs) {
  if (Status status = executor.poison(); !status)
    return status;
  std::vector<void *> in = getPointers(inputs);
  return executor.run(std::vector<const void *>(in.begin(), in.end()),
                      getPointers(outputs));
}

//===----------------------------------------------------------------------===//
// What candidates work on
//===----------------------------------------------------------------------===//

DeviceRace::DeviceRace(Context context, const runtime::Layer &layer)
    : context(context), layer(layer),
      isEmulated(context.package.arch == runtime::kEmulatedArch),
      chosen(runtime::findChosen(layer).value_or(0)),
      results(layer.candidates.size()), isKnown(layer.candidates.size()),
      isNew(layer.candidates.size()) {
  for (size_t i = 0; i < layer.candidates.size(); ++i)
    if (layer.candidates[i].solver == policy::kArbiter)
      arbiter = i;
}

DeviceRace::~DeviceRace() = default;

/// As it lies in memory; of a slice, the rows of the tensor that it is one of.
static TensorInfo describeTensor(const TensorDesc &desc, std::string name) {
  TensorInfo info;
  info.name = std::move(name);
  info.dtype = desc.dtype;
  info.shape = {desc.numBytes() / runtime::dtypeBytes(desc.dtype)};
  if (desc.pitch) {
    info.shape = {desc.numElements() / desc.shape[1], desc.pitch};
    info.usedPerRow = desc.shape[1];
  }
  return info;
}

Status DeviceRace::prepare() {
  std::string fault;
  mlir::FailureOr<Problem> parsed = parseProblem(layer.problem, &fault);
  if (failed(parsed))
    return Error{"layer '" + layer.name + "' poses '" + layer.problem +
                 "', which this build cannot read: " + fault};
  problem = *parsed;
  if (problem.operands.size() != layer.operands.size() ||
      problem.numResults() != static_cast<int64_t>(layer.results.size()))
    return Error{"layer '" + layer.name +
                 "' has other operands than its problem"};
  for (auto [index, desc] : llvm::enumerate(problem.operands)) {
    TensorInfo info = describeTensor(desc, "operand" + std::to_string(index));
    if (layer.operands[index].space == runtime::BufferSpace::Constant) {
      info.shape = {0};
      info.usedPerRow = 0;
    }
    inputInfos.push_back(std::move(info));
  }
  for (int64_t i = 0; i < problem.numResults(); ++i)
    outputInfos.push_back(
        describeTensor(problem.getResult(i), "result" + std::to_string(i)));
  for (auto [index, candidate] : llvm::enumerate(layer.candidates)) {
    Result<PerfConfig> config = PerfConfig::parseJson(candidate.config);
    if (!config)
      return Error{"layer '" + layer.name + "': " + config.message()};
    results[index].key = {layer.problem, candidate.solver, config->str()};
    results[index].workspaceBytes = candidate.workspaceBytes;
  }
  return makeInputs();
}

/// Where integers may be indices, zero is one in any case.
Status DeviceRace::makeInputs() {
  runtime::Package border;
  border.inputs = inputInfos;
  constexpr uint64_t kSeed = 1;
  Result<Tensors> made = runtime::makeRandomInputs(border, kSeed);
  if (!made)
    return made.error();
  inputs = std::move(*made);
  for (HostTensor &tensor : inputs)
    if (tensor.dtype == DType::I32 || tensor.dtype == DType::I64)
      tensor.data.fill(0);
  Result<GpuTarget> gpu = parseGpuTarget(context.device.target());
  if (!gpu)
    return gpu.error();
  // The emulated device has no caches.
  if (!isEmulated)
    rotateBytes = std::max(policy::kRotateBytes, 2 * gpu->l2Bytes);
  return runtime::success();
}

/// What lies between the rows of a slice is nobody's.
static void clearGaps(HostTensor &tensor, const TensorInfo &info) {
  if (info.usedPerRow == 0)
    return;
  int64_t size = runtime::dtypeBytes(info.dtype), row = info.shape.back();
  for (int64_t i = info.usedPerRow; i < info.numElements(); i += row)
    std::memset(tensor.data.data() + i * size, 0,
                static_cast<size_t>((row - info.usedPerRow) * size));
}

/// Gives what the others have to give, and wakes up the GPU.
Status DeviceRace::runChosen() {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  expected = std::move(*outputs);
  Result<Rotation> rotation = makeRotation(chosen, expected);
  if (!rotation)
    return Error{"layer '" + layer.name + "': " + rotation.message()};
  for (auto [tensor, info] : llvm::zip_equal(expected, outputInfos))
    clearGaps(tensor, info);
  referee = layer.solver;
  double spentMs = 0;
  for (int run = 0; !isEmulated && spentMs < policy::kDeviceWarmupMs &&
                    run < policy::kMaxDeviceWarmups;
       ++run)
    spentMs += rotation->time(1);
  return rotation->failure;
}

Status DeviceRace::adoptArbiter(Tensors outputs) {
  expected = std::move(outputs);
  for (auto [tensor, info] : llvm::zip_equal(expected, outputInfos))
    clearGaps(tensor, info);
  referee = policy::kArbiter;
  return runtime::success();
}

/// What the package was compiled with is no more than a model's choice. Where
/// the arbiter is not to be had, the others are compared with it all the same.
Status DeviceRace::consultArbiter() {
  if (!arbiter || *arbiter == chosen)
    return runtime::success();
  size_t index = *arbiter;
  if (!isKnown[index]) {
    if (Status status = race(index); !status)
      return status;
  } else if (results[index].status == MeasurementStatus::Ok) {
    Result<Tensors> outputs = makeOutputTensors();
    if (!outputs)
      return outputs.error();
    Result<Rotation> rotation = makeRotation(index, *outputs);
    if (!rotation)
      return Error{"layer '" + layer.name + "': " + rotation.message()};
    return adoptArbiter(std::move(*outputs));
  }
  if (results[index].status == MeasurementStatus::Ok)
    return runtime::success();
  arbiter.reset();
  context.progress.remark(
      describe(index) +
      " gives no results to compare others with: " + results[index].detail);
  return runChosen();
}

//===----------------------------------------------------------------------===//
// One candidate
//===----------------------------------------------------------------------===//

static bool haveSameBytes(const HostTensor &a, const HostTensor &b) {
  return std::memcmp(a.data.data(), b.data.data(),
                     static_cast<size_t>(a.data.size())) == 0;
}

static std::string printNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Both may be off by what the policy allows.
void DeviceRace::verify(Tensors &outputs, Measurement &result) const {
  result.status = MeasurementStatus::Ok;
  for (auto [index, output] : llvm::enumerate(outputs)) {
    clearGaps(output, outputInfos[index]);
    const HostTensor &right = expected[index];
    if (haveSameBytes(output, right))
      continue;
    Result<runtime::TensorComparison> comparison =
        runtime::compareTensors(output, right);
    // The shapes are the same.
    if (!comparison)
      continue;
    result.maxError = std::max(result.maxError, comparison->maxAbsError);
    result.relativeL2 = std::max(result.relativeL2, comparison->relativeL2);
    double allowed = 2 * getTolerance(problem, comparison->referenceScale,
                                      static_cast<int64_t>(index));
    // Written so that a NaN is wrong.
    if (comparison->maxAbsError <= allowed)
      continue;
    result.status = MeasurementStatus::Wrong;
    result.detail = "differs by " + printNumber(comparison->maxAbsError) +
                    " from " + referee + " where " + printNumber(allowed) +
                    " is allowed and results go up to " +
                    printNumber(comparison->referenceScale);
    return;
  }
}

/// What cannot win is dropped early.
double DeviceRace::getCutoff() const {
  double best = 0;
  for (const Measurement &result : results)
    if (result.status == MeasurementStatus::Ok && !result.samples.empty() &&
        (best == 0 || result.median < best))
      best = result.median;
  return best * policy::kFinalistRatio;
}

static void takeSamples(const runtime::Measurement &measured,
                        Measurement &result) {
  result.samples = measured.samplesMs;
  result.median = measured.medianMs;
  result.mad = measured.madMs;
  result.isDropped = measured.isDropped;
}

Status DeviceRace::measure(size_t index, Measurement &result) {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<Rotation> rotation = makeRotation(index, *outputs);
  if (!rotation)
    return rotation.error();
  if (arbiter == index && referee != policy::kArbiter) {
    if (Status status = adoptArbiter(std::move(*outputs)); !status)
      return status;
    outputs = makeOutputTensors();
    if (!outputs)
      return outputs.error();
    result.status = MeasurementStatus::Ok;
  } else {
    verify(*outputs, result);
  }
  isDisputed |= result.status != MeasurementStatus::Ok && !arbiter;
  // The emulator's times say nothing.
  if (result.status != MeasurementStatus::Ok || isEmulated)
    return runtime::success();
  runtime::MeasureOptions options;
  options.minSamples = policy::kRaceSamples;
  options.minTimeMs = policy::kRaceMinMs;
  options.maxTimeMs = policy::kRaceMaxMs;
  options.minSampleMs = policy::kDeviceSampleMs;
  options.cutoffMs = getCutoff();
  runtime::TimedRuns timed = rotation->getTimed();
  takeSamples(runtime::measureInterleaved({&timed, 1}, options).front(),
              result);
  if (!rotation->failure)
    return rotation->failure;
  // Again after many runs: a race between waves, or memory that holds what an
  // earlier run left, does not show in the first one.
  Status status = run(*rotation->executors.front(), *outputs);
  if (status)
    verify(*outputs, result);
  return status;
}

Status DeviceRace::record(size_t index, Measurement result) {
  ++context.search.measured;
  context.search.dropped += result.isDropped;
  results[index] = std::move(result);
  isKnown[index] = isNew[index] = true;
  bool isVerdict = results[index].status == MeasurementStatus::Ok ||
                   results[index].status == MeasurementStatus::Wrong;
  return context.journal && !(isDisputed && isVerdict)
             ? context.journal->record(results[index])
             : runtime::success();
}

std::string DeviceRace::describe(size_t index) const {
  const CandidateKey &key = results[index].key;
  return key.solver + " {" + key.config + "} for " + key.problem;
}

/// Faults of a GPU stay: whatever runs behind one fails, too.
Status DeviceRace::checkDevice(size_t index, const std::string &failure) {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<Rotation> rotation = makeRotation(chosen, *outputs);
  if (rotation)
    return runtime::success();
  return Error{"the GPU runs nothing any more since " + describe(index) +
               " has failed (" + failure + "): " + rotation.message()};
}

Status DeviceRace::race(size_t index) {
  Measurement result = results[index];
  result.stage = MeasurementStage::Race;
  if (context.journal) {
    int64_t interrupted =
        context.journal->countInterrupted(result.key, result.stage);
    if (interrupted >= policy::kMaxInterrupted) {
      // No process of its own was at risk: it is not tried again unless all
      // is.
      result.status = MeasurementStatus::Crashed;
      result.detail =
          std::to_string(interrupted) + " runs ended while it was measured";
      return record(index, std::move(result));
    }
    if (Status status =
            context.journal->recordStarted(result.key, result.stage);
        !status)
      return status;
  }
  Status device = runtime::success();
  if (Status status = measure(index, result); !status) {
    result.status = MeasurementStatus::Failed;
    result.detail = status.message();
    device = checkDevice(index, status.message());
    if (!device)
      result.status = MeasurementStatus::Crashed;
  }
  if (Status status = record(index, std::move(result)); !status)
    return status;
  return device;
}

//===----------------------------------------------------------------------===//
// All candidates
//===----------------------------------------------------------------------===//

void DeviceRace::recall() {
  if (!context.journal || context.again)
    return;
  std::vector<Measurement> known =
      context.journal->getMeasurements(layer.problem);
  for (size_t i = 0; i < results.size(); ++i)
    for (Measurement &row : known)
      if (!isKnown[i] && row.key == results[i].key && !row.mayPass()) {
        ++context.search.reused;
        results[i] = std::move(row);
        isKnown[i] = true;
      }
}

/// Who may be the fastest, unless that is known.
std::vector<size_t> DeviceRace::getFinalists() const {
  std::vector<size_t> ranked;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].status == MeasurementStatus::Ok && !results[i].isDropped)
      ranked.push_back(i);
  llvm::stable_sort(ranked, [&](size_t a, size_t b) {
    return results[a].median < results[b].median;
  });
  size_t count = 0;
  while (count < std::min(ranked.size(), policy::kMaxFinalists) &&
         results[ranked[count]].median <=
             policy::kFinalistRatio * results[ranked[0]].median)
    ++count;
  ranked.resize(count);
  bool isDecided = llvm::none_of(isNew, [](bool is) { return is; });
  return count < 2 || isDecided ? std::vector<size_t>() : ranked;
}

Status DeviceRace::runFinal() {
  if (isEmulated || context.deadline.isOver())
    return runtime::success();
  std::vector<size_t> finalists = getFinalists();
  std::vector<Rotation> rotations;
  for (size_t index : finalists) {
    Result<Tensors> outputs = makeOutputTensors();
    if (!outputs)
      return outputs.error();
    Result<Rotation> rotation = makeRotation(index, *outputs);
    // All at once may be more than the GPU's memory holds: the race decides.
    if (!rotation) {
      context.progress.remark("the fastest for " + layer.problem +
                              " are not timed in turn: " + rotation.message());
      return runtime::success();
    }
    rotations.push_back(std::move(*rotation));
  }
  std::vector<runtime::TimedRuns> timed;
  for (Rotation &rotation : rotations)
    timed.push_back(rotation.getTimed());
  runtime::MeasureOptions options;
  options.minSamples = policy::kFinalRounds * policy::kRoundSamples;
  options.minTimeMs = policy::kFinalRounds * policy::kRoundMinMs;
  options.maxTimeMs = policy::kFinalRounds * policy::kRoundMaxMs;
  options.minSampleMs = policy::kDeviceSampleMs;
  std::vector<runtime::Measurement> measured =
      runtime::measureInterleaved(timed, options);
  for (size_t i = 0; i < finalists.size(); ++i)
    if (const Status &failure = rotations[i].failure; !failure)
      if (Status status = checkDevice(finalists[i], failure.message()); !status)
        return status;
  for (size_t i = 0; i < finalists.size(); ++i) {
    Measurement result = results[finalists[i]];
    result.stage = MeasurementStage::Final;
    result.rounds = policy::kFinalRounds;
    takeSamples(measured[i], result);
    if (!rotations[i].failure) {
      result.status = MeasurementStatus::Failed;
      result.detail = rotations[i].failure.message();
    }
    if (Status status = record(finalists[i], std::move(result)); !status)
      return status;
  }
  return runtime::success();
}
