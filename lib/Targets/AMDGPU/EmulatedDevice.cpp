//===- EmulatedDevice.cpp - A GPU that is emulated on the CPU -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"

#include "tarpon/Targets/AMDGPU/Emulator.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <cstring>
#include <map>

using namespace tarpon;
using runtime::Device;
using runtime::DeviceGraph;
using runtime::DeviceKernel;
using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

/// The allocations of a device, by their first address.
using Allocations = std::map<char *, int64_t>;

class Memory : public DeviceMemory {
public:
  Memory(std::shared_ptr<Allocations> all, int64_t bytes)
      : all(std::move(all)), bytes(bytes) {
    data = static_cast<char *>(
        ::operator new(static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                       std::align_val_t(kAlignment)));
    std::memset(data, 0xff, static_cast<size_t>(bytes));
    (*this->all)[data] = bytes;
  }
  ~Memory() override {
    all->erase(data);
    ::operator delete(data, std::align_val_t(kAlignment));
  }
  void *address() const override { return data; }
  int64_t size() const override { return bytes; }

private:
  /// That of HIP's allocations.
  static constexpr size_t kAlignment = 256;

  std::shared_ptr<Allocations> all;
  int64_t bytes;
  char *data;
};

enum class ArgumentKind : uint8_t { Pointer, I32 };

class Kernel : public DeviceKernel {
public:
  Kernel(std::string name, EmulatedKernel kernel,
         std::vector<ArgumentKind> arguments)
      : name(std::move(name)), kernel(std::move(kernel)),
        arguments(std::move(arguments)) {}
  const std::string &symbol() const override { return name; }
  const EmulatedKernel &get() const { return kernel; }
  const std::vector<ArgumentKind> &getArguments() const { return arguments; }

private:
  std::string name;
  EmulatedKernel kernel;
  std::vector<ArgumentKind> arguments;
};

struct Graph : DeviceGraph {
  std::vector<std::function<Status()>> launches;
};

class EmulatedDevice : public Device {
public:
  EmulatedDevice(const GpuTarget &gpu, const EmulatedDeviceOptions &options)
      : gpu(gpu), options(options), targetName(gpu.name()),
        productName("emulated " + gpu.chip) {}

  const std::string &target() const override { return targetName; }
  const std::string &name() const override { return productName; }
  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override {
    return std::unique_ptr<DeviceMemory>(new Memory(allocations, bytes));
  }
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override;
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override;
  Result<std::unique_ptr<DeviceKernel>>
  loadKernel(std::span<const char> code, const std::string &symbol) override;
  Status launch(const DeviceKernel &kernel,
                const DeviceLaunch &launch) override;
  Status synchronize() override { return runtime::success(); }
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override;
  Status launch(const DeviceGraph &graph) override;
  Result<double> time(const std::function<Status()> &work) override;

private:
  EmulatorOptions getEmulatorOptions() const;
  Result<EmulatedArgument> findBuffer(uint64_t address,
                                      const std::string &kernel) const;
  Result<EmulatedLaunch> decode(const Kernel &kernel,
                                const DeviceLaunch &launch) const;
  Status run(const Kernel &kernel, const EmulatedLaunch &launch) const;

  GpuTarget gpu;
  EmulatedDeviceOptions options;
  std::string targetName, productName;
  std::shared_ptr<Allocations> allocations = std::make_shared<Allocations>();
  Graph *captured = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status EmulatedDevice::copyIn(const DeviceMemory &to, int64_t offset,
                              std::span<const char> source) {
  if (!source.empty())
    std::memcpy(static_cast<char *>(to.address()) + offset, source.data(),
                source.size());
  return runtime::success();
}

Status EmulatedDevice::copyOut(std::span<char> to, const DeviceMemory &from,
                               int64_t offset) {
  if (!to.empty())
    std::memcpy(to.data(), static_cast<char *>(from.address()) + offset,
                to.size());
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

EmulatorOptions EmulatedDevice::getEmulatorOptions() const {
  EmulatorOptions emulator;
  emulator.matrixFamilies = static_cast<unsigned>(gpu.matrixFamily);
  emulator.waveSize = static_cast<unsigned>(gpu.waveSize);
  emulator.ldsBytes = gpu.ldsBytes;
  emulator.checkMemory = options.checkMemory;
  emulator.seed = options.seed;
  return emulator;
}

Result<std::unique_ptr<DeviceKernel>>
EmulatedDevice::loadKernel(std::span<const char> code,
                           const std::string &symbol) {
  Result<EmittedGpuKernel> parsed =
      EmittedGpuKernel::parse({code.data(), code.size()});
  if (!parsed)
    return Error{"kernel '" + symbol + "': " + parsed.message()};
  std::vector<ArgumentKind> arguments;
  for (mlir::Type type : parsed->getFunction().getArgumentTypes())
    arguments.push_back(mlir::isa<mlir::LLVM::LLVMPointerType>(type)
                            ? ArgumentKind::Pointer
                            : ArgumentKind::I32);
  Result<EmulatedKernel> kernel =
      EmulatedKernel::translate(parsed->getFunction(), getEmulatorOptions());
  if (!kernel)
    return kernel.error();
  return std::unique_ptr<DeviceKernel>(
      new Kernel(symbol, std::move(*kernel), std::move(arguments)));
}

/// The allocation that holds the address.
Result<EmulatedArgument>
EmulatedDevice::findBuffer(uint64_t address, const std::string &kernel) const {
  char *pointer = reinterpret_cast<char *>(address);
  auto behind = allocations->upper_bound(pointer);
  if (behind != allocations->begin()) {
    auto [base, bytes] = *std::prev(behind);
    if (pointer <= base + bytes)
      return EmulatedArgument(
          EmulatedBuffer{base, bytes, pointer - base, /*uninitialized=*/false});
  }
  return Error{"kernel '" + kernel +
               "' is given an address that is in no buffer"};
}

/// The argument segment, as GpuExecutor.h describes it.
Result<EmulatedLaunch>
EmulatedDevice::decode(const Kernel &kernel, const DeviceLaunch &launch) const {
  EmulatedLaunch decoded;
  for (int i = 0; i < 3; ++i)
    decoded.grid[i] = launch.grid[i];
  decoded.block[0] = launch.workgroup;
  size_t at = 0;
  auto read = [&](auto &value) {
    at = llvm::alignTo(at, sizeof(value));
    if (at + sizeof(value) > launch.arguments.size())
      return false;
    std::memcpy(&value, launch.arguments.data() + at, sizeof(value));
    at += sizeof(value);
    return true;
  };
  for (ArgumentKind kind : kernel.getArguments()) {
    uint64_t address = 0;
    int32_t number = 0;
    bool isPointer = kind == ArgumentKind::Pointer;
    if (!(isPointer ? read(address) : read(number)))
      return Error{"kernel '" + kernel.symbol() + "' is given " +
                   std::to_string(launch.arguments.size()) +
                   " bytes of arguments, which are too few"};
    Result<EmulatedArgument> argument =
        isPointer ? findBuffer(address, kernel.symbol())
                  : Result<EmulatedArgument>(EmulatedArgument(number));
    if (!argument)
      return argument.error();
    decoded.arguments.push_back(*argument);
  }
  return decoded;
}

Status EmulatedDevice::run(const Kernel &kernel,
                           const EmulatedLaunch &launch) const {
  Result<EmulationReport> report = kernel.get().launch(launch);
  return report ? runtime::success() : Status(report.error());
}

Status EmulatedDevice::launch(const DeviceKernel &kernel,
                              const DeviceLaunch &launch) {
  const auto &known = static_cast<const Kernel &>(kernel);
  Result<EmulatedLaunch> decoded = decode(known, launch);
  if (!decoded)
    return decoded.error();
  if (!captured)
    return run(known, *decoded);
  captured->launches.push_back([this, &known, launch = std::move(*decoded)] {
    return run(known, launch);
  });
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Graphs and times
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<DeviceGraph>>
EmulatedDevice::capture(const std::function<Status()> &work) {
  auto graph = std::make_unique<Graph>();
  captured = graph.get();
  Status status = work();
  captured = nullptr;
  if (!status)
    return status.error();
  return std::unique_ptr<DeviceGraph>(std::move(graph));
}

Status EmulatedDevice::launch(const DeviceGraph &graph) {
  for (const auto &launch : static_cast<const Graph &>(graph).launches)
    if (Status status = launch(); !status)
      return status;
  return runtime::success();
}

Result<double> EmulatedDevice::time(const std::function<Status()> &work) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  if (Status status = work(); !status)
    return status.error();
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

std::unique_ptr<Device>
tarpon::makeEmulatedDevice(const GpuTarget &gpu,
                           const EmulatedDeviceOptions &options) {
  return std::make_unique<EmulatedDevice>(gpu, options);
}
