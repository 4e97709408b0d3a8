//===- CpuQuota.cpp - The CPU time that a container gets ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Version 2 has one hierarchy, "0::/path", and a file cpu.max with "QUOTA
// PERIOD" or "max PERIOD". Version 1 has one for the CPU,
// "4:cpu,cpuacct:/path", and a file for each of the two numbers. In a
// container, the path is that of the host, and what is mounted is the
// container's own folder: each path is looked for from its end to the root,
// whether its folders exist or not.
//
//===----------------------------------------------------------------------===//

#include "CpuQuota.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tarpon::runtime {

namespace fs = std::filesystem;

/// The cores that the numbers pay for; nothing if they set no limit.
static std::optional<double> divide(double quota, double period) {
  if (quota <= 0 || period <= 0)
    return std::nullopt;
  return quota / period;
}

static std::optional<double> readVersion2(const fs::path &folder) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0, period = 0;
  // "max" is no number.
  file >> quota >> period;
  return file ? divide(quota, period) : std::nullopt;
}

static std::optional<double> readVersion1(const fs::path &folder) {
  double quota = 0, period = 0;
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  return divide(quota, period);
}

/// Finds the smallest limit of the group and of those above it, up to `root`.
template <typename Read>
static double findSmallest(const fs::path &root, const std::string &group,
                           const Read &read, double smallest) {
  fs::path path = fs::path(group).relative_path();
  while (true) {
    smallest = std::min(smallest, read(root / path).value_or(smallest));
    if (path.empty())
      return smallest;
    path = path.parent_path();
  }
}

/// Returns true if the comma-separated list has the controller of CPU time.
static bool hasCpu(const std::string &controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

std::optional<int> CpuQuota::count() const {
  constexpr double kNoLimit = 1e9;
  double cores = kNoLimit;
  std::ifstream list(groups);
  std::string number, controllers, group;
  while (std::getline(list, number, ':') &&
         std::getline(list, controllers, ':') && std::getline(list, group)) {
    if (controllers.empty())
      cores = findSmallest(root, group, readVersion2, cores);
    else if (hasCpu(controllers))
      cores = findSmallest(fs::path(root) / "cpu", group, readVersion1, cores);
  }
  if (cores == kNoLimit)
    return std::nullopt;
  return std::max(1, static_cast<int>(std::min(cores, 1e6)));
}

} // namespace tarpon::runtime
