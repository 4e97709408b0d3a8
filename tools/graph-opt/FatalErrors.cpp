//===- FatalErrors.cpp - Errors that end the program ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatalErrors.h"

#include "Messages.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <string_view>
#include <unistd.h>

using namespace tarpon;

/// Ends the program without allocations and destructors, which the state of its
/// memory may not bear. What they leave behind, the next run removes. Of
/// several threads with the same fault, one speaks.
[[noreturn]] static void exitWith(std::string_view text) {
  static std::atomic_flag isSaid;
  if (isSaid.test_and_set())
    while (true)
      pause();
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(kUserError);
}

[[noreturn]] static void exitOutOfMemory() {
  exitWith("graph-opt: error: out of memory\n");
}

/// LLVM asks for a crash report where it takes the error for a bug of its own:
/// then it goes on to abort.
static void handleFatalError(void *, const char *reason, bool isBug) {
  fail(reason);
  if (!isBug)
    _exit(kUserError);
}

/// Another program has cut a file short that is mapped: a model, its data, or a
/// kernel of the cache. Other faults of the bus end the program as usual.
static void handleBusError(int signal, siginfo_t *info, void *) {
  if (info->si_code == BUS_ADRERR)
    exitWith("graph-opt: error: a file was cut short while it was read\n");
  std::signal(signal, SIG_DFL);
}

static void catchBusErrors() {
  struct sigaction action = {};
  action.sa_sigaction = handleBusError;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

void tarpon::reportFatalErrors() {
  catchBusErrors();
  std::set_new_handler(exitOutOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { exitOutOfMemory(); });
  llvm::install_fatal_error_handler(handleFatalError);
}

int tarpon::finishOutput(int status) {
  llvm::raw_fd_ostream &os = llvm::outs();
  os.flush();
  std::error_code error = os.error();
  // Otherwise its destructor ends the program.
  os.clear_error();
  if (std::fflush(stdout) != 0 && !error)
    error = {errno, std::generic_category()};
  if (!error || status != kSuccess)
    return status;
  return fail("cannot write to standard output: " + error.message());
}
