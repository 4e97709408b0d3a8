//===- Device.h - What packages run on --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, copies, code objects, launches and times of one GPU. All work of a
// device is queued in one order; nothing but `synchronize`, `copyOut` and the
// times waits for it. An error names the call, and the kernel and the sizes
// where there are some.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_DEVICE_H
#define TARPON_RUNTIME_DEVICE_H

#include "tarpon/Runtime/Result.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tarpon::runtime {

/// Bytes of a device, freed with the object.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  virtual void *address() const = 0;
  virtual int64_t size() const = 0;
};

/// A kernel of a code object that a device has loaded.
class DeviceKernel {
public:
  virtual ~DeviceKernel() = default;
  virtual const std::string &symbol() const = 0;
};

/// How often a kernel runs. `arguments` are the bytes of its argument segment,
/// laid out as the code object's metadata says.
struct DeviceLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  uint32_t workgroup = 64;
  std::span<const char> arguments;
};

/// A sequence of work that was captured, to be queued as a whole.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
};

/// One thread at a time.
class Device {
public:
  virtual ~Device() = default;

  /// "gfx942:cu=304", as parseGpuTarget reads it.
  virtual const std::string &target() const = 0;
  /// The product's name, for people.
  virtual const std::string &name() const = 0;

  virtual Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) = 0;
  /// `source` must stay as it is until the device is synchronised.
  virtual Status copyIn(const DeviceMemory &to, int64_t offset,
                        std::span<const char> source) = 0;
  /// Waits until the bytes are there.
  virtual Status copyOut(std::span<char> to, const DeviceMemory &from,
                         int64_t offset) = 0;

  /// The kernel of that symbol. Loaded code stays until the device goes.
  virtual Result<std::unique_ptr<DeviceKernel>>
  loadKernel(std::span<const char> codeObject, const std::string &symbol) = 0;
  virtual Status launch(const DeviceKernel &kernel,
                        const DeviceLaunch &launch) = 0;
  virtual Status synchronize() = 0;

  /// What `work` queues (launches only), without running it.
  virtual Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) = 0;
  virtual Status launch(const DeviceGraph &graph) = 0;

  /// Milliseconds that the device takes for what `work` queues.
  virtual Result<double> time(const std::function<Status()> &work) = 0;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DEVICE_H
