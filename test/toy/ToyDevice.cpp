//===- ToyDevice.cpp - What runs the toy's packages ------------------------
//-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyDevice.h"

#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/Package.h"

using namespace tarpon;
using namespace tarpon::runtime;

namespace {

/// One thread of the host, which is told that it is something else.
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
    return host->launch(kernel, launch);
  }
  Status synchronize() override { return host->synchronize(); }
  Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) override {
    return host->capture(work);
  }
  Status launch(const DeviceGraph &graph) override {
    return host->launch(graph);
  }
  Result<double> time(const std::function<Status()> &work) override {
    return host->time(work);
  }

private:
  std::unique_ptr<Device> host;
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
