//===- ToyDevice.h - A GPU whose kernels are functions ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H
#define TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H

#include "tarpon/Runtime/Device.h"

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
    explicit ToyMemory(int64_t bytes) : bytes(bytes) {}
    void *address() const override { return const_cast<char *>(bytes.data()); }
    int64_t size() const override { return static_cast<int64_t>(bytes.size()); }
    std::vector<char> bytes;
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
  /// What launches take; without any, everything takes a millisecond.
  std::map<std::string, double> milliseconds;
  std::vector<std::string> log;

  const std::string &target() const override { return chip; }
  const std::string &name() const override { return chip; }
  runtime::Result<std::unique_ptr<runtime::DeviceMemory>>
  allocate(int64_t bytes) override {
    return std::unique_ptr<runtime::DeviceMemory>(new ToyMemory(bytes));
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
  runtime::Result<std::unique_ptr<runtime::DeviceKernel>>
  loadKernel(std::span<const char> code, const std::string &symbol) override {
    log.push_back("load " + symbol + " " + std::to_string(code.size()));
    if (!bodies.count(symbol))
      return runtime::Error{"no kernel " + symbol};
    auto kernel = std::make_unique<ToyKernel>();
    kernel->name = symbol;
    kernel->body = bodies[symbol];
    return std::unique_ptr<runtime::DeviceKernel>(std::move(kernel));
  }
  runtime::Status launch(const runtime::DeviceKernel &kernel,
                         const runtime::DeviceLaunch &launch) override {
    std::vector<char> arguments(launch.arguments.begin(),
                                launch.arguments.end());
    Body body = static_cast<const ToyKernel &>(kernel).body;
    double cost = milliseconds[kernel.symbol()];
    auto run = [=, this, grid = launch.grid[0]] {
      now += cost;
      for (uint32_t task = 0; task < grid; ++task)
        body(arguments.data(), task);
    };
    log.push_back("launch " + kernel.symbol() + " " +
                  std::to_string(launch.grid[0]) + "x" +
                  std::to_string(launch.workgroup));
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

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_AMDGPU_TOYDEVICE_H
