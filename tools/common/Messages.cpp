//===- Messages.cpp - Messages of the programs ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

#include <algorithm>
#include <cstdio>

namespace tarpon {

static const char *programName = "graph-opt";

void setProgramName(const char *name) { programName = name; }

/// File names may contain line breaks; a message never does.
static void printLine(const char *severity, std::string message) {
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!message.empty() && message.back() == ' ')
    message.pop_back();
  // Flushing stdout keeps the order in a log of both streams.
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s: %s\n", programName, severity, message.c_str());
}

int fail(const std::string &message) {
  printLine("error", message);
  return kUserError;
}

int failUsage(const std::string &message) {
  printLine("error", message);
  return kUsageError;
}

void remark(const std::string &message) { printLine("remark", message); }

} // namespace tarpon
