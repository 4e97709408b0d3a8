//===- Supervisor.cpp - Survives what crashes a builder -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/Supervisor.h"

#include "ErrorFile.h"
#include "Machine.h"

#include "tarpon/Fleet/JobQueue.h"

#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tarpon::fleet;
using tarpon::runtime::Result;

namespace {

/// The memory that a builder and its supervisor share.
struct Shared {
  /// Errors that LLVM takes for fatal end the builder with the status of any
  /// other error.
  std::atomic<bool> hasReturned = false;
  std::atomic<int64_t> takenErrors = 0;
};

} // namespace

/// Waits for a process, shows what it writes, and tells it to end when this one
/// is told to.
static int waitFor(pid_t process, const std::function<bool()> &shouldEnd,
                   ErrorFile &errors) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  bool isTold = false;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (!isTold && shouldEnd()) {
      kill(process, SIGTERM);
      isTold = true;
    }
    errors.show();
    std::this_thread::sleep_for(kLook);
  }
  errors.showAll();
  return status;
}

static std::string describe(int status) {
  if (!WIFSIGNALED(status))
    return "with status " + std::to_string(WEXITSTATUS(status));
  int signal = WTERMSIG(status);
  return "by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

Result<bool> tarpon::fleet::recordCrash(Database &database,
                                        const std::string &label,
                                        int64_t process, const std::string &how,
                                        const std::string &log) {
  Result<Rows> workers = database.query(
      "SELECT worker.id FROM worker JOIN machine ON machine.id = machine_id "
      "WHERE machine.name = :p1 AND process = :p2 AND label = :p3 AND ended IS "
      "NULL ORDER BY worker.id DESC LIMIT 1",
      {getMachineName(), process, label});
  if (!workers)
    return workers.error();
  if (workers->empty())
    return false;
  int64_t worker = workers->front().integer(0);
  JobQueue queue(database, worker, /*leaseSeconds=*/0);
  Result<int64_t> ended = queue.giveBackAll(
      "the builder died of another job",
      AttemptEnd{Cause::Crash, "the compiler ended its builder " + how, log});
  if (!ended)
    return ended.error();
  auto told = database.execute(
      "UPDATE worker SET ended = $NOW, reason = :p1 WHERE id = :p2",
      {"it ended " + how, worker});
  if (!told)
    return told.error();
  return *ended > 0;
}

/// Whoever was killed, or sent another signal, was so by somebody else; leases
/// are there for that.
static bool isOfItsOwn(int status) {
  static constexpr int kFaults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL,
                                    SIGFPE,  SIGTRAP, SIGSYS};
  return WIFSIGNALED(status) ? llvm::is_contained(kFaults, WTERMSIG(status))
                             : WEXITSTATUS(status) != 0;
}

/// Returns true if the end of a builder was an attempt of its job, and the next
/// one may begin.
static bool hasCrashed(const WorkerOptions &options, pid_t process, int status,
                       ErrorFile &errors) {
  if (!isOfItsOwn(status))
    return false;
  auto database = Database::open(options.url);
  if (!database)
    return false;
  Result<bool> recorded =
      recordCrash(**database, options.label, process, describe(status),
                  quoteErrors("the builder", errors.take()));
  return recorded && *recorded && !options.shouldEnd();
}

/// Whoever has started this process learns how the other one has ended.
static int endAlike(int status) {
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  (void)std::signal(WTERMSIG(status), SIG_DFL);
  (void)raise(WTERMSIG(status));
  constexpr int kEndedBySignal = 128;
  return kEndedBySignal + WTERMSIG(status);
}

int tarpon::fleet::superviseBuilder(
    WorkerOptions options, llvm::function_ref<int(const WorkerOptions &)> run) {
  using Clock = std::chrono::steady_clock;
  hideProcess();
  void *page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return run(options);
  auto *shared = new (page) Shared;
  ErrorFile errors(shared->takenErrors);
  pid_t supervisor = getpid();
  int status = 0;
  pid_t process = 0;
  do {
    Clock::time_point begin = Clock::now();
    process = fork();
    if (process < 0)
      return run(options);
    if (process == 0) {
      // Nobody else would tell it to end.
      (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != supervisor)
        (void)raise(SIGTERM);
      errors.redirect();
      options.takeErrors = [&] {
        return quoteErrors("the builder", errors.take());
      };
      int code = run(options);
      shared->hasReturned = true;
      return code;
    }
    status = waitFor(process, options.shouldEnd, errors);
    std::chrono::duration<double> time = Clock::now() - begin;
    if (options.seconds)
      *options.seconds -= time.count();
  } while (!shared->hasReturned &&
           hasCrashed(options, process, status, errors));
  return endAlike(status);
}
