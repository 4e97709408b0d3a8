//===- FleetLoad.cpp - What a fleet's server does -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetLoad.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace tarpon::fleet;

namespace {

/// The times of a process, in ticks.
struct Times {
  int64_t parent = 0, own = 0, ofChildren = 0;
};

} // namespace

static Times readTimes(const std::string &process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  // A name may hold spaces and parentheses.
  size_t end = line.rfind(')');
  if (end == std::string::npos)
    return {};
  std::istringstream text(line.substr(end + 1));
  std::string state;
  Times times;
  text >> state >> times.parent;
  constexpr int kBetween = 9;
  int64_t number = 0;
  for (int i = 0; i < kBetween; ++i)
    text >> number;
  int64_t user = 0, system = 0, userOfChildren = 0, systemOfChildren = 0;
  text >> user >> system >> userOfChildren >> systemOfChildren;
  times.own = user + system;
  times.ofChildren = userOfChildren + systemOfChildren;
  return times;
}

/// The server's processes are children of its first one, which knows the times
/// of those that have ended.
static int64_t readServerTicks(int64_t process) {
  if (process == 0)
    return 0;
  Times first = readTimes(std::to_string(process));
  int64_t ticks = first.own + first.ofChildren;
  std::error_code code;
  for (std::filesystem::directory_iterator entry("/proc", code), end;
       !code && entry != end; entry.increment(code)) {
    std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (Times times = readTimes(name); times.parent == process)
      ticks += times.own;
  }
  return ticks;
}

/// All but the times of nothing to do, and of waiting for a disk.
static int64_t readMachineTicks() {
  std::ifstream file("/proc/stat");
  std::string name;
  int64_t user = 0, nice = 0, system = 0;
  file >> name >> user >> nice >> system;
  return user + nice + system;
}

ServerLoad readLoad(Database &database, int64_t process) {
  auto perSecond = static_cast<double>(sysconf(_SC_CLK_TCK));
  ServerLoad load;
  load.server = static_cast<double>(readServerTicks(process)) / perSecond;
  load.self =
      static_cast<double>(readTimes(std::to_string(getpid())).own) / perSecond;
  load.machine = static_cast<double>(readMachineTicks()) / perSecond;
  if (!database.isPostgres())
    return load;
  auto rows = database.query(
      "SELECT CAST(sum(xact_commit) AS DOUBLE PRECISION), "
      "CAST(pg_current_wal_lsn() - '0/0' AS DOUBLE PRECISION) FROM "
      "pg_stat_database");
  if (rows && !rows->empty()) {
    load.transactions = rows->front().real(0);
    load.walBytes = rows->front().real(1);
  }
  return load;
}
