//===- ProcessId.cpp - Names of processes that are never reused -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessId.h"

#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <unistd.h>

using namespace tarpon;

static std::string readWhole(const std::string &path) {
  std::ifstream file(path);
  std::string text;
  // Unlike the iterators of a stream's buffer, it does not throw when reading
  // fails.
  std::getline(file, text, '\0');
  return text;
}

/// Returns true if there is no such process, not even one that has ended and is
/// still waited for.
static bool isAbsent(llvm::StringRef pid) {
  pid_t number;
  return !pid.getAsInteger(10, number) && number > 0 && kill(number, 0) != 0 &&
         errno == ESRCH;
}

/// Returns "" for a process that has ended, and none if the system does not
/// tell, for example since this process may not open any more files.
///
/// Linux counts start times in clock ticks since boot: field 22 of stat, the
/// 20th behind the command, which may hold spaces and ends with the last ")".
static std::optional<std::string> readStartTime(llvm::StringRef pid) {
  std::string stat = readWhole("/proc/" + pid.str() + "/stat");
  if (stat.empty() && !isAbsent(pid))
    return std::nullopt;
  llvm::StringRef fields = llvm::StringRef(stat).rsplit(") ").second;
  llvm::SmallVector<llvm::StringRef> parts;
  fields.split(parts, ' ');
  // A zombie ("Z") has ended.
  if (parts.size() < 20 || parts[0] == "Z" || parts[0] == "X")
    return std::string();
  return parts[19].str();
}

/// This boot of this machine, and the process ids' namespace: containers share
/// the former but not the latter.
static std::string readPlace() {
  std::string boot = readWhole("/proc/sys/kernel/random/boot_id");
  char link[64];
  ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link));
  // "pid:[4026531836]"
  llvm::StringRef space(link, length > 0 ? length : 0);
  return llvm::StringRef(boot).trim().str() + "." +
         space.drop_while([](char c) { return c < '0' || c > '9'; })
             .take_while([](char c) { return c >= '0' && c <= '9'; })
             .str();
}

std::string tarpon::getProcessId() {
  std::string pid = std::to_string(getpid());
  return readPlace() + ":" + pid + ":" + readStartTime(pid).value_or("");
}

/// Returns true if the process runs, false if it has ended, and none if that is
/// unknown: it is of another place, or the system does not tell.
static std::optional<bool> checkAlive(llvm::StringRef id) {
  llvm::SmallVector<llvm::StringRef> parts;
  id.split(parts, ':');
  if (parts.size() != 3 || parts[0] != readPlace() || parts[1].empty() ||
      parts[2].empty())
    return std::nullopt;
  std::optional<std::string> start = readStartTime(parts[1]);
  if (!start)
    return std::nullopt;
  return !start->empty() && *start == parts[2];
}

bool tarpon::isProcessGone(llvm::StringRef id) {
  return !checkAlive(id).value_or(true);
}

bool tarpon::hasProcessAbandoned(llvm::StringRef id, bool isOld) {
  return !checkAlive(id).value_or(!isOld);
}
