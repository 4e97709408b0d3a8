//===- Machine.h - The machine of a worker ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_MACHINE_H
#define TARPON_LIB_FLEET_MACHINE_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tarpon::fleet {

/// The name of this machine in its network.
std::string getMachineName();

/// The model of its CPU, as the kernel names it.
std::string getCpuModel();

/// The version of the driver of that target's GPUs, as the kernel's module says
/// it; "" if it says none, as where the driver is the kernel's own.
std::string getDriverVersion(const std::string &target,
                             const std::string &modules = "/sys/module");

/// The numbers of the cores that this process may run on.
std::vector<int> getCores();

/// Groups these cores by the ones that share their execution units (SMT), in
/// the order of the first ones. A core whose siblings are unknown has none.
std::vector<std::vector<int>>
groupSiblings(const std::vector<int> &cores,
              const std::string &folder = "/sys/devices/system/cpu");

/// Restricts the calling thread, and the threads and processes that it starts,
/// to these cores; none leave it as it is. An error if it may not run on any of
/// them.
runtime::Status pinToCores(const std::vector<int> &cores);

/// The name by which processes of this machine agree on who has a device: its
/// identity, or its model, of which the machine has one.
std::string getLockName(const runtime::Device &device,
                        const std::string &model);

/// How a wait for a device has ended.
enum class DeviceWait : uint8_t {
  Taken,
  Lost, ///< nobody waits for the result any more
  Busy  ///< another process has it, and goes on
};

/// Holds a device of this machine for one process, until it is released or the
/// process ends. It is a name in the abstract namespace of Unix sockets, which
/// no file system keeps.
class DeviceLock {
public:
  explicit DeviceLock(const std::string &device);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  /// Takes the device unless another process has it, and returns whether this
  /// one has it now.
  bool tryTake();
  /// Waits for the device, until it is this process's, `isLost` returns true or
  /// so much time has passed.
  DeviceWait take(const std::function<bool()> &isLost,
                  std::chrono::milliseconds longest);
  void release();

private:
  std::string name;
  int socket = -1;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_MACHINE_H
