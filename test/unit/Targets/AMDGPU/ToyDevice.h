//===- ToyDevice.h - A GPU whose kernels are functions ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H
#define TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Targets/GPU/GpuLaunch.h"

#include <cstring>
#include <map>
#include <vector>

namespace tarpon::test {

/// A GPU whose memory is the host's and whose kernels are functions on the
/// argument segment and the workgroup's number.
class ToyDevice : public runtime::Device {
public:
  using Body = void (*)(const char *arguments, uint32_t task);

  struct ToyMemory : runtime::DeviceMemory {
    explicit ToyMemory(int64_t bytes) : bytes(bytes + 64, 0x55), used(bytes) {}
    void *address() const override { return const_cast<char *>(bytes.data()); }
    int64_t size() const override { return used; }
    std::vector<char> bytes;
    int64_t used;
  };
  struct ToyKernel : runtime::DeviceKernel {
    const std::string &symbol() const override { return name; }
    std::string name;
    Body body = nullptr;
  };
  struct ToyGraph : runtime::DeviceGraph {
    std::vector<std::function<void()>> launches;
  };

  std::map<std::string, Body> bodies;
  /// The times of launches; without any, every launch takes a millisecond.
  std::map<std::string, double> milliseconds;
  /// See hasTimes.
  bool areTimesReal = true;
  std::vector<std::string> log;
  int graphLaunches = 0;
  /// Why graphs cannot be launched any more; "" while they can.
  std::string failure;

  const std::string &target() const override { return chip; }
  const std::string &name() const override { return chip; }
  bool hasTimes() const override { return areTimesReal; }
  runtime::Status checkPackage(const runtime::Package &package) const override {
    return checkGpuPackage(package, chip);
  }
  runtime::Result<std::unique_ptr<runtime::DeviceMemory>>
  allocate(int64_t bytes) override {
    return std::unique_ptr<runtime::DeviceMemory>(new ToyMemory(bytes));
  }
  runtime::Status fill(const runtime::DeviceMemory &memory,
                       uint8_t value) override {
    std::memset(memory.address(), value, static_cast<size_t>(memory.size()));
    return runtime::success();
  }
  runtime::Status copyIn(const runtime::DeviceMemory &to, int64_t offset,
                         std::span<const char> source) override {
    if (!source.empty())
      std::memcpy(static_cast<char *>(to.address()) + offset, source.data(),
                  source.size());
    return runtime::success();
  }
  runtime::Status copyOut(std::span<char> to, const runtime::DeviceMemory &from,
                          int64_t offset) override {
    std::memcpy(to.data(), static_cast<char *>(from.address()) + offset,
                to.size());
    return runtime::success();
  }
  runtime::Result<std::vector<std::unique_ptr<runtime::DeviceKernel>>>
  load(std::span<const char> code,
       std::span<const std::string> symbols) override {
    std::vector<std::unique_ptr<runtime::DeviceKernel>> kernels;
    for (const std::string &symbol : symbols) {
      log.push_back("load " + symbol + " " + std::to_string(code.size()));
      if (!bodies.count(symbol))
        return runtime::Error{"no kernel " + symbol};
      auto kernel = std::make_unique<ToyKernel>();
      kernel->name = symbol;
      kernel->body = bodies[symbol];
      kernels.push_back(std::move(kernel));
    }
    return kernels;
  }
  runtime::Status launch(const runtime::DeviceKernel &kernel,
                         const runtime::DeviceLaunch &launch) override {
    std::vector<char> arguments = packArguments(launch);
    Body body = static_cast<const ToyKernel &>(kernel).body;
    double cost = milliseconds[kernel.symbol()];
    auto run = [=, this, tasks = launch.tasks] {
      now += cost;
      for (uint32_t task = 0; task < tasks; ++task)
        body(arguments.data(), task);
    };
    log.push_back(
        "launch " + kernel.symbol() + " " + std::to_string(launch.tasks) + "x" +
        std::to_string(launch.workgroup) +
        (launch.ldsBytes
             ? ", " + std::to_string(launch.ldsBytes) + " bytes of LDS"
             : ""));
    if (captured)
      captured->launches.push_back(run);
    else
      run();
    return runtime::success();
  }
  runtime::Status synchronize() override { return runtime::success(); }
  runtime::Result<std::unique_ptr<runtime::DeviceGraph>>
  capture(const std::function<runtime::Status()> &work) override {
    auto graph = std::make_unique<ToyGraph>();
    captured = graph.get();
    runtime::Status status = work();
    captured = nullptr;
    if (!status)
      return status.error();
    return std::unique_ptr<runtime::DeviceGraph>(std::move(graph));
  }
  runtime::Status launch(const runtime::DeviceGraph &graph) override {
    if (!failure.empty())
      return runtime::Error{failure};
    ++graphLaunches;
    for (const auto &launch : static_cast<const ToyGraph &>(graph).launches)
      launch();
    return runtime::success();
  }
  runtime::Result<double>
  time(const std::function<runtime::Status()> &work) override {
    double start = now;
    if (runtime::Status status = work(); !status)
      return status.error();
    return now > start ? now - start : 1.0;
  }

private:
  std::string chip = "gfx942:cu=228";
  ToyGraph *captured = nullptr;
  double now = 0;
};

/// scale(scale(x, 2) + 1, 2) + 1 of five elements.
inline runtime::Package makeToyPackage() {
  runtime::Package package;
  package.modelName = "toy";
  package.arch = "amdgcn";
  package.chip = "gfx942:cu=304";
  runtime::TensorInfo tensor;
  tensor.name = "x";
  tensor.shape = {5};
  package.inputs = {tensor};
  package.outputs = {tensor};
  package.arenaBytes = 64;
  std::vector<float> factors(5, 2.0F);
  const char *bytes = reinterpret_cast<const char *>(factors.data());
  package.constants.assign(bytes, bytes + 20);
  package.kernels.assign(64, 0);
  std::memcpy(package.kernels.data(),
              "\x7f"
              "ELF\2\1",
              6);
  package.codeObjects = {{"scale", 0, 64, 256}};
  runtime::Launch first;
  first.symbol = "scale";
  first.buffers = {{runtime::BufferSpace::Input, 0},
                   {runtime::BufferSpace::Constant, 0},
                   {runtime::BufferSpace::Arena, 0}};
  first.params = {5, runtime::floatParam(1.0F)};
  first.tasks = 3;
  runtime::Launch second = first;
  second.buffers[0] = {runtime::BufferSpace::Arena, 0};
  second.buffers[2] = {runtime::BufferSpace::Output, 0};
  for (const runtime::Launch &launch : {first, second}) {
    runtime::Layer layer;
    layer.name = "layer";
    layer.launches = {launch};
    package.layers.push_back(layer);
  }
  return package;
}

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H
