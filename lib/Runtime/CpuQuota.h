//===- CpuQuota.h - The CPU time that a container gets ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_CPUQUOTA_H
#define TARPON_LIB_RUNTIME_CPUQUOTA_H

#include <optional>
#include <string>

namespace tarpon::runtime {

/// The limits of CPU time of this process's control group and of those above
/// it, of both versions of Linux's control groups.
class CpuQuota {
public:
  /// `groups` lists the groups of a process; `root` is where they are mounted.
  explicit CpuQuota(std::string groups = "/proc/self/cgroup",
                    std::string root = "/sys/fs/cgroup")
      : groups(std::move(groups)), root(std::move(root)) {}

  /// Counts the whole cores that the smallest limit pays for, at least 1;
  /// nothing if there is no limit.
  std::optional<int> count() const;

private:
  std::string groups, root;
};

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_CPUQUOTA_H
