//===- Commands.h - The sub-commands of graph-opt ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments that several commands or their helpers read. Those of one
// command are a struct in that command's file.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H

#include "tarpon/Passes/Fusion.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The arguments of compiling a model without a search: one global choice.
struct ModelArguments {
  /// An ONNX model or, for some commands, a package.
  std::string model;
  runtime::Precision dtype = runtime::Precision::F32;
  /// For an ONNX model: the target to compile for, and to run on.
  std::string target = "host", device;
  Layout layout;
  Fusion fusion = Fusion::On;
  std::optional<int64_t> batch;
  /// "NAME=SIZE" for symbolic dimensions of a model, or those of a package.
  std::vector<std::string> sizes;
  /// For a package: the public key that it has to be signed with; "" for none.
  std::string publicKey;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// The file to which the problems are appended as driver lines. verify does
  /// not have it.
  std::string logDriver;
};

/// The options of a search, for every command that tunes. Empty values leave it
/// to the environment.
struct SearchArguments {
  std::string method;
  std::optional<int64_t> iterations, patience;
  std::optional<uint64_t> seed;
};

/// The store of a `db` command.
struct StoreArguments {
  /// "" for this machine's store.
  std::string store;
  /// The file to which the answer is also written as JSON.
  std::string json;
};

/// The options of finding solutions.
struct FinderArguments {
  std::string target = "host", device;
  int64_t threads = 0;
  std::string cpu = "native";
  /// Names or numbers; empty values leave it to the environment.
  std::string findMode, tuningPolicy;
  SearchArguments search;
  bool quiet = false;
};

struct TuneArguments {
  /// A file of problem keys and driver lines, or a package.
  std::string workload;
  FinderArguments finder;
  std::optional<double> tuningTime;
  /// For a package: the file of the tuned one ("" replaces the package), the
  /// tuning file to update, and whether candidates that were not chosen are
  /// dropped.
  std::string output, tuningFile;
  /// For a package: the public key that it has to be signed with; "" for none.
  std::string publicKey;
  bool dropCandidates = false;
};

int runTunePackage(const TuneArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDS_H
