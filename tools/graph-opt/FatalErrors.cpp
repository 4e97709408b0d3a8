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

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <unistd.h>

using namespace tarpon;

/// Nothing can be allocated any more, and destructors may want to. What they
/// leave behind, the next run removes.
[[noreturn]] static void exitOutOfMemory() {
  constexpr char kText[] = "graph-opt: error: out of memory\n";
  (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(kUserError);
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
  constexpr char kText[] =
      "graph-opt: error: a file was cut short while it was read\n";
  if (info->si_code == BUS_ADRERR) {
    (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
    _exit(kUserError);
  }
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
