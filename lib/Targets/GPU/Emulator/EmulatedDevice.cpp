//===- EmulatedDevice.cpp - A GPU that is emulated on the CPU -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Emulator/EmulatedDevice.h"

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Targets/GPU/Emulator/KernelIr.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

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

/// The allocations of a device with their padding, by their first address.
using Allocations = std::map<char *, int64_t>;

class Memory : public DeviceMemory {
public:
  Memory(std::shared_ptr<Allocations> all, int64_t bytes)
      : all(std::move(all)), bytes(bytes) {
    size_t padded = static_cast<size_t>(bytes + runtime::kBufferTailPadding);
    data = static_cast<char *>(
        ::operator new(padded, std::align_val_t(kAlignment)));
    std::memset(data, 0xff, padded);
    (*this->all)[data] = static_cast<int64_t>(padded);
  }
  ~Memory() override {
    all->erase(data);
    ::operator delete(data, std::align_val_t(kAlignment));
  }
  void *address() const override { return data; }
  int64_t size() const override { return bytes; }

private:
  /// The alignment of HIP's allocations.
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
  explicit EmulatedDevice(EmulatedGpu gpu) : gpu(std::move(gpu)) {}

  const std::string &target() const override { return gpu.target; }
  const std::string &name() const override { return gpu.name; }
  Status checkPackage(const runtime::Package &package) const override {
    return checkGpuPackage(package, gpu.target);
  }
  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override {
    return std::unique_ptr<DeviceMemory>(new Memory(allocations, bytes));
  }
  Status fill(const DeviceMemory &memory, uint8_t value) override {
    std::memset(memory.address(), value, static_cast<size_t>(memory.size()));
    return runtime::success();
  }
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override;
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override;
  Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code,
       std::span<const std::string> symbols) override;
  Status launch(const DeviceKernel &kernel,
                const DeviceLaunch &launch) override;
  Status synchronize() override { return runtime::success(); }
  bool hasTimes() const override { return false; }
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override;
  Status launch(const DeviceGraph &graph) override;
  Result<double> time(const std::function<Status()> &work) override;

private:
  Result<std::unique_ptr<DeviceKernel>> translate(std::span<const char> code,
                                                  const std::string &symbol);
  Result<EmulatedArgument> findBuffer(void *address,
                                      const std::string &kernel) const;
  Result<EmulatedLaunch> decode(const Kernel &kernel,
                                const DeviceLaunch &launch) const;
  Status run(const Kernel &kernel, const EmulatedLaunch &launch) const;

  EmulatedGpu gpu;
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

Result<std::unique_ptr<DeviceKernel>>
EmulatedDevice::translate(std::span<const char> code,
                          const std::string &symbol) {
  mlir::DialectRegistry registry;
  registerEmulatedDialects(registry, gpu.options.instructions);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Result<mlir::OwningOpRef<mlir::ModuleOp>> parsed =
      parseKernelIr(context, {code.data(), code.size()});
  if (!parsed)
    return Error{"kernel '" + symbol + "': " + parsed.message()};
  mlir::gpu::GPUFuncOp function = getKernelFunction(**parsed);
  std::vector<ArgumentKind> arguments;
  for (mlir::Type type : function.getArgumentTypes())
    arguments.push_back(mlir::isa<mlir::LLVM::LLVMPointerType>(type)
                            ? ArgumentKind::Pointer
                            : ArgumentKind::I32);
  Result<EmulatedKernel> kernel =
      EmulatedKernel::translate(function, gpu.options);
  if (!kernel)
    return kernel.error();
  return std::unique_ptr<DeviceKernel>(
      new Kernel(symbol, std::move(*kernel), std::move(arguments)));
}

Result<std::vector<std::unique_ptr<DeviceKernel>>>
EmulatedDevice::load(std::span<const char> code,
                     std::span<const std::string> symbols) {
  std::vector<std::unique_ptr<DeviceKernel>> kernels;
  for (const std::string &symbol : symbols) {
    Result<std::unique_ptr<DeviceKernel>> kernel = translate(code, symbol);
    if (!kernel)
      return kernel.error();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

/// Finds the allocation that holds the address.
Result<EmulatedArgument>
EmulatedDevice::findBuffer(void *address, const std::string &kernel) const {
  char *pointer = static_cast<char *>(address);
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

/// Collects buffers and parameters in the order of the kernel's arguments.
Result<EmulatedLaunch>
EmulatedDevice::decode(const Kernel &kernel, const DeviceLaunch &launch) const {
  EmulatedLaunch decoded;
  decoded.grid[0] = static_cast<uint32_t>(launch.tasks);
  decoded.block[0] = static_cast<uint32_t>(launch.workgroup);
  auto buffer = launch.buffers.begin();
  auto param = launch.params.begin();
  for (ArgumentKind kind : kernel.getArguments()) {
    bool isPointer = kind == ArgumentKind::Pointer;
    if (isPointer ? buffer == launch.buffers.end()
                  : param == launch.params.end())
      return Error{"kernel '" + kernel.symbol() + "' is given " +
                   std::to_string(launch.buffers.size()) + " buffers and " +
                   std::to_string(launch.params.size()) +
                   " parameters, which are too few"};
    Result<EmulatedArgument> argument =
        isPointer ? findBuffer(*buffer++, kernel.symbol())
                  : Result<EmulatedArgument>(
                        EmulatedArgument(static_cast<int32_t>(*param++)));
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

std::unique_ptr<Device> tarpon::makeEmulatedDevice(EmulatedGpu gpu) {
  return std::make_unique<EmulatedDevice>(std::move(gpu));
}
