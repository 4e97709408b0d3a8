//===- HostDevice.cpp - The CPU as a device ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/HostDevice.h"

#include "CacheFlush.h"
#include "KernelLibrary.h"
#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/ThreadPool.h"

#include <chrono>
#include <cstring>

namespace tarpon::runtime {

namespace {

class Buffer : public DeviceMemory {
public:
  explicit Buffer(AlignedBuffer buffer) : buffer(std::move(buffer)) {}
  void *address() const override { return const_cast<char *>(buffer.data()); }
  int64_t size() const override { return buffer.size(); }

private:
  AlignedBuffer buffer;
};

/// Bytes that were read from a file, used in place.
class Constants : public DeviceMemory {
public:
  explicit Constants(AlignedBytes given) : bytes(std::move(given)) {
    // An empty constant has an address, too.
    if (bytes.empty())
      bytes.reserve(1);
  }
  void *address() const override { return const_cast<char *>(bytes.data()); }
  int64_t size() const override { return static_cast<int64_t>(bytes.size()); }

private:
  AlignedBytes bytes;
};

class Kernel : public DeviceKernel {
public:
  Kernel(std::shared_ptr<const KernelLibrary> library, KernelFn function,
         std::string name)
      : library(std::move(library)), function(function), name(std::move(name)) {
  }
  const std::string &symbol() const override { return name; }
  KernelFn get() const { return function; }

private:
  std::shared_ptr<const KernelLibrary> library;
  KernelFn function;
  std::string name;
};

struct PreparedLaunch {
  KernelFn kernel;
  void *const *buffers;
  const int64_t *params;
  int64_t tasks;
};

struct Graph : DeviceGraph {
  std::vector<PreparedLaunch> launches;
};

/// The header of each thread's scratch, whose padding holds the note even if a
/// launch needs no scratch.
struct alignas(kBufferAlignment) ScratchHeader {
  /// The number of the launch that used the scratch last. Launches count from
  /// 1, and fresh memory holds 0.
  uint64_t launch;
};
static_assert(kScratchNoteBytes <= kBufferTailPadding);

/// The arguments of runTasks; they live on the caller's stack during a launch.
struct LaunchContext {
  const PreparedLaunch &launch;
  char *scratch;
  int64_t scratchStride;
  uint64_t number;
};

class HostDevice : public Device {
public:
  HostDevice(const HostDeviceOptions &options, int threads)
      : options(options), pool(threads), targetName(hostArch()) {}

  const std::string &target() const override { return targetName; }
  const std::string &name() const override { return targetName; }
  int threads() const override { return pool.size(); }
  Status checkPackage(const Package &package) const override;

  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override;
  Result<std::unique_ptr<DeviceMemory>> upload(AlignedBytes bytes) override;
  Status fill(const DeviceMemory &memory, uint8_t value) override;
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override;
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override;
  bool sharesHostMemory() const override { return true; }
  bool canWorkOn(const void *pointer, int64_t bytes,
                 bool isPadded) const override;
  void flushFromCaches(const DeviceMemory &memory) override;

  Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code,
       std::span<const std::string> symbols) override;
  Status launch(const DeviceKernel &kernel,
                const DeviceLaunch &launch) override;
  Status synchronize() override { return success(); }
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override;
  Status launch(const DeviceGraph &graph) override;
  Result<double> time(const std::function<Status()> &work) override;

private:
  Status reserveScratch(int64_t bytes);
  void run(const PreparedLaunch &launch);

  HostDeviceOptions options;
  ThreadPool pool;
  std::string targetName;
  AlignedBuffer scratch;
  /// The distance of the threads' scratches in bytes.
  int64_t scratchStride = 0;
  /// The number of launches so far.
  uint64_t launches = 0;
  Graph *captured = nullptr;
};

} // namespace

/// More threads than any machine has cores are a mistake.
static constexpr int kMaxThreads = 4096;

Result<std::unique_ptr<Device>>
makeHostDevice(const HostDeviceOptions &options) {
  if (options.threads < 0 || options.threads > kMaxThreads)
    return Error{"cannot run on " + std::to_string(options.threads) +
                 " threads"};
  int threads = options.threads > 0 ? options.threads : availableCores();
  return std::unique_ptr<Device>(new HostDevice(options, threads));
}

Status HostDevice::checkPackage(const Package &package) const {
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceMemory>> HostDevice::allocate(int64_t bytes) {
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
  if (!buffer)
    return buffer.error();
  return std::unique_ptr<DeviceMemory>(new Buffer(std::move(*buffer)));
}

Result<std::unique_ptr<DeviceMemory>> HostDevice::upload(AlignedBytes bytes) {
  return std::unique_ptr<DeviceMemory>(new Constants(std::move(bytes)));
}

static char *at(const DeviceMemory &memory, int64_t offset) {
  return static_cast<char *>(memory.address()) + offset;
}

Status HostDevice::fill(const DeviceMemory &memory, uint8_t value) {
  std::memset(memory.address(), value,
              static_cast<size_t>(memory.size() + kBufferTailPadding));
  return success();
}

Status HostDevice::copyIn(const DeviceMemory &to, int64_t offset,
                          std::span<const char> source) {
  if (!source.empty())
    std::memcpy(at(to, offset), source.data(), source.size());
  return success();
}

Status HostDevice::copyOut(std::span<char> to, const DeviceMemory &from,
                           int64_t offset) {
  if (!to.empty())
    std::memcpy(to.data(), at(from, offset), to.size());
  return success();
}

/// Kernels may read kBufferTailPadding bytes behind the end. Without a promise
/// that these exist, they do if they lie in the same page as the last byte.
bool HostDevice::canWorkOn(const void *pointer, int64_t bytes,
                           bool isPadded) const {
  constexpr uintptr_t kPageBytes = 4096;
  auto begin = reinterpret_cast<uintptr_t>(pointer);
  if (bytes == 0 || begin % kBufferAlignment != 0)
    return false;
  uintptr_t last = begin + static_cast<uintptr_t>(bytes) - 1;
  return isPadded ||
         last / kPageBytes == (last + kBufferTailPadding) / kPageBytes;
}

void HostDevice::flushFromCaches(const DeviceMemory &memory) {
  runtime::flushFromCaches({at(memory, 0), static_cast<size_t>(memory.size())});
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Result<std::vector<std::unique_ptr<DeviceKernel>>>
HostDevice::load(std::span<const char> code,
                 std::span<const std::string> symbols) {
  Result<KernelLibrary> loaded = KernelLibrary::load(code);
  if (!loaded)
    return loaded.error();
  auto library = std::make_shared<const KernelLibrary>(std::move(*loaded));
  std::vector<std::unique_ptr<DeviceKernel>> kernels;
  for (const std::string &symbol : symbols) {
    KernelFn function = library->find(symbol);
    if (!function)
      return Error{"its kernels lack the symbol '" + symbol + "'"};
    kernels.push_back(std::make_unique<Kernel>(library, function, symbol));
  }
  return kernels;
}

/// Enlarges every thread's scratch to at least this size, the padding included.
Status HostDevice::reserveScratch(int64_t bytes) {
  constexpr int64_t kMask = kBufferAlignment - 1;
  int64_t stride = static_cast<int64_t>(sizeof(ScratchHeader)) +
                   ((bytes + kBufferTailPadding + kMask) & ~kMask);
  if (stride <= scratchStride)
    return success();
  Result<AlignedBuffer> larger = AlignedBuffer::allocate(stride * pool.size());
  if (!larger)
    return larger.error();
  scratch = std::move(*larger);
  scratchStride = stride;
  if (options.poisonScratch)
    scratch.fill(0xff);
  return success();
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

void HostDevice::run(const PreparedLaunch &launch) {
  LaunchContext context{launch, scratch.data(), scratchStride, ++launches};
  if (options.reverseTasks)
    for (int64_t task = launch.tasks - 1; task >= 0; --task)
      runTasks(&context, /*thread=*/0, task, task + 1);
  else
    pool.parallelFor(launch.tasks, runTasks, &context);
}

Status HostDevice::launch(const DeviceKernel &kernel,
                          const DeviceLaunch &launch) {
  if (Status status = reserveScratch(launch.scratchBytes); !status)
    return status;
  PreparedLaunch prepared{static_cast<const Kernel &>(kernel).get(),
                          launch.buffers.data(), launch.params.data(),
                          launch.tasks};
  if (captured)
    captured->launches.push_back(prepared);
  else
    run(prepared);
  return success();
}

//===----------------------------------------------------------------------===//
// Graphs and times
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceGraph>>
HostDevice::capture(const std::function<Status()> &work) {
  auto graph = std::make_unique<Graph>();
  captured = graph.get();
  Status status = work();
  captured = nullptr;
  if (!status)
    return status.error();
  return std::unique_ptr<DeviceGraph>(std::move(graph));
}

Status HostDevice::launch(const DeviceGraph &graph) {
  for (const PreparedLaunch &launch :
       static_cast<const Graph &>(graph).launches)
    run(launch);
  return success();
}

Result<double> HostDevice::time(const std::function<Status()> &work) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  if (Status status = work(); !status)
    return status.error();
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

} // namespace tarpon::runtime
