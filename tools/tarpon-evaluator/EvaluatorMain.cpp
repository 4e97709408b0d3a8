//===- EvaluatorMain.cpp - The main of evaluators ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads one JSON request per line and writes one JSON answer per line, until
// its input ends; the protocol is in tarpon/Runtime/Evaluator.h.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorMain.h"

#include "EvaluationServer.h"

#include "tarpon/Runtime/Thread.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

using tarpon::runtime::Thread;

static void printHelp(std::FILE *stream, const char *program,
                      const char *summary) {
  std::fprintf(
      stream,
      "usage: %s [--parent=PID]\n"
      "\n"
      "%s\n"
      "Reads one JSON request per line from standard input and writes one\n"
      "JSON answer per line to standard output. With --parent it ends as\n"
      "soon as that process has died.\n"
      "\n"
      "example:\n"
      "  echo '{\"id\":1,\"package\":\"model.tpn\",\"reference\":null,"
      "\"threads\":1,\n"
      "         \"input_seed\":0,\"min_samples\":10,\"min_time_ms\":100,\n"
      "         \"max_time_ms\":5000,\"rotate_bytes\":0,\"inputs\":null}' |\n"
      "    tr -d '\\n' | %s\n",
      program, summary, program);
}

/// The end of the input tells a waiting evaluator that its parent has died, but
/// not one whose kernel never ends. PR_SET_PDEATHSIG would already fire at the
/// end of the parent's thread that started this process. Without a thread, the
/// end of the input and the parent's limits of time remain.
static void endWithParent(pid_t parent) {
  std::optional<Thread> watcher = Thread::start([parent] {
    while (getppid() == parent)
      usleep(250'000);
    _exit(1);
  });
  if (watcher)
    watcher->detach();
}

/// Kernels may print, but only answers may reach the real standard output.
/// Returns its new descriptor.
static int reserveOutput() {
  int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) {
    close(STDOUT_FILENO);
    return output;
  }
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
  return output;
}

static bool writeLine(int output, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(output, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Returns true if the command line is valid.
static bool parseArguments(int argc, char **argv, pid_t &parent) {
  constexpr std::string_view kParent = "--parent=";
  for (int index = 1; index < argc; ++index) {
    std::string_view argument = argv[index];
    if (!argument.starts_with(kParent))
      return false;
    argument.remove_prefix(kParent.size());
    const char *begin = argument.data(), *end = begin + argument.size();
    auto [last, code] = std::from_chars(begin, end, parent);
    if (code != std::errc() || last != end)
      return false;
  }
  return true;
}

int tarpon::evaluator::evaluatorMain(int argc, char **argv, const char *program,
                                     const char *summary, DeviceOpener open) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    printHelp(stdout, program, summary);
    return 0;
  }
  pid_t parent = 0;
  if (!parseArguments(argc, argv, parent)) {
    printHelp(stderr, program, summary);
    return 2;
  }
  if (parent > 0)
    endWithParent(parent);
  // Crashes are expected: no core files with a model's weights are written.
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);

  int output = reserveOutput();
  tarpon::evaluator::EvaluationServer server(open);
  std::string line;
  while (std::getline(std::cin, line)) {
    tarpon::runtime::EvaluationAnswer answer = server.answer(line);
    if (!writeLine(output, toJsonLine(answer)))
      return 1;
    // The parent knows that a process which answers so has ended. Destructors
    // could wait for the dead device.
    if (answer.outcome == tarpon::runtime::EvaluationOutcome::Crashed)
      _exit(0);
  }
  return 0;
}
