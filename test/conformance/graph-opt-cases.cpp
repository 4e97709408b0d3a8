//===- graph-opt-cases.cpp - graph-opt, loaded once for many runs ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: graph-opt-cases, with one command line per line of its input
//
// A command line is graph-opt's arguments, parted by tabs. Each is run in a
// forked process, so that a crash costs one case and the libraries are loaded
// once: that takes five times as long as refusing a model. Answers each line
// with the wait status and the number of bytes of the error output, and with
// that output.
//
//===----------------------------------------------------------------------===//

#include "GraphOptMain.h"

#include "tarpon/Targets/AllTargets.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static std::vector<std::string> splitTabs(const std::string &line) {
  std::vector<std::string> parts = {"graph-opt"};
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, '\t');)
    parts.push_back(part);
  return parts;
}

/// Runs in the forked process.
[[noreturn]] static void runCase(std::vector<std::string> arguments,
                                 int errorPipe) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0)
    std::exit(EXIT_FAILURE);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errorPipe, STDERR_FILENO);
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::exit(tarpon::graphOptMain(static_cast<int>(arguments.size()),
                                 pointers.data()));
}

static std::string readAll(int pipe) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(pipe, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(count));
  return text;
}

static bool answer(const std::string &line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  pid_t child = fork();
  if (child < 0)
    return false;
  if (child == 0)
    runCase(splitTabs(line), ends[1]);
  close(ends[1]);
  std::string text = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child)
    return false;
  std::cout << status << ' ' << text.size() << '\n' << text << std::flush;
  return true;
}

int main() {
  tarpon::registerAllTargets();
  for (std::string line; std::getline(std::cin, line);)
    if (!answer(line)) {
      std::perror("graph-opt-cases");
      return 1;
    }
  return 0;
}
