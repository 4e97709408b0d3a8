//===- Device.h - The devices that packages run on --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, copies, kernels, launches and times of the host or of one GPU. A
// device works in the order in which work was queued. Only `synchronize`,
// `copyOut` and `time` wait for it; a device that has finished when a call
// returns, like the host's, never waits. An error names the call, and the
// kernel and the sizes if there are any.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_DEVICE_H
#define TARPON_RUNTIME_DEVICE_H

#include "tarpon/Runtime/AlignedBytes.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tarpon::runtime {

struct Package;

/// Bytes of a device, freed with the object.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  virtual void *address() const = 0;
  /// The size in bytes, without the padding behind the end.
  virtual int64_t size() const = 0;
};

/// A kernel that a device has loaded.
class DeviceKernel {
public:
  virtual ~DeviceKernel() = default;
  virtual const std::string &symbol() const = 0;
};

/// The arguments of one launch. A device that has captured the launch may read
/// the spans when the graph is launched (see sharesHostMemory): they must live
/// as long as the graph.
struct DeviceLaunch {
  /// One address per buffer.
  std::span<void *const> buffers;
  /// Integers, encoded as in KernelABI.h.
  std::span<const int64_t> params;
  int64_t tasks = 1;
  /// The number of lanes of a GPU that share a task; see CodeObjectRange.
  int64_t workgroup = 1;
  /// Bytes of scratch per thread, on the host only.
  int64_t scratchBytes = 0;
  /// See CodeObjectRange.
  int64_t ldsBytes = 0;
};

/// A captured sequence of launches, which is queued as a whole.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
};

/// Not thread-safe: one thread at a time.
class Device {
public:
  virtual ~Device() = default;

  /// The target whose code the device runs: "x86-64", or "gfx942:cu=304".
  virtual const std::string &target() const = 0;
  /// The product's name, for people.
  virtual const std::string &name() const = 0;
  /// Tells the device from all others of this machine, in every process; "" if
  /// the device is the machine itself, or emulated.
  virtual std::string identity() const { return ""; }
  /// The number of threads of this process that run tasks, the caller's
  /// included; 0 for a device with processors of its own.
  virtual int threads() const { return 0; }
  /// Checks that the device can run the package. The error is a clause about
  /// the package: "it was compiled for ...".
  virtual Status checkPackage(const Package &package) const = 0;

  /// Allocates memory that kernels may read for kBufferTailPadding bytes behind
  /// its end.
  virtual Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) = 0;
  /// Makes memory that holds these bytes. The host takes them over; other
  /// devices copy them.
  virtual Result<std::unique_ptr<DeviceMemory>> upload(AlignedBytes bytes);
  /// Sets every byte.
  virtual Status fill(const DeviceMemory &memory, uint8_t value) = 0;
  /// Copies from the host. `source` must not change until the device is
  /// synchronised.
  virtual Status copyIn(const DeviceMemory &to, int64_t offset,
                        std::span<const char> source) = 0;
  /// Copies to the host, and waits until the bytes are there.
  virtual Status copyOut(std::span<char> to, const DeviceMemory &from,
                         int64_t offset) = 0;

  /// Copies the bytes of memory of the same size. Through the host's memory
  /// unless a device overrides this.
  virtual Status copy(const DeviceMemory &to, const DeviceMemory &from);

  /// Returns true if kernels work on the host's memory. Such a device reads the
  /// spans of a captured launch each time the graph is launched, so that their
  /// elements may change in between; the others read them once, during the
  /// capture.
  virtual bool sharesHostMemory() const { return false; }
  /// Returns true if kernels may work in place on this memory of the caller's.
  /// `isPadded` says that kBufferTailPadding bytes behind it can be read.
  virtual bool canWorkOn(const void *pointer, int64_t bytes,
                         bool isPadded) const;
  /// Evicts the memory from the caches that the device can empty, so that the
  /// next reader reads it from memory.
  virtual void flushFromCaches(const DeviceMemory &memory);

  /// Loads the kernels with these symbols from one code object. The code stays
  /// loaded as long as one of them lives.
  virtual Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code, std::span<const std::string> symbols) = 0;
  /// Loads the kernel of one symbol.
  Result<std::unique_ptr<DeviceKernel>> loadKernel(std::span<const char> code,
                                                   const std::string &symbol);
  virtual Status launch(const DeviceKernel &kernel,
                        const DeviceLaunch &launch) = 0;
  virtual Status synchronize() = 0;

  /// Captures the launches that `work` queues, without running them. The graph
  /// must not outlive its kernels.
  virtual Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) = 0;
  virtual Status launch(const DeviceGraph &graph) = 0;

  /// Returns true if times are those of real hardware; an emulation's are not.
  virtual bool hasTimes() const { return true; }
  /// Measures the milliseconds that the device takes for the launches that
  /// `work` queues.
  virtual Result<double> time(const std::function<Status()> &work) = 0;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DEVICE_H
