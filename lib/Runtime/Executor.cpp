//===- Executor.cpp - Runs a package on a device ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that can be prepared is prepared before a run: a run patches the
// pointers that refer to inputs and outputs and then launches one graph.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Executor.h"

#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/SizedPackage.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <string>

namespace tarpon::runtime {

namespace {

using Memory = std::unique_ptr<DeviceMemory>;

/// The data that an executor shares with its replicas.
struct Shared {
  /// The executor's own device, if it was given none.
  std::unique_ptr<Device> owned;
  Device *device = nullptr;
  std::map<std::string, std::unique_ptr<DeviceKernel>> kernels;
  /// The size of the package's constants.
  int64_t constantBytes = 0;
  /// The lanes and the dynamic LDS per task of GPUs' kernels.
  std::map<std::string, CodeObjectRange> codeObjects;

  Status loadKernels(const Package &package);
  Status load(std::span<const char> code, std::span<const std::string> symbols);
};

struct PreparedLaunch {
  const DeviceKernel *kernel = nullptr;
  DeviceLaunch launch;
};

/// A pointer of a launch that is known only when a run starts.
struct Patch {
  size_t pointer;
  size_t index;
};

/// The model's inputs or outputs: the pointers to patch, and the staging memory
/// for bytes on which kernels cannot work in place.
struct Border {
  std::vector<Patch> patches;
  /// Null for memory that nothing has been copied to yet.
  std::vector<Memory> staging;
  /// The memory that this run uses, one per tensor.
  std::vector<void *> current;

  Status allocate(Device &device, const std::vector<TensorInfo> &tensors);
  Status bind(Device &device, size_t index, const TensorInfo &tensor,
              const void *pointer, bool isPadded, bool isInput);
  /// Leaves it to the first run that copies to allocate memory.
  void defer(size_t count) {
    staging.resize(count);
    current.resize(count);
  }
  bool isStaged(size_t index) const {
    return staging[index] && current[index] == staging[index]->address();
  }
  void apply(std::vector<void *> &pointers) const {
    for (const Patch &patch : patches)
      pointers[patch.pointer] = current[patch.index];
  }
};

} // namespace

struct Executor::State {
  std::shared_ptr<Shared> shared;
  Package package;
  ExecutorOptions options;
  std::shared_ptr<DeviceMemory> constants, arena;
  Border inputs, outputs;
  std::vector<void *> pointers;
  /// The pointers into the caller's arena, with their offsets.
  std::vector<std::pair<size_t, int64_t>> arenaPatches;
  std::vector<PreparedLaunch> launches;
  /// One past the last launch of each layer.
  std::vector<size_t> layerEnds;
  std::unique_ptr<DeviceGraph> graph;

  static Result<std::unique_ptr<Executor>>
  create(Package package, std::shared_ptr<Shared> on, ExecutorOptions options);
  static Result<std::unique_ptr<Executor>>
  makeExecutor(std::shared_ptr<Shared> shared, Package package,
               ExecutorOptions options, AlignedBytes constantBytes,
               const State *original);
  Result<std::unique_ptr<Executor>> replicate() const;
  Result<std::unique_ptr<Executor>>
  makeFor(std::span<const int64_t> sizes) const;

  Device &device() const { return *shared->device; }
  int64_t getArenaBytes() const;
  Status make(AlignedBytes constantBytes, const State *original);
  Status allocateConstants(AlignedBytes bytes, const State *original);
  Status allocate(AlignedBytes constantBytes, const State *original);
  Status allocateBorder(const State *original);
  Status prepare();
  Status poison();
  Status fillOutputs(uint8_t value);
  void prepareLaunch(const Launch &launch);
  void resolve(const BufferRef &buffer);
  Status bind(std::span<const void *const> inputPointers,
              std::span<void *const> outputPointers);
  void bindArena(void *memory);
  Status launch(size_t begin, size_t end);
  Status finish(std::span<void *const> outputPointers);
  Status profile(std::vector<int64_t> &layerNanoseconds);
  template <typename Work>
  Status runOn(std::span<const void *const> inputPointers,
               std::span<void *const> outputPointers, void *callersArena,
               const Work &work);
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Error refusal(const Package &package, const std::string &why) {
  return {"cannot run the package of model '" + package.modelName +
          "': " + why};
}

Status Shared::load(std::span<const char> code,
                    std::span<const std::string> symbols) {
  auto loaded = device->load(code, symbols);
  if (!loaded)
    return loaded.error();
  for (std::unique_ptr<DeviceKernel> &kernel : *loaded)
    kernels[kernel->symbol()] = std::move(kernel);
  return success();
}

/// There is a code object per symbol, or one for all.
Status Shared::loadKernels(const Package &package) {
  for (const CodeObjectRange &object : package.codeObjects) {
    codeObjects[object.symbol] = object;
    if (Status status = load(
            std::span(package.kernels).subspan(object.offset, object.bytes),
            {&object.symbol, 1});
        !status)
      return status;
  }
  if (!package.codeObjects.empty() || package.kernels.empty())
    return success();
  std::vector<std::string> symbols = package.symbols;
  for (const Layer &layer : package.layers)
    for (const Launch &launch : layer.launches)
      symbols.push_back(launch.symbol);
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return load(package.kernels, symbols);
}

template <typename Owner>
static Status allocateInto(Device &device, Owner &memory, int64_t bytes) {
  Result<Memory> allocated = device.allocate(bytes);
  if (!allocated)
    return allocated.error();
  memory = std::move(*allocated);
  return success();
}

Status Border::allocate(Device &device,
                        const std::vector<TensorInfo> &tensors) {
  staging.resize(tensors.size());
  for (size_t index = 0; index < tensors.size(); ++index) {
    if (Status status =
            allocateInto(device, staging[index], tensors[index].numBytes());
        !status)
      return status;
    current.push_back(staging[index]->address());
  }
  return success();
}

Status Executor::State::allocateConstants(AlignedBytes bytes,
                                          const State *original) {
  if (original) {
    if (Status status =
            allocateInto(device(), constants, original->constants->size());
        !status)
      return status;
    return device().copy(*constants, *original->constants);
  }
  Result<Memory> uploaded = device().upload(std::move(bytes));
  if (!uploaded)
    return uploaded.error();
  constants = std::move(*uploaded);
  return success();
}

/// The programs of all sizes work in the same arena, of which those for small
/// sizes touch the beginning.
int64_t Executor::State::getArenaBytes() const {
  int64_t bytes = package.arenaBytes;
  for (const ProgramRange &range : package.programRanges)
    bytes = std::max(bytes, range.arenaBytes);
  return bytes;
}

/// The constants and the inputs of an original are copied on the device.
Status Executor::State::allocate(AlignedBytes constantBytes,
                                 const State *original) {
  if (Status status = allocateConstants(std::move(constantBytes), original);
      !status)
    return status;
  if (Status status = allocateInto(device(), arena,
                                   options.callerArena ? 0 : getArenaBytes());
      !status)
    return status;
  return allocateBorder(original);
}

Status Executor::State::allocateBorder(const State *original) {
  if (Status status = inputs.allocate(device(), package.inputs); !status)
    return status;
  for (size_t i = 0; original && i < inputs.staging.size(); ++i)
    if (Status status =
            device().copy(*inputs.staging[i], *original->inputs.staging[i]);
        !status)
      return status;
  if (Status status = outputs.allocate(device(), package.outputs); !status)
    return status;
  if (options.poisonMemory)
    return poison();
  // No kernel writes between the rows of a slice, where the host's memory is
  // zero already.
  return device().sharesHostMemory() ? success() : fillOutputs(0);
}

void Executor::State::resolve(const BufferRef &buffer) {
  size_t slot = pointers.size();
  auto index = static_cast<size_t>(buffer.offset);
  auto at = [&](const std::shared_ptr<DeviceMemory> &memory) {
    return static_cast<char *>(memory->address()) + buffer.offset;
  };
  switch (buffer.space) {
  case BufferSpace::Constant:
    return pointers.push_back(at(constants));
  case BufferSpace::Arena:
    if (options.callerArena)
      arenaPatches.emplace_back(slot, buffer.offset);
    return pointers.push_back(at(arena));
  case BufferSpace::Input:
    inputs.patches.push_back({slot, index});
    return pointers.push_back(inputs.current[index]);
  case BufferSpace::Output:
    outputs.patches.push_back({slot, index});
    return pointers.push_back(outputs.current[index]);
  }
}

void Executor::State::prepareLaunch(const Launch &launch) {
  // `pointers` was reserved in full, so that its elements do not move.
  std::span<void *const> buffers(pointers.data() + pointers.size(),
                                 launch.buffers.size());
  for (const BufferRef &buffer : launch.buffers)
    resolve(buffer);
  if (launch.tasks == 0)
    return;
  PreparedLaunch &prepared = launches.emplace_back();
  prepared.kernel = shared->kernels.at(launch.symbol).get();
  prepared.launch = {buffers, launch.params, launch.tasks, /*workgroup=*/1,
                     launch.scratchBytes};
  auto object = shared->codeObjects.find(launch.symbol);
  if (object == shared->codeObjects.end())
    return;
  prepared.launch.workgroup = object->second.workgroup;
  prepared.launch.ldsBytes = object->second.ldsBytes;
}

Status Executor::State::prepare() {
  size_t numPointers = 0;
  for (const Layer &layer : package.layers)
    for (const Launch &launch : layer.launches)
      numPointers += launch.buffers.size();
  pointers.reserve(numPointers);
  for (const Layer &layer : package.layers) {
    for (const Launch &launch : layer.launches)
      prepareLaunch(launch);
    layerEnds.push_back(launches.size());
  }
  auto captured =
      device().capture([this] { return launch(0, launches.size()); });
  if (!captured)
    return captured.error();
  graph = std::move(*captured);
  return success();
}

Status Executor::State::make(AlignedBytes constantBytes,
                             const State *original) {
  if (options.callerArena && !device().sharesHostMemory())
    return Error{"an arena of the caller's is not memory of " +
                 device().name()};
  Status status = allocate(std::move(constantBytes), original);
  return status ? prepare() : status;
}

Executor::Executor() : state(std::make_unique<State>()) {}
Executor::~Executor() = default;

/// Creates everything except the kernels, which exist. `package` has no
/// constants.
Result<std::unique_ptr<Executor>> Executor::State::makeExecutor(
    std::shared_ptr<Shared> shared, Package package, ExecutorOptions options,
    AlignedBytes constantBytes, const State *original) {
  std::unique_ptr<Executor> executor(new Executor());
  State &state = *executor->state;
  state.shared = std::move(shared);
  state.package = std::move(package);
  state.options = options;
  if (Status status = state.make(std::move(constantBytes), original); !status)
    return refusal(state.package, status.message());
  return executor;
}

Result<std::unique_ptr<Executor>>
Executor::State::create(Package package, std::shared_ptr<Shared> on,
                        ExecutorOptions options) {
  if (Status status = on->device->checkPackage(package); !status)
    return refusal(package, status.message());
  if (Status status = validatePackage(package); !status)
    return refusal(package, status.message());
  if (hasCandidates(package))
    package = dropCandidates(package);
  if (Status status = on->loadKernels(package); !status)
    return refusal(package, status.message());
  AlignedBytes bytes = std::move(package.constants);
  on->constantBytes = static_cast<int64_t>(bytes.size());
  package.constants = {};
  // Decoding a program asks whether there are kernels.
  if (package.dimensions.empty())
    package.kernels = {};
  return makeExecutor(std::move(on), std::move(package), options,
                      std::move(bytes), /*original=*/nullptr);
}

Result<std::unique_ptr<Executor>>
Executor::create(Package package, Device &device, ExecutorOptions options) {
  auto shared = std::make_shared<Shared>();
  shared->device = &device;
  return State::create(std::move(package), std::move(shared), options);
}

Result<std::unique_ptr<Executor>> Executor::create(Package package,
                                                   ExecutorOptions options) {
  Result<std::unique_ptr<Device>> host = makeHostDevice(
      {options.threads, options.reverseTasks, options.poisonMemory});
  if (!host)
    return refusal(package, "it " + host.message());
  auto shared = std::make_shared<Shared>();
  shared->device = host->get();
  shared->owned = std::move(*host);
  return State::create(std::move(package), std::move(shared), options);
}

Result<std::unique_ptr<Executor>> Executor::State::replicate() const {
  if (!device().sharesHostMemory())
    return makeExecutor(shared, package, options, {}, this);
  // The host takes over the bytes of its constants.
  AlignedBytes bytes(static_cast<size_t>(constants->size()));
  if (Status status = device().copyOut(bytes, *constants, 0); !status)
    return refusal(package, status.message());
  return makeExecutor(shared, package, options, std::move(bytes), nullptr);
}

Result<std::unique_ptr<Executor>> Executor::replicate() const {
  return state->replicate();
}

/// Constants, arena and kernels are this executor's. The arena is large enough:
/// decoding compares the program's with what was announced.
Result<std::unique_ptr<Executor>>
Executor::State::makeFor(std::span<const int64_t> sizes) const {
  Result<Program> program = readProgram(package, sizes, shared->constantBytes);
  if (!program)
    return program.error();
  std::unique_ptr<Executor> executor(new Executor());
  State &made = *executor->state;
  made.shared = shared;
  made.options = options;
  made.package.modelName = package.modelName;
  static_cast<Program &>(made.package) = std::move(*program);
  made.constants = constants;
  made.arena = arena;
  Status status = success();
  // Touching a megabyte of memory takes longer than all else.
  if (device().sharesHostMemory()) {
    made.inputs.defer(made.package.inputs.size());
    made.outputs.defer(made.package.outputs.size());
  } else {
    status = made.allocateBorder(/*original=*/nullptr);
  }
  if (status)
    status = made.prepare();
  if (!status)
    return refusal(package, status.message());
  return executor;
}

Result<std::unique_ptr<Executor>>
Executor::makeFor(std::span<const int64_t> sizes) const {
  return state->makeFor(sizes);
}

const Package &Executor::package() const { return state->package; }

Device &Executor::device() const { return state->device(); }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status Border::bind(Device &device, size_t index, const TensorInfo &tensor,
                    const void *pointer, bool isPadded, bool isInput) {
  if (device.canWorkOn(pointer, tensor.numBytes(), isPadded)) {
    // Kernels take all buffers as void *, and do not write to inputs.
    current[index] = const_cast<void *>(pointer);
    return success();
  }
  if (!staging[index])
    if (Status status = allocateInto(device, staging[index], tensor.numBytes());
        !status)
      return status;
  current[index] = staging[index]->address();
  if (!isInput)
    return success();
  return device.copyIn(*staging[index], 0,
                       {static_cast<const char *>(pointer),
                        static_cast<size_t>(tensor.usedBytes())});
}

Status Executor::State::bind(std::span<const void *const> inputPointers,
                             std::span<void *const> outputPointers) {
  assert(inputPointers.size() == package.inputs.size() && "one per input");
  assert(outputPointers.size() == package.outputs.size() && "one per output");
  Status status = success();
  for (size_t i = 0; i < package.inputs.size() && status; ++i)
    status = inputs.bind(device(), i, package.inputs[i], inputPointers[i],
                         options.paddedBuffers, /*isInput=*/true);
  for (size_t i = 0; i < package.outputs.size() && status; ++i)
    status = outputs.bind(device(), i, package.outputs[i], outputPointers[i],
                          options.paddedBuffers, /*isInput=*/false);
  inputs.apply(pointers);
  outputs.apply(pointers);
  return status;
}

void Executor::State::bindArena(void *memory) {
  assert((memory || arenaPatches.empty()) && "the arena that was promised");
  for (auto [slot, offset] : arenaPatches)
    pointers[slot] = static_cast<char *>(memory) + offset;
}

Status Executor::State::launch(size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index)
    if (Status status =
            device().launch(*launches[index].kernel, launches[index].launch);
        !status)
      return status;
  return success();
}

/// Copies staged outputs to the caller.
Status Executor::State::finish(std::span<void *const> outputPointers) {
  for (size_t index = 0; index < package.outputs.size(); ++index)
    if (outputs.isStaged(index))
      if (Status status = device().copyOut(
              {static_cast<char *>(outputPointers[index]),
               static_cast<size_t>(package.outputs[index].usedBytes())},
              *outputs.staging[index], 0);
          !status)
        return status;
  return success();
}

/// Runs work on the caller's memory. If it fails, copies that were queued
/// before still have to be waited for: the caller may free the memory that they
/// read.
template <typename Work>
Status Executor::State::runOn(std::span<const void *const> inputPointers,
                              std::span<void *const> outputPointers,
                              void *callersArena, const Work &work) {
  Status status = bind(inputPointers, outputPointers);
  bindArena(callersArena);
  if (status)
    status = work();
  if (status)
    status = finish(outputPointers);
  Status done = device().synchronize();
  return status ? done : status;
}

Status Executor::run(std::span<const void *const> inputs,
                     std::span<void *const> outputs, void *arena) {
  return state->runOn(inputs, outputs, arena, [this] { return enqueue(); });
}

Status Executor::enqueue() { return state->device().launch(*state->graph); }

Status Executor::launchAll() {
  return state->launch(0, state->launches.size());
}

Result<double> Executor::timeRun() {
  return state->device().time([this] { return enqueue(); });
}

Status Executor::State::profile(std::vector<int64_t> &layerNanoseconds) {
  layerNanoseconds.resize(layerEnds.size());
  size_t begin = 0;
  for (size_t layer = 0; layer < layerEnds.size(); ++layer) {
    size_t end = layerEnds[layer];
    // The lambda captures two words, so that nothing is allocated.
    std::pair<size_t, size_t> range(begin, end);
    Result<double> milliseconds = device().time(
        [this, &range] { return launch(range.first, range.second); });
    if (!milliseconds)
      return milliseconds.error();
    layerNanoseconds[layer] += std::llround(*milliseconds * 1e6);
    begin = end;
  }
  return success();
}

Status Executor::runProfiled(std::span<const void *const> inputs,
                             std::span<void *const> outputs,
                             std::vector<int64_t> &layerNanoseconds) {
  assert(state->arenaPatches.empty() && "runs on an arena of its own");
  return state->runOn(inputs, outputs, nullptr,
                      [&] { return state->profile(layerNanoseconds); });
}

Status Executor::State::poison() {
  if (Status status = device().fill(*arena, 0xff); !status)
    return status;
  return fillOutputs(0xff);
}

Status Executor::State::fillOutputs(uint8_t value) {
  for (const Memory &output : outputs.staging)
    if (output)
      if (Status status = device().fill(*output, value); !status)
        return status;
  return success();
}

Status Executor::poison() { return state->poison(); }

int64_t Executor::constantBytes() const { return state->constants->size(); }

void Executor::flushConstants() const {
  state->device().flushFromCaches(*state->constants);
}

int64_t Executor::workingSetBytes() const {
  int64_t total = state->constants->size() + state->arena->size();
  for (const TensorInfo &tensor : state->package.inputs)
    total += tensor.numBytes();
  for (const TensorInfo &tensor : state->package.outputs)
    total += tensor.numBytes();
  return total;
}

} // namespace tarpon::runtime
