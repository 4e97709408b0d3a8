//===- PerfText.cpp - MIOpen's perf DBs as text ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   item := solver ":" config
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::StringRef;
using runtime::Status;

static std::string parseItem(StringRef id, StringRef payload,
                             Solution &solution) {
  if (!isName(id))
    return quote(id) + " is no name of a solver";
  if (!isConfig(payload))
    return quote(payload) + " is no config of " + id.str();
  solution.solver = id.str();
  solution.config = payload.str();
  return "";
}

Status miopen::readPerfText(const std::string &path, Database &database) {
  return readTextFile(path, database, parseItem);
}

Status miopen::writePerfText(const std::string &path,
                             const Database &database) {
  return writeTextFile(path, database,
                       [](const Solution &solution, std::string &text) {
                         text += solution.config;
                       });
}
