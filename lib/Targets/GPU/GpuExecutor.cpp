//===- GpuExecutor.cpp - Runs a package on a GPU --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuExecutor.h"

#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/KernelABI.h"

#include <cstring>
#include <map>

using namespace tarpon;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Device;
using runtime::DeviceGraph;
using runtime::DeviceKernel;
using runtime::DeviceMemory;
using runtime::Error;
using runtime::Launch;
using runtime::Layer;
using runtime::Package;
using runtime::Result;
using runtime::Status;
using runtime::TensorInfo;

namespace {

/// A launch with all that the device needs.
struct PreparedLaunch {
  const DeviceKernel *kernel = nullptr;
  uint32_t tasks = 0, workgroup = 0;
  std::vector<char> arguments;
};

using Memories = std::vector<std::unique_ptr<DeviceMemory>>;

} // namespace

struct GpuExecutor::State {
  Device *device = nullptr;
  Package package;
  std::unique_ptr<DeviceMemory> constants, arena;
  Memories inputs, outputs;
  std::map<std::string, std::unique_ptr<DeviceKernel>> kernels;
  /// By layer.
  std::vector<std::vector<PreparedLaunch>> layers;
  std::unique_ptr<DeviceGraph> graph;

  Status allocate();
  Status loadKernels();
  Status prepareLaunches();
  Status launchLayer(const std::vector<PreparedLaunch> &layer);
  Status launchAll();
  PreparedLaunch prepare(const Launch &launch, int64_t workgroup) const;
  char *getAddress(const BufferRef &buffer) const;
};

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// Kernels may read a little behind the end of any buffer, as on the host.
static Result<std::unique_ptr<DeviceMemory>> allocatePadded(Device &device,
                                                            int64_t bytes) {
  return device.allocate(bytes + runtime::kBufferTailPadding);
}

static Status allocateTensors(Device &device,
                              const std::vector<TensorInfo> &tensors,
                              Memories &memories) {
  for (const TensorInfo &tensor : tensors) {
    auto memory = allocatePadded(device, tensor.numBytes());
    if (!memory)
      return memory.error();
    memories.push_back(std::move(*memory));
  }
  return runtime::success();
}

Status GpuExecutor::State::allocate() {
  auto constantMemory =
      allocatePadded(*device, static_cast<int64_t>(package.constants.size()));
  if (!constantMemory)
    return constantMemory.error();
  constants = std::move(*constantMemory);
  if (Status status = device->copyIn(*constants, 0, package.constants); !status)
    return status;
  auto arenaMemory = allocatePadded(*device, package.arenaBytes);
  if (!arenaMemory)
    return arenaMemory.error();
  arena = std::move(*arenaMemory);
  if (Status status = allocateTensors(*device, package.inputs, inputs); !status)
    return status;
  return allocateTensors(*device, package.outputs, outputs);
}

Status GpuExecutor::State::loadKernels() {
  for (const runtime::CodeObjectRange &object : package.codeObjects) {
    auto kernel = device->loadKernel(
        std::span(package.kernels).subspan(object.offset, object.bytes),
        object.symbol);
    if (!kernel)
      return kernel.error();
    kernels[object.symbol] = std::move(*kernel);
  }
  return runtime::success();
}

char *GpuExecutor::State::getAddress(const BufferRef &buffer) const {
  auto at = [](const DeviceMemory &memory, int64_t offset) {
    return static_cast<char *>(memory.address()) + offset;
  };
  switch (buffer.space) {
  case BufferSpace::Constant:
    return at(*constants, buffer.offset);
  case BufferSpace::Arena:
    return at(*arena, buffer.offset);
  case BufferSpace::Input:
    return at(*inputs[buffer.offset], 0);
  case BufferSpace::Output:
    return at(*outputs[buffer.offset], 0);
  }
  return nullptr;
}

PreparedLaunch GpuExecutor::State::prepare(const Launch &launch,
                                           int64_t workgroup) const {
  PreparedLaunch prepared;
  prepared.kernel = kernels.at(launch.symbol).get();
  // The package was validated: all of this fits.
  prepared.tasks = static_cast<uint32_t>(launch.tasks);
  prepared.workgroup = static_cast<uint32_t>(workgroup);
  auto append = [&](const auto &value) {
    const char *bytes = reinterpret_cast<const char *>(&value);
    prepared.arguments.insert(prepared.arguments.end(), bytes,
                              bytes + sizeof(value));
  };
  for (const BufferRef &buffer : launch.buffers)
    append(getAddress(buffer));
  for (int64_t param : launch.params)
    append(static_cast<uint32_t>(param));
  return prepared;
}

Status GpuExecutor::State::prepareLaunches() {
  std::map<std::string, int64_t> workgroups;
  for (const runtime::CodeObjectRange &object : package.codeObjects)
    workgroups[object.symbol] = object.workgroup;
  for (const Layer &layer : package.layers) {
    std::vector<PreparedLaunch> &list = layers.emplace_back();
    for (const Launch &launch : layer.launches)
      if (launch.tasks > 0)
        list.push_back(prepare(launch, workgroups.at(launch.symbol)));
  }
  return runtime::success();
}

/// The chip of "gfx942:cu=304".
static std::string getChip(const std::string &target) {
  return target.substr(0, target.find(':'));
}

GpuExecutor::GpuExecutor() : state(std::make_unique<State>()) {}
GpuExecutor::~GpuExecutor() = default;

Result<std::unique_ptr<GpuExecutor>> GpuExecutor::create(Package package,
                                                         Device &device) {
  if (!package.isForGpu())
    return Error{"it was compiled for " + package.arch + ", not for a GPU"};
  if (getChip(package.gpuTarget) != getChip(device.target()))
    return Error{"it was compiled for " + package.gpuTarget +
                 ", and this GPU is " + device.target()};
  if (Status status = runtime::validatePackage(package); !status)
    return Error{"it is malformed: " + status.message()};
  std::unique_ptr<GpuExecutor> executor(new GpuExecutor());
  State &state = *executor->state;
  state.device = &device;
  state.package = runtime::hasCandidates(package)
                      ? runtime::dropCandidates(package)
                      : std::move(package);
  for (auto step :
       {&State::allocate, &State::loadKernels, &State::prepareLaunches})
    if (Status status = (state.*step)(); !status)
      return status.error();
  if (Status status = device.synchronize(); !status)
    return status.error();
  // Both are on the GPU now.
  state.package.constants = {};
  state.package.kernels = {};
  auto graph = device.capture([&state] { return state.launchAll(); });
  if (!graph)
    return graph.error();
  state.graph = std::move(*graph);
  return executor;
}

const Package &GpuExecutor::package() const { return state->package; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status
GpuExecutor::State::launchLayer(const std::vector<PreparedLaunch> &layer) {
  for (const PreparedLaunch &launch : layer)
    if (Status status = device->launch(
            *launch.kernel,
            {{launch.tasks, 1, 1}, launch.workgroup, launch.arguments});
        !status)
      return status;
  return runtime::success();
}

Status GpuExecutor::State::launchAll() {
  for (const std::vector<PreparedLaunch> &layer : layers)
    if (Status status = launchLayer(layer); !status)
      return status;
  return runtime::success();
}

Status GpuExecutor::run(std::span<const void *const> inputs,
                        std::span<void *const> outputs) {
  State &s = *state;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    if (Status status = s.device->copyIn(
            *s.inputs[i], 0,
            {static_cast<const char *>(inputs[i]),
             static_cast<size_t>(s.package.inputs[i].usedBytes())});
        !status)
      return status;
  if (Status status = s.device->launch(*s.graph); !status)
    return status;
  for (size_t i = 0; i < s.outputs.size(); ++i)
    if (Status status = s.device->copyOut(
            {static_cast<char *>(outputs[i]),
             static_cast<size_t>(s.package.outputs[i].usedBytes())},
            *s.outputs[i], 0);
        !status)
      return status;
  return s.device->synchronize();
}

Status GpuExecutor::poison() {
  std::vector<const DeviceMemory *> memories = {state->arena.get()};
  for (const std::unique_ptr<DeviceMemory> &output : state->outputs)
    memories.push_back(output.get());
  for (const DeviceMemory *memory : memories) {
    std::vector<char> bytes(static_cast<size_t>(memory->size()), '\xff');
    if (Status status = state->device->copyIn(*memory, 0, bytes); !status)
      return status;
    // The bytes go.
    if (Status status = state->device->synchronize(); !status)
      return status;
  }
  return runtime::success();
}

Status GpuExecutor::enqueue() { return state->device->launch(*state->graph); }

Result<double> GpuExecutor::timeRun() {
  return state->device->time([this] { return enqueue(); });
}

Result<std::vector<double>> GpuExecutor::timeLayers() {
  std::vector<double> times;
  for (const std::vector<PreparedLaunch> &layer : state->layers) {
    Result<double> time =
        state->device->time([&] { return state->launchLayer(layer); });
    if (!time)
      return time.error();
    times.push_back(*time);
  }
  return times;
}
