//===- Device.h - What packages run on --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, copies, kernels, launches and times of the host or of one GPU. A
// device does its work in the order in which it was queued. Only `synchronize`,
// `copyOut` and `time` wait for it; a device whose work is done when a call
// returns, as the host's is, has nothing to wait for. An error names the call,
// and the kernel and the sizes where there are some.
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
  /// Without the padding behind the end.
  virtual int64_t size() const = 0;
};

/// A kernel that a device has loaded.
class DeviceKernel {
public:
  virtual ~DeviceKernel() = default;
  virtual const std::string &symbol() const = 0;
};

/// What one launch of a kernel works on. A device that has captured the launch
/// may read the spans when the graph is launched (see sharesHostMemory): they
/// must live as long as the graph.
struct DeviceLaunch {
  /// One address per buffer.
  std::span<void *const> buffers;
  /// Numbers as KernelABI.h has them.
  std::span<const int64_t> params;
  int64_t tasks = 1;
  /// How many lanes of a GPU share a task; see CodeObjectRange.
  int64_t workgroup = 1;
  /// Bytes of scratch per thread, on the host.
  int64_t scratchBytes = 0;
};

/// A sequence of launches that was captured, to be queued as a whole.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
};

/// One thread at a time.
class Device {
public:
  virtual ~Device() = default;

  /// What code is generated for: "x86-64", or "gfx942:cu=304".
  virtual const std::string &target() const = 0;
  /// The product's name, for people.
  virtual const std::string &name() const = 0;
  /// The threads of this process that run tasks, the caller's among them; 0 for
  /// a device that has processors of its own.
  virtual int threads() const { return 0; }
  /// Whether the device can run the package. The error is a clause about the
  /// package: "it was compiled for ...".
  virtual Status checkPackage(const Package &package) const = 0;

  /// Memory that kernels may read for kBufferTailPadding bytes behind its end.
  virtual Result<std::unique_ptr<DeviceMemory>> allocate(int64_t bytes) = 0;
  /// Memory that holds these bytes. The host takes them over; other devices
  /// copy them.
  virtual Result<std::unique_ptr<DeviceMemory>> upload(AlignedBytes bytes);
  /// Sets every byte.
  virtual Status fill(const DeviceMemory &memory, uint8_t value) = 0;
  /// `source` must stay as it is until the device is synchronised.
  virtual Status copyIn(const DeviceMemory &to, int64_t offset,
                        std::span<const char> source) = 0;
  /// Waits until the bytes are there.
  virtual Status copyOut(std::span<char> to, const DeviceMemory &from,
                         int64_t offset) = 0;

  /// Whether kernels work on the host's memory. Such a device reads the spans
  /// of a captured launch each time when the graph is launched, so that their
  /// elements may change meanwhile; the others read them once, when they
  /// capture it.
  virtual bool sharesHostMemory() const { return false; }
  /// Whether kernels may work on this memory of the caller's where it lies.
  /// `isPadded` says that kBufferTailPadding bytes behind it can be read.
  virtual bool canWorkOn(const void *pointer, int64_t bytes,
                         bool isPadded) const;
  /// Takes the memory out of the caches, if there are any that the device can
  /// empty: who reads it next reads it from memory.
  virtual void flushFromCaches(const DeviceMemory &memory);

  /// The kernels of these symbols, in one code object. The code stays loaded as
  /// long as one of them lives.
  virtual Result<std::vector<std::unique_ptr<DeviceKernel>>>
  load(std::span<const char> code, std::span<const std::string> symbols) = 0;
  /// The same for one symbol.
  Result<std::unique_ptr<DeviceKernel>> loadKernel(std::span<const char> code,
                                                   const std::string &symbol);
  virtual Status launch(const DeviceKernel &kernel,
                        const DeviceLaunch &launch) = 0;
  virtual Status synchronize() = 0;

  /// What `work` queues (launches only), without running it. The graph must not
  /// outlive its kernels.
  virtual Result<std::unique_ptr<DeviceGraph>>
  capture(const std::function<Status()> &work) = 0;
  virtual Status launch(const DeviceGraph &graph) = 0;

  /// Whether times say how fast the device is; those of an emulation do not.
  virtual bool hasTimes() const { return true; }
  /// Milliseconds that the device takes for what `work` queues.
  virtual Result<double> time(const std::function<Status()> &work) = 0;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_DEVICE_H
