//===- ProcessId.cpp - Names of processes that are never reused -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessId.h"

#include "llvm/ADT/SmallVector.h"

#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace tarpon;

static std::string readWhole(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Linux counts start times in clock ticks since boot: field 22 of stat, the
/// 20th behind the command, which may hold spaces and ends with the last ")".
static std::string readStartTime(llvm::StringRef pid) {
  std::string stat = readWhole("/proc/" + pid.str() + "/stat");
  llvm::StringRef fields = llvm::StringRef(stat).rsplit(") ").second;
  llvm::SmallVector<llvm::StringRef> parts;
  fields.split(parts, ' ');
  // A zombie ("Z") has ended.
  if (parts.size() < 20 || parts[0] == "Z" || parts[0] == "X")
    return "";
  return parts[19].str();
}

static std::string readBootId() {
  std::string id = readWhole("/proc/sys/kernel/random/boot_id");
  return llvm::StringRef(id).trim().str();
}

std::string tarpon::getProcessId() {
  std::string pid = std::to_string(getpid());
  return readBootId() + ":" + pid + ":" + readStartTime(pid);
}

bool tarpon::isProcessAlive(llvm::StringRef id) {
  llvm::SmallVector<llvm::StringRef> parts;
  id.split(parts, ':');
  if (parts.size() != 3 || parts[0] != readBootId() || parts[1].empty())
    return false;
  std::string start = readStartTime(parts[1]);
  return !start.empty() && start == parts[2];
}
