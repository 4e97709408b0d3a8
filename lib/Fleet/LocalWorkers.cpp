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
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace tarpon::fleet;
using tarpon::runtime::Error;
using tarpon::runtime::Status;
using tarpon::runtime::success;

/// Appends "--cores 2,3" to the commands of evaluators and builders.
static void assignCores(std::vector<LocalWorker> &workers) {
  std::vector<int> free = getCores();
  auto assign = [](LocalWorker &worker, const std::vector<int> &cores) {
    std::vector<std::string> names;
    for (int core : cores)
      names.push_back(std::to_string(core));
    worker.command.insert(worker.command.end(),
                          {"--cores", llvm::join(names, ",")});
  };
  for (LocalWorker &worker : workers) {
    if (worker.cores == 0)
      continue;
    size_t count = std::min(free.size(), static_cast<size_t>(worker.cores));
    // With as many evaluators as cores, some share: the device's lock lets one
    // measure at a time.
    if (count == 0)
      continue;
    assign(worker, {free.end() - static_cast<ptrdiff_t>(count), free.end()});
    if (free.size() > count)
      free.resize(free.size() - count);
  }
  for (LocalWorker &worker : workers)
    if (worker.cores == 0)
      assign(worker, free);
}

static int start(const LocalWorker &worker, pid_t &process) {
  std::vector<char *> arguments;
  for (const std::string &word : worker.command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  return posix_spawn(&process, arguments.front(), nullptr, nullptr,
                     arguments.data(), environ);
}

/// The processes to which signals are passed on.
static constexpr size_t kMaxWorkers = 1024;
static volatile pid_t processes[kMaxWorkers];
static volatile size_t numProcesses = 0;

static void passOn(int signal) {
  for (size_t i = 0; i < numProcesses; ++i)
    kill(processes[i], signal);
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
    pid_t ended = waitpid(-1, &status, WNOHANG);
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

Status tarpon::fleet::runLocalWorkers(std::vector<LocalWorker> workers,
                                      llvm::function_ref<void()> look) {
  if (workers.size() > kMaxWorkers)
    return Error{"no more than " + std::to_string(kMaxWorkers) +
                 " workers can be started at once"};
  assignCores(workers);
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
