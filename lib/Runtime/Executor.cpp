//===- Executor.cpp - Runs a package on the host ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that can be worked out before a run is: a run patches the pointers
// that refer to inputs and outputs and then calls one kernel after the other.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Executor.h"

#include "CacheFlush.h"
#include "KernelLibrary.h"
#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/ThreadPool.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>

namespace tarpon::runtime {

namespace {

/// In front of each thread's scratch, whose note has room in its padding even
/// where a launch wants no scratch.
struct alignas(kBufferAlignment) ScratchHeader {
  /// The number of the launch that used it last. Launches count from 1, and
  /// fresh memory holds 0.
  uint64_t launch;
};
static_assert(kScratchNoteBytes <= kBufferTailPadding);

/// What an executor has in common with its replicas.
struct Shared {
  Shared(KernelLibrary library, std::shared_ptr<ThreadPool> pool)
      : library(std::move(library)), pool(std::move(pool)) {}

  KernelLibrary library;
  std::shared_ptr<ThreadPool> pool;
  AlignedBuffer scratch;
  /// From one thread's scratch to the next one's, in bytes.
  int64_t scratchStride = 0;
  /// Launches so far.
  uint64_t launches = 0;
};

struct PreparedLaunch {
  KernelFn kernel;
  void *const *buffers;
  const int64_t *params;
  int64_t tasks;
};

/// A pointer of a launch that is known only when a run starts.
struct Patch {
  size_t pointer;
  size_t index;
};

/// The model's inputs or outputs: what has to be patched, and where a pointer
/// goes that the kernels cannot work on.
struct Border {
  std::vector<Patch> patches;
  std::vector<int64_t> bytes;
  std::vector<AlignedBuffer> staging;
  /// The memory that this run uses, one per tensor.
  std::vector<void *> current;
};

/// What runTasks needs; lives on the caller's stack during a launch.
struct LaunchContext {
  const PreparedLaunch &launch;
  char *scratch;
  int64_t scratchStride;
  uint64_t number;
};

} // namespace

struct Executor::State {
  Package package;
  ExecutorOptions options;
  std::shared_ptr<Shared> shared;
  AlignedBytes constants;
  AlignedBuffer arena;
  Border inputs, outputs;
  std::vector<void *> pointers;
  /// Which pointers are so many bytes into the caller's arena.
  std::vector<std::pair<size_t, int64_t>> arenaPatches;
  std::vector<PreparedLaunch> launches;
  /// One past the last launch of each layer.
  std::vector<size_t> layerEnds;

  Status allocate();
  Status prepare();
  Status prepareLaunch(const Launch &launch);
  void resolve(const BufferRef &buffer);
  void bind(std::span<const void *const> inputPointers,
            std::span<void *const> outputPointers);
  void bindArena(void *memory);
  void launchAll(size_t begin, size_t end);
  void finish(std::span<void *const> outputPointers);
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Error refusal(const Package &package, const std::string &why) {
  return {"cannot run the package of model '" + package.modelName +
          "': " + why};
}

static Status checkMachine(const Package &package) {
  if (package.kernels.empty())
    return success();
  if (package.arch != hostArch())
    return Error{"it was compiled for " + package.arch +
                 ", and this machine is " + std::string(hostArch())};
  for (const std::string &feature : package.cpuFeatures)
    if (!hostHasFeature(feature))
      return Error{"it needs the CPU feature " + feature +
                   ", which this machine lacks"};
  return success();
}

static Status allocateInto(AlignedBuffer &buffer, int64_t bytes) {
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(bytes);
  if (!memory)
    return memory.error();
  buffer = std::move(*memory);
  return success();
}

static Status allocateScratch(Shared &shared, const Package &package) {
  int64_t largest = 0;
  for (const Layer &layer : package.layers)
    for (const Launch &launch : layer.launches)
      largest = std::max(largest, launch.scratchBytes);
  int64_t mask = kBufferAlignment - 1;
  shared.scratchStride = static_cast<int64_t>(sizeof(ScratchHeader)) +
                         ((largest + kBufferTailPadding + mask) & ~mask);
  return allocateInto(shared.scratch,
                      shared.scratchStride * shared.pool->size());
}

/// More than any machine has cores: a mistake, not a wish.
static constexpr int kMaxThreads = 4096;

static Result<std::shared_ptr<Shared>>
loadShared(const Package &package, const ExecutorOptions &options,
           std::shared_ptr<ThreadPool> pool) {
  if (options.threads < 0 || options.threads > kMaxThreads)
    return Error{"it cannot run on " + std::to_string(options.threads) +
                 " threads"};
  KernelLibrary library;
  if (!package.kernels.empty()) {
    Result<KernelLibrary> loaded = KernelLibrary::load(package.kernels);
    if (!loaded)
      return loaded.error();
    library = std::move(*loaded);
  }
  int threads = options.threads > 0 ? options.threads : availableCores();
  if (!pool)
    pool = std::make_shared<ThreadPool>(threads);
  auto shared = std::make_shared<Shared>(std::move(library), std::move(pool));
  if (Status status = allocateScratch(*shared, package); !status)
    return status.error();
  if (options.poisonMemory)
    shared->scratch.fill(0xff);
  return shared;
}

static Status allocateBorder(Border &border,
                             const std::vector<TensorInfo> &tensors) {
  border.staging.resize(tensors.size());
  border.current.resize(tensors.size());
  for (size_t index = 0; index < tensors.size(); ++index) {
    border.bytes.push_back(tensors[index].numBytes());
    if (Status status =
            allocateInto(border.staging[index], border.bytes.back());
        !status)
      return status;
  }
  return success();
}

/// All but the constants, which are there.
Status Executor::State::allocate() {
  // An empty constant has an address, too.
  if (constants.empty())
    constants.reserve(1);
  if (Status status =
          allocateInto(arena, options.callerArena ? 0 : package.arenaBytes);
      !status)
    return status;
  if (options.poisonMemory)
    arena.fill(0xff);
  if (Status status = allocateBorder(inputs, package.inputs); !status)
    return status;
  return allocateBorder(outputs, package.outputs);
}

void Executor::State::resolve(const BufferRef &buffer) {
  size_t slot = pointers.size();
  auto index = static_cast<size_t>(buffer.offset);
  switch (buffer.space) {
  case BufferSpace::Constant:
    return pointers.push_back(constants.data() + buffer.offset);
  case BufferSpace::Arena:
    if (options.callerArena)
      arenaPatches.emplace_back(slot, buffer.offset);
    return pointers.push_back(arena.data() + buffer.offset);
  case BufferSpace::Input:
    inputs.patches.push_back({slot, index});
    return pointers.push_back(nullptr);
  case BufferSpace::Output:
    outputs.patches.push_back({slot, index});
    return pointers.push_back(nullptr);
  }
}

Status Executor::State::prepareLaunch(const Launch &launch) {
  KernelFn kernel = shared->library.find(launch.symbol);
  if (!kernel)
    return Error{"its kernels lack the symbol '" + launch.symbol + "'"};
  // `pointers` was reserved in full, so that its elements stay where they are.
  void *const *buffers = pointers.data() + pointers.size();
  for (const BufferRef &buffer : launch.buffers)
    resolve(buffer);
  launches.push_back({kernel, buffers, launch.params.data(), launch.tasks});
  return success();
}

Status Executor::State::prepare() {
  size_t numPointers = 0;
  for (const Layer &layer : package.layers)
    for (const Launch &launch : layer.launches)
      numPointers += launch.buffers.size();
  pointers.reserve(numPointers);
  for (const Layer &layer : package.layers) {
    for (const Launch &launch : layer.launches)
      if (Status status = prepareLaunch(launch); !status)
        return status;
    layerEnds.push_back(launches.size());
  }
  return success();
}

Executor::Executor() : state(std::make_unique<State>()) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(Package package,
                                                   ExecutorOptions options) {
  if (Status status = validatePackage(package); !status)
    return refusal(package, status.message());
  if (Status status = checkMachine(package); !status)
    return refusal(package, status.message());
  Result<std::shared_ptr<Shared>> shared = loadShared(
      package, options,
      options.threadsOf ? options.threadsOf->state->shared->pool : nullptr);
  if (!shared)
    return refusal(package, shared.message());

  std::unique_ptr<Executor> executor(new Executor());
  State &state = *executor->state;
  state.constants = std::move(package.constants);
  package.constants = {};
  package.kernels = {};
  state.package = std::move(package);
  state.options = options;
  state.shared = std::move(*shared);
  if (Status status = state.allocate(); !status)
    return refusal(state.package, status.message());
  if (Status status = state.prepare(); !status)
    return refusal(state.package, status.message());
  return executor;
}

Result<std::unique_ptr<Executor>> Executor::replicate() const {
  std::unique_ptr<Executor> replica(new Executor());
  State &copy = *replica->state;
  copy.package = state->package;
  copy.options = state->options;
  copy.shared = state->shared;
  copy.constants = state->constants;
  if (Status status = copy.allocate(); !status)
    return refusal(copy.package, status.message());
  if (Status status = copy.prepare(); !status)
    return refusal(copy.package, status.message());
  return replica;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Whether the kernels may work on this memory of the caller's. They may read
/// kBufferTailPadding bytes behind its end; without a promise that these exist,
/// they do if they lie in the same page as the last byte.
static bool isUsable(const void *pointer, int64_t bytes, bool padded) {
  constexpr uintptr_t kPageBytes = 4096;
  auto begin = reinterpret_cast<uintptr_t>(pointer);
  if (bytes == 0 || begin % kBufferAlignment != 0)
    return false;
  uintptr_t last = begin + static_cast<uintptr_t>(bytes) - 1;
  return padded ||
         last / kPageBytes == (last + kBufferTailPadding) / kPageBytes;
}

static void applyPatches(const Border &border, std::vector<void *> &pointers) {
  for (const Patch &patch : border.patches)
    pointers[patch.pointer] = border.current[patch.index];
}

void Executor::State::bind(std::span<const void *const> inputPointers,
                           std::span<void *const> outputPointers) {
  assert(inputPointers.size() == inputs.bytes.size() && "one per input");
  assert(outputPointers.size() == outputs.bytes.size() && "one per output");
  for (size_t index = 0; index < inputs.bytes.size(); ++index) {
    const void *pointer = inputPointers[index];
    int64_t bytes = inputs.bytes[index];
    char *staging = inputs.staging[index].data();
    bool usable = isUsable(pointer, bytes, options.paddedBuffers);
    if (!usable && bytes > 0)
      std::memcpy(staging, pointer, static_cast<size_t>(bytes));
    // Kernels take all buffers as void *, and do not write to inputs.
    inputs.current[index] = usable ? const_cast<void *>(pointer) : staging;
  }
  for (size_t index = 0; index < outputs.bytes.size(); ++index) {
    void *pointer = outputPointers[index];
    bool usable =
        isUsable(pointer, outputs.bytes[index], options.paddedBuffers);
    outputs.current[index] = usable ? pointer : outputs.staging[index].data();
  }
  applyPatches(inputs, pointers);
  applyPatches(outputs, pointers);
}

void Executor::State::bindArena(void *memory) {
  assert((memory || arenaPatches.empty()) && "the arena that was promised");
  for (auto [slot, offset] : arenaPatches)
    pointers[slot] = static_cast<char *>(memory) + offset;
}

static void runTasks(void *opaque, int thread, int64_t begin, int64_t end) {
  const auto &context = *static_cast<const LaunchContext *>(opaque);
  char *own = context.scratch + thread * context.scratchStride;
  auto *header = reinterpret_cast<ScratchHeader *>(own);
  char *scratch = own + sizeof(ScratchHeader);
  if (header->launch != context.number) {
    header->launch = context.number;
    std::memset(scratch, 0, kScratchNoteBytes);
  }
  context.launch.kernel(context.launch.buffers, context.launch.params, begin,
                        end, scratch);
}

void Executor::State::launchAll(size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index) {
    LaunchContext context{launches[index], shared->scratch.data(),
                          shared->scratchStride, ++shared->launches};
    int64_t tasks = launches[index].tasks;
    if (options.reverseTasks)
      for (int64_t task = tasks - 1; task >= 0; --task)
        runTasks(&context, /*thread=*/0, task, task + 1);
    else
      shared->pool->parallelFor(tasks, runTasks, &context);
  }
}

/// Hands staged outputs over to the caller.
void Executor::State::finish(std::span<void *const> outputPointers) {
  for (size_t index = 0; index < outputs.bytes.size(); ++index)
    if (outputs.current[index] != outputPointers[index] &&
        outputs.bytes[index] > 0)
      std::memcpy(outputPointers[index], outputs.current[index],
                  static_cast<size_t>(outputs.bytes[index]));
}

const Package &Executor::package() const { return state->package; }

int Executor::threads() const { return state->shared->pool->size(); }

void Executor::flushConstants() const { flushFromCaches(state->constants); }

int64_t Executor::workingSetBytes() const {
  int64_t total =
      static_cast<int64_t>(state->constants.size()) + state->arena.size();
  for (int64_t bytes : state->inputs.bytes)
    total += bytes;
  for (int64_t bytes : state->outputs.bytes)
    total += bytes;
  return total;
}

void Executor::run(std::span<const void *const> inputs,
                   std::span<void *const> outputs, void *arena) {
  state->bind(inputs, outputs);
  state->bindArena(arena);
  state->launchAll(0, state->launches.size());
  state->finish(outputs);
}

void Executor::runProfiled(std::span<const void *const> inputs,
                           std::span<void *const> outputs,
                           std::vector<int64_t> &layerNanoseconds) {
  using Clock = std::chrono::steady_clock;
  assert(state->arenaPatches.empty() && "runs on an arena of its own");
  layerNanoseconds.resize(state->layerEnds.size());
  state->bind(inputs, outputs);
  size_t begin = 0;
  Clock::time_point start = Clock::now();
  for (size_t layer = 0; layer < state->layerEnds.size(); ++layer) {
    state->launchAll(begin, state->layerEnds[layer]);
    begin = state->layerEnds[layer];
    Clock::time_point stop = Clock::now();
    layerNanoseconds[layer] +=
        std::chrono::duration_cast<std::chrono::nanoseconds>(stop - start)
            .count();
    start = stop;
  }
  state->finish(outputs);
}

} // namespace tarpon::runtime
