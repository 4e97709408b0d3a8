//===- ToyDevice.cpp - Runs the toy's packages ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/Package.h"

#include <utility>

using namespace tarpon;
using namespace tarpon::runtime;

namespace {

struct ToyGraph final : DeviceGraph {
  std::unique_ptr<DeviceGraph> host;
  int64_t ticks = 0;
};

/// One thread of the host that poses as another device. Its clock ticks once
/// per task of a kernel that was written for it, and a hundred times as often
/// for others.
class ToyDevice final : public Device {
public:
  explicit ToyDevice(std::unique_ptr<Device> host) : host(std::move(host)) {}

  const std::string &target() const override { return targetName; }
  const std::string &name() const override { return productName; }
  Status checkPackage(const Package &package) const override {
    if (package.arch != targetName)
      return Error{"it was compiled for " + package.arch + ", not for the toy"};
    return success();
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) override {
    return host->allocate(bytes);
  }
  Status fill(const DeviceMemory &memory, uint8_t value) override {
    return host->fill(memory, value);
  }
  Status copyIn(const DeviceMemory &to, int64_t offset,
                std::span<const char> source) override {
    return host->copyIn(to, offset, source);
  }
  Status copyOut(std::span<char> to, const DeviceMemory &from,
                 int64_t offset) override {
    return host->copyOut(to, from, offset);
  }

  Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code,
       std::span<const std::string> symbols) override {
    return host->load(code, symbols);
  }
  Status launch(const DeviceKernel &kernel,
                const DeviceLaunch &launch) override {
    ticks += launch.tasks * (kernel.symbol().starts_with("toy_") ? 1 : 100);
    return host->launch(kernel, launch);
  }
  Status synchronize() override { return host->synchronize(); }
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override {
    int64_t before = ticks;
    auto captured = host->capture(work);
    if (!captured)
      return captured.error();
    auto graph = std::make_unique<ToyGraph>();
    graph->host = std::move(*captured);
    graph->ticks = std::exchange(ticks, before) - before;
    return std::unique_ptr<DeviceGraph>(std::move(graph));
  }
  Status launch(const DeviceGraph &graph) override {
    const auto &known = static_cast<const ToyGraph &>(graph);
    ticks += known.ticks;
    return host->launch(*known.host);
  }
  Result<double> time(const std::function<Status()> &work) override {
    int64_t before = ticks;
    if (Status status = work(); !status)
      return status.error();
    return static_cast<double>(ticks - before) * kTickMs;
  }

private:
  static constexpr double kTickMs = 0.001;

  std::unique_ptr<Device> host;
  int64_t ticks = 0;
  std::string targetName = "toy", productName = "Toy One";
};

} // namespace

Result<std::unique_ptr<Device>> toy::makeDevice() {
  HostDeviceOptions options;
  options.threads = 1;
  Result<std::unique_ptr<Device>> host = makeHostDevice(options);
  if (!host)
    return host.error();
  return std::unique_ptr<Device>(std::make_unique<ToyDevice>(std::move(*host)));
}
