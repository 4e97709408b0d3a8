//===- Machine.cpp - The machine of a worker ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tarpon/Fleet/Worker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using tarpon::runtime::Error;
using tarpon::runtime::Status;
using tarpon::runtime::success;

namespace tarpon::fleet {

std::string getMachineName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

std::string getCpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (llvm::StringRef(line).starts_with("model name"))
      return llvm::StringRef(line).split(':').second.trim().str();
  return "unknown";
}

std::string getDriverVersion(const std::string &target,
                             const std::string &modules) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
      kModules[] = {{"sm_", "nvidia"}, {"gfx", "amdgpu"}};
  std::string version;
  for (const auto &[prefix, module] : kModules)
    if (llvm::StringRef(target).starts_with(prefix)) {
      std::ifstream file(modules + "/" + module.str() + "/version");
      std::getline(file, version);
    }
  return llvm::StringRef(version).trim().str();
}

std::vector<int> getCores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        cores.push_back(core);
  return cores;
}

std::vector<std::vector<int>> groupSiblings(const std::vector<int> &cores,
                                            const std::string &folder) {
  std::vector<std::vector<int>> groups;
  // Siblings have the same list: "0,4" or "0-1".
  std::map<std::string, size_t> known;
  for (int core : cores) {
    std::ifstream file(folder + "/cpu" + std::to_string(core) +
                       "/topology/thread_siblings_list");
    std::string list;
    if (!std::getline(file, list) || list.empty())
      list = "cpu" + std::to_string(core);
    auto [entry, isNew] = known.emplace(list, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(core);
  }
  return groups;
}

Status pinToCores(const std::vector<int> &cores) {
  if (cores.empty())
    return success();
  std::vector<int> free = getCores();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) {
    // The kernel would take the others alone.
    if (!llvm::is_contained(free, core))
      return Error{"this process may not run on core " + std::to_string(core)};
    CPU_SET(core, &set);
  }
  if (sched_setaffinity(0, sizeof(set), &set) != 0)
    return Error{std::string("the cores cannot be chosen: ") +
                 std::strerror(errno)};
  return success();
}

void hideProcess() { (void)prctl(PR_SET_DUMPABLE, 0); }

std::string getLockName(const runtime::Device &device,
                        const std::string &model) {
  std::string identity = device.identity();
  return identity.empty() ? model : identity;
}

DeviceLock::DeviceLock(const std::string &device)
    : name("tarpon-device-" + device) {}

DeviceLock::~DeviceLock() { release(); }

void DeviceLock::release() {
  if (socket >= 0)
    close(socket);
  socket = -1;
}

DeviceWait DeviceLock::take(const std::function<bool()> &isLost,
                            std::chrono::milliseconds longest) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(50);
  Clock::time_point start = Clock::now();
  while (!tryTake()) {
    if (isLost())
      return DeviceWait::Lost;
    if (Clock::now() - start > longest)
      return DeviceWait::Busy;
    std::this_thread::sleep_for(kLook);
  }
  return DeviceWait::Taken;
}

bool DeviceLock::tryTake() {
  if (socket >= 0)
    return true;
  int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0)
    return false;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A name whose first byte is 0 is in the abstract namespace.
  size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (bind(made, reinterpret_cast<sockaddr *>(&address), size) != 0) {
    close(made);
    return false;
  }
  socket = made;
  return true;
}

} // namespace tarpon::fleet
