//===- Commands.h - The sub-commands of graph-opt ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the command line said, where several commands or their helpers read it.
// What one command reads alone is a struct in that command's file.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H

#include "tarpon/Runtime/Precision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// How a model is compiled where no search is asked for: one global choice.
struct ModelArguments {
  /// An ONNX model or, for some commands, a package.
  std::string model;
  runtime::Precision dtype = runtime::Precision::F32;
  /// Of an ONNX model: what to compile for, and to run on.
  std::string target = "host", device;
  std::string layout = "nchw", fusion = "on";
  std::optional<int64_t> batch;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// Where to append the problems as driver lines. Not of verify.
  std::string logDriver;
};

/// How problems are searched, for every command that tunes. Empty for what the
/// environment says.
struct SearchArguments {
  std::string method;
  std::optional<int64_t> iterations, patience;
  std::optional<uint64_t> seed;
};

/// Where a `db` command finds its store.
struct StoreArguments {
  /// "" for that of this machine.
  std::string store;
  /// Write the answer here too, as JSON.
  std::string json;
};

/// What finding solutions of problems goes by.
struct FinderArguments {
  std::string target = "host", device;
  int64_t threads = 0;
  std::string cpu = "native";
  /// Names or numbers; empty for what the environment says.
  std::string findMode, tuningPolicy;
  SearchArguments search;
  bool quiet = false;
};

struct TuneArguments {
  /// A file of problem keys and driver lines, or a package.
  std::string workload;
  FinderArguments finder;
  std::optional<double> tuningTime;
  /// Of a package: where to write the tuned one ("": in its place), which
  /// tuning file to update, and whether to write what was not chosen.
  std::string output, tuningFile;
  bool dropCandidates = false;
};

int runTunePackage(const TuneArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
