//===- HostDevice.h - The CPU as a device -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are functions of a shared object (KernelABI.h); the threads of a pool
// run the tasks of a launch. Memory is the process's own.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_HOSTDEVICE_H
#define TARPON_RUNTIME_HOSTDEVICE_H

#include "tarpon/Runtime/Device.h"

#include <memory>

namespace tarpon::runtime {

struct HostDeviceOptions {
  /// Threads, the caller included; 0 means one per core that this process may
  /// use.
  int threads = 0;
  /// Runs the tasks of each launch one by one from the last to the first, on
  /// the calling thread, so that a kernel whose result depends on the order is
  /// noticed.
  bool reverseTasks = false;
  /// Fills new scratch with 0xff bytes (NaN in every float format), so that
  /// reads of unwritten scratch are noticed.
  bool poisonScratch = false;
};

/// The CPU that this process runs on, with a pool of threads and a scratch for
/// each. Executors may share one; of these only one may run at a time. The
/// error says which of the options is impossible.
Result<std::unique_ptr<Device>>
makeHostDevice(const HostDeviceOptions &options = {});

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_HOSTDEVICE_H
