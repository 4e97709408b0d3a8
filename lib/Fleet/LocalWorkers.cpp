//===- LocalWorkers.cpp - Workers on this machine -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/LocalWorkers.h"

#include "Machine.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Status;
using tarpon::runtime::success;

static void assign(LocalWorker &worker, llvm::ArrayRef<int> cores) {
  std::vector<std::string> names;
  for (int core : cores)
    names.push_back(std::to_string(core));
  worker.command.insert(worker.command.end(),
                        {"--cores", llvm::join(names, ",")});
}

using Groups = llvm::ArrayRef<std::vector<int>>;

/// The cores of these groups: the first ones of all, then the second ones, so
/// that the first N of them share as little as they can.
static std::vector<int> spread(Groups groups) {
  std::vector<int> cores;
  size_t most = 0;
  for (const std::vector<int> &group : groups)
    most = std::max(most, group.size());
  for (size_t i = 0; i < most; ++i)
    for (const std::vector<int> &group : groups)
      if (i < group.size())
        cores.push_back(group[i]);
  return cores;
}

void tarpon::fleet::assignCores(std::vector<LocalWorker> &workers,
                                const std::vector<std::vector<int>> &free) {
  Groups left = free;
  std::vector<int> all = spread(free);
  bool isShared = false;
  for (LocalWorker &worker : workers) {
    if (worker.cores == 0 || all.empty())
      continue;
    // With as many evaluators as cores, some share: the device's lock lets one
    // measure at a time. Threads that are more than the groups are siblings of
    // each other, and leave no group alone.
    size_t count = std::min(all.size(), static_cast<size_t>(worker.cores));
    isShared |= count >= left.size();
    if (isShared) {
      assign(worker, llvm::ArrayRef(all).take_front(count));
      continue;
    }
    std::vector<int> cores = spread(left.take_back(count));
    assign(worker, llvm::ArrayRef(cores).take_front(count));
    left = left.drop_back(count);
  }
  std::vector<int> rest = spread(left);
  for (LocalWorker &worker : workers) {
    if (worker.cores == 0 && !all.empty())
      assign(worker, rest);
    if (isShared)
      worker.command.emplace_back("--take-turns");
  }
}

static int start(const LocalWorker &worker, pid_t &process) {
  std::vector<char *> arguments;
  for (const std::string &word : worker.command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  return posix_spawn(&process, arguments.front(), nullptr, nullptr,
                     arguments.data(), environ);
}

/// The processes to which signals are passed on; 0 for those that have ended,
/// whose numbers may be others' by now.
static constexpr size_t kMaxWorkers = 1024;
static volatile pid_t processes[kMaxWorkers];
static volatile size_t numProcesses = 0;

static void passOn(int signal) {
  for (size_t i = 0; i < numProcesses; ++i)
    if (pid_t process = processes[i])
      kill(process, signal);
}

/// Forgets a process that has ended before the system may give its number to
/// another one. Returns the number, 0 while all live, or less if there is none.
static pid_t takeEnded(int &status) {
  siginfo_t info = {};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return -1;
  if (info.si_pid == 0)
    return 0;
  for (size_t i = 0; i < numProcesses; ++i)
    if (processes[i] == info.si_pid)
      processes[i] = 0;
  return waitpid(info.si_pid, &status, 0);
}

static std::string describeEnd(int status) {
  return WIFSIGNALED(status)
             ? "ended by signal " + std::to_string(WTERMSIG(status))
             : "exit status " + std::to_string(WEXITSTATUS(status));
}

/// Waits for all processes, and calls `look` every second. When one refuses,
/// the others, which might wait for it, are told to end.
static Status waitForAll(llvm::function_ref<void()> look) {
  constexpr useconds_t kPause = 20000;
  constexpr int kPausesPerLook = 50;
  Status result = success();
  size_t living = numProcesses;
  for (int pauses = 1; living > 0; ++pauses) {
    int status = 0;
    pid_t ended = takeEnded(status);
    if (ended == 0) {
      usleep(kPause);
      if (pauses % kPausesPerLook == 0)
        look();
      continue;
    }
    if (ended < 0)
      return result;
    --living;
    if (status == 0 || !result)
      continue;
    result = Error{"a worker has failed: " + describeEnd(status)};
    // If it was killed, others take its jobs.
    if (!WIFSIGNALED(status))
      passOn(SIGTERM);
  }
  return result;
}

/// Takes all these cores for the workers of this process: what another one
/// compiles there would be measured here.
static std::vector<std::unique_ptr<DeviceLock>>
takeCores(llvm::ArrayRef<int> cores, llvm::function_ref<void(int)> onBusy) {
  std::vector<std::unique_ptr<DeviceLock>> locks;
  for (int core : cores) {
    auto lock = std::make_unique<DeviceLock>("core " + std::to_string(core));
    if (!lock->tryTake()) {
      onBusy(core);
      (void)lock->take([] { return false; }, std::chrono::hours(24 * 365));
    }
    locks.push_back(std::move(lock));
  }
  return locks;
}

Status tarpon::fleet::runLocalWorkers(std::vector<LocalWorker> workers,
                                      llvm::function_ref<void()> look,
                                      llvm::function_ref<void(int)> onBusy) {
  if (workers.size() > kMaxWorkers)
    return Error{"no more than " + std::to_string(kMaxWorkers) +
                 " workers can be started at once"};
  auto locks = takeCores(getCores(), onBusy);
  assignCores(workers, groupSiblings(getCores()));
  std::signal(SIGINT, passOn);
  std::signal(SIGTERM, passOn);
  Status result = success();
  for (const LocalWorker &worker : workers) {
    pid_t process;
    if (int code = start(worker, process)) {
      result = Error{"cannot start " + worker.command.front() + ": " +
                     std::strerror(code)};
      break;
    }
    processes[numProcesses] = process;
    numProcesses = numProcesses + 1;
  }
  if (!result)
    passOn(SIGTERM);
  Status ended = waitForAll(look);
  numProcesses = 0;
  return result ? ended : result;
}
