//===- DeviceMeasurer.cpp - Measures a layer on a device ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates run in this process, after a trial in another one if there is an
// evaluator: one that makes the device fail here ends the run and is recorded
// as crashed.
//
//===----------------------------------------------------------------------===//

#include "Measure/DeviceMeasurer.h"

#include "Measure/EvaluationStatus.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

using namespace tarpon;
using runtime::DeviceRotation;
using runtime::Error;
using runtime::HostTensor;
using runtime::Result;
using runtime::Status;
using runtime::TensorInfo;

//===----------------------------------------------------------------------===//
// Candidates on the device
//===----------------------------------------------------------------------===//

static std::vector<void *> getPointers(std::vector<HostTensor> &tensors) {
  std::vector<void *> pointers;
  for (HostTensor &tensor : tensors)
    pointers.push_back(tensor.data.data());
  return pointers;
}

Result<std::vector<HostTensor>> DeviceMeasurer::makeOutputTensors() const {
  runtime::Package border;
  border.outputs = outputInfos;
  return runtime::makeOutputs(border);
}

runtime::Package DeviceMeasurer::extract(size_t index) const {
  return runtime::extractCandidate(package, layer, layer.candidates[index],
                                   inputInfos, outputInfos);
}

/// Makes a rotation. The outputs are those of the first run of the first
/// instance.
Result<std::unique_ptr<DeviceRotation>>
DeviceMeasurer::makeRotation(size_t index, Tensors &outputs) {
  Result<std::unique_ptr<runtime::Executor>> executor =
      runtime::Executor::create(extract(index), device);
  if (!executor)
    return executor.error();
  if (Status status = run(**executor, outputs); !status)
    return status.error();
  return DeviceRotation::create(std::move(*executor), rotateBytes);
}

Status DeviceMeasurer::run(runtime::Executor &executor, Tensors &outputs) {
  if (Status status = executor.poison(); !status)
    return status;
  std::vector<void *> in = getPointers(inputs);
  return executor.run(std::vector<const void *>(in.begin(), in.end()),
                      getPointers(outputs));
}

//===----------------------------------------------------------------------===//
// The layer and its problem
//===----------------------------------------------------------------------===//

DeviceMeasurer::DeviceMeasurer(const runtime::Package &package,
                               const runtime::Layer &layer,
                               runtime::Device &device, Progress &progress,
                               CandidateTrial *trial)
    : package(package), layer(layer), device(device), progress(progress),
      trial(trial), chosen(runtime::findChosen(layer).value_or(0)) {}

DeviceMeasurer::~DeviceMeasurer() = default;

Result<std::unique_ptr<DeviceMeasurer>>
DeviceMeasurer::create(const runtime::Package &package,
                       const runtime::Layer &layer, runtime::Device &device,
                       Progress &progress, CandidateTrial *trial) {
  std::unique_ptr<DeviceMeasurer> measurer(
      new DeviceMeasurer(package, layer, device, progress, trial));
  if (Status status = measurer->describeLayer(); !status)
    return status.error();
  if (Status status = measurer->askTarget(); !status)
    return status.error();
  if (Status status = measurer->makeInputs(); !status)
    return status.error();
  return measurer;
}

Status DeviceMeasurer::askTarget() {
  Result<std::shared_ptr<const Target>> target =
      findPackageTarget(package, device.target());
  if (!target)
    return target.error();
  const TargetInfo &info = (*target)->getInfo();
  arbiterId = info.traits->getArbiter();
  rounding = info.traits->getProductRounding(problem, info);
  for (size_t i = 0; i < layer.candidates.size(); ++i)
    if (layer.candidates[i].solver == arbiterId)
      arbiter = i;
  // A device without times verifies candidates only.
  if (device.hasTimes())
    rotateBytes = std::max(policy::kRotateBytes, 2 * info.l2Bytes);
  return runtime::success();
}

/// Describes the tensor as it lies in memory: for a slice, all bytes from its
/// first row to its last.
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

Status DeviceMeasurer::describeLayer() {
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
  for (const runtime::Candidate &candidate : layer.candidates) {
    Result<PerfConfig> config = parseJsonConfig(candidate.config);
    if (!config)
      return Error{"layer '" + layer.name + "': " + config.message()};
    keys.push_back({layer.problem, candidate.solver, config->str()});
  }
  return runtime::success();
}

std::vector<Contender> DeviceMeasurer::makeContenders() const {
  std::vector<Contender> contenders;
  for (auto [key, candidate] : llvm::zip_equal(keys, layer.candidates)) {
    Contender contender;
    contender.key = key;
    contender.workspaceBytes = candidate.workspaceBytes;
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

size_t DeviceMeasurer::findCandidate(const Contender &contender) const {
  return llvm::find(keys, contender.key) - keys.begin();
}

std::vector<size_t> DeviceMeasurer::getReferences() const {
  if (!arbiter || *arbiter == chosen)
    return {chosen};
  return {*arbiter, chosen};
}

/// Integers may be indices, for which zero is always valid.
Status DeviceMeasurer::makeInputs() {
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
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// The expected results
//===----------------------------------------------------------------------===//

/// Clears the gaps between the rows of a slice, which belong to other slices.
static void clearGaps(HostTensor &tensor, const TensorInfo &info) {
  if (info.usedPerRow == 0)
    return;
  int64_t size = runtime::dtypeBytes(info.dtype), row = info.shape.back();
  for (int64_t i = info.usedPerRow; i < info.numElements(); i += row)
    std::memset(tensor.data.data() + i * size, 0,
                static_cast<size_t>((row - info.usedPerRow) * size));
}

void DeviceMeasurer::adopt(Tensors outputs, std::string solver) {
  expected = std::move(outputs);
  for (auto [tensor, info] : llvm::zip_equal(expected, outputInfos))
    clearGaps(tensor, info);
  referee = std::move(solver);
}

/// Computes the expected results with the solution that the package was
/// compiled with.
Status DeviceMeasurer::runChosen() {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<std::unique_ptr<DeviceRotation>> rotation =
      makeRotation(chosen, *outputs);
  if (!rotation)
    return Error{"layer '" + layer.name + "': " + rotation.message()};
  adopt(std::move(*outputs), layer.solver);
  return runtime::success();
}

Status DeviceMeasurer::runArbiter() {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<std::unique_ptr<DeviceRotation>> rotation =
      makeRotation(*arbiter, *outputs);
  if (!rotation)
    return Error{"layer '" + layer.name + "': " + rotation.message()};
  adopt(std::move(*outputs), arbiterId);
  return runtime::success();
}

/// The solution that the package was compiled with is only a model's choice. If
/// the arbiter fails, candidates are compared with that solution all the same.
Status DeviceMeasurer::prepare(llvm::ArrayRef<Contender> contenders) {
  if (referee.empty())
    if (Status status = runChosen(); !status)
      return status;
  if (!arbiter || *arbiter == chosen || !contenders[*arbiter].result)
    return runtime::success();
  const Contender &known = contenders[*arbiter];
  if (known.isOk())
    return referee == arbiterId ? runtime::success() : runArbiter();
  arbiter.reset();
  progress.remark(
      known.key.solver + " {" + known.key.config + "} for " +
      known.key.problem +
      " gives no results to compare others with: " + known.result->detail);
  return runChosen();
}

std::optional<std::string> DeviceMeasurer::describeDispute() const {
  if (!isDisputed)
    return std::nullopt;
  return "without " + (arbiterId.empty() ? "an arbiter" : arbiterId) +
         " nobody can say which are right: nothing is recorded of them, and " +
         layer.solver + ", which was there before, is taken for right";
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static bool haveSameBytes(const HostTensor &a, const HostTensor &b) {
  return std::memcmp(a.data.data(), b.data.data(),
                     static_cast<size_t>(a.data.size())) == 0;
}

/// The expected results may be off by a tolerance, like the candidate's.
void DeviceMeasurer::verify(Tensors &outputs, MeasureOutcome &outcome) const {
  outcome.status = MeasurementStatus::Ok;
  std::vector<runtime::TensorComparison> comparisons(outputs.size());
  for (auto [index, output] : llvm::enumerate(outputs)) {
    clearGaps(output, outputInfos[index]);
    if (haveSameBytes(output, expected[index]))
      continue;
    // It cannot fail, since the shapes are the same.
    Result<runtime::TensorComparison> comparison =
        runtime::compareTensors(output, expected[index]);
    if (!comparison)
      continue;
    comparisons[index] = *comparison;
    outcome.maxError = std::max(outcome.maxError, comparison->maxAbsError);
    outcome.relativeL2 = std::max(outcome.relativeL2, comparison->relativeL2);
  }
  auto describe = [&](const std::string &error) {
    return "differs by " + error + " from " + referee;
  };
  auto wrong =
      findWrongResult(problem, comparisons, /*slack=*/2, describe, rounding);
  if (!wrong)
    return;
  outcome.status = MeasurementStatus::Wrong;
  outcome.detail = *wrong;
}

/// Finalists are kept between rounds, as long as the device has memory for all
/// of them.
Result<DeviceRotation *> DeviceMeasurer::getRotation(size_t index,
                                                     MeasurementStage stage,
                                                     Tensors &outputs) {
  if (stage == MeasurementStage::Race) {
    auto made = makeRotation(index, outputs);
    if (!made)
      return made.error();
    raced = std::move(*made);
    return raced.get();
  }
  std::unique_ptr<DeviceRotation> &kept = finalists[index];
  if (kept) {
    if (Status status = run(kept->getFirst(), outputs); !status)
      return status.error();
    return kept.get();
  }
  auto made = makeRotation(index, outputs);
  if (!made && finalists.size() > 1) {
    finalists.clear();
    made = makeRotation(index, outputs);
  }
  if (!made)
    return made.error();
  return (finalists[index] = std::move(*made)).get();
}

static runtime::MeasureOptions makeOptions(const Effort &effort) {
  runtime::MeasureOptions options;
  options.minSamples = effort.minSamples;
  options.minTimeMs = effort.minMs;
  options.maxTimeMs = effort.maxMs;
  options.minSampleMs = DeviceRotation::kSampleMs;
  options.cutoffMs = effort.cutoffMs;
  return options;
}

Status DeviceMeasurer::tryCandidate(size_t index, const Effort &effort,
                                    MeasureOutcome &outcome) {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<DeviceRotation *> rotation =
      getRotation(index, effort.stage, *outputs);
  if (!rotation)
    return rotation.error();
  if (arbiter == index && referee != arbiterId) {
    adopt(std::move(*outputs), arbiterId);
    outputs = makeOutputTensors();
    if (!outputs)
      return outputs.error();
    outcome.status = MeasurementStatus::Ok;
  } else {
    verify(*outputs, outcome);
  }
  isDisputed |= outcome.status != MeasurementStatus::Ok && !arbiter;
  if (outcome.status != MeasurementStatus::Ok || !device.hasTimes())
    return runtime::success();
  (*rotation)->warmUp(DeviceRotation::kWarmupMs);
  runtime::TimedRuns timed = (*rotation)->getTimed();
  outcome.timing =
      runtime::measureInterleaved({&timed, 1}, makeOptions(effort)).front();
  if (!(*rotation)->getFailure())
    return (*rotation)->getFailure();
  // The results are verified again after many runs: a race between waves, or
  // memory that holds an earlier run's values, does not show in the first run.
  Status status = run((*rotation)->getFirst(), *outputs);
  if (status)
    verify(*outputs, outcome);
  return status;
}

/// Runs a candidate in another process, unless its solution is known to run.
std::optional<MeasureOutcome> DeviceMeasurer::findFault(size_t index) {
  auto extractChosen = [this] { return extract(chosen); };
  if (!trial || index == chosen ||
      !trial->isUsable(extractChosen, problem.flops()))
    return std::nullopt;
  auto fault = trial->findFault(extract(index), problem.flops());
  if (!fault)
    return std::nullopt;
  MeasureOutcome outcome;
  outcome.status = toStatus(fault->outcome);
  outcome.detail = fault->error;
  return outcome;
}

Result<MeasureOutcome> DeviceMeasurer::measure(const Contender &contender,
                                               const Effort &effort) {
  size_t index = findCandidate(contender);
  if (effort.stage == MeasurementStage::Race)
    if (std::optional<MeasureOutcome> fault = findFault(index))
      return std::move(*fault);
  MeasureOutcome outcome;
  Status status = tryCandidate(index, effort, outcome);
  raced.reset();
  if (status)
    return outcome;
  outcome.status = MeasurementStatus::Failed;
  outcome.detail = status.message();
  outcome.timing = {};
  finalists.clear();
  outcome.afterwards = checkDevice(contender, status.message());
  if (!outcome.afterwards)
    outcome.status = MeasurementStatus::Crashed;
  return outcome;
}

/// A device stays broken after a fault: all later runs fail too.
Status DeviceMeasurer::checkDevice(const Contender &contender,
                                   const std::string &failure) {
  Result<Tensors> outputs = makeOutputTensors();
  if (!outputs)
    return outputs.error();
  Result<std::unique_ptr<DeviceRotation>> rotation =
      makeRotation(chosen, *outputs);
  if (rotation)
    return runtime::success();
  return Error{"the device runs nothing any more since " +
               contender.key.solver + " {" + contender.key.config + "} for " +
               contender.key.problem + " has failed (" + failure +
               "): " + rotation.message()};
}

/// A candidate that ended this process made the device fail. It is not tried
/// again unless everything is measured again.
std::optional<MeasurementStatus> DeviceMeasurer::getInterruptedStatus() const {
  return MeasurementStatus::Crashed;
}

bool DeviceMeasurer::isNoisy() const { return device.hasTimes(); }
