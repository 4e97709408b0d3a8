//===- RunCommandLine.h - The command line of tarpon-run --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_TARPONRUN_RUNCOMMANDLINE_H
#define TARPON_TOOLS_TARPONRUN_RUNCOMMANDLINE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace tarpon::run {

/// The arguments of tarpon-run.
struct Arguments {
  std::string package;
  /// The public key that it has to be signed with; "" for none.
  std::string publicKey;
  /// NAME=FILE.npy for each input; none to generate all inputs from the seed.
  std::vector<std::string> inputs;
  /// NAME=SIZE for dimensions of a package of several sizes.
  std::vector<std::string> sizes;
  std::string outputDir;
  uint64_t seed = 0;
  /// 0: one per core.
  int64_t threads = 0;
  /// The number of runs that are timed; without it, as many as fit into a tenth
  /// of a second.
  std::optional<int64_t> iterations;
};

/// Adds the options to `app`, which parses into `arguments`.
void addOptions(CLI::App &app, Arguments &arguments);

/// Parses the command line into `arguments`, or returns the exit status if
/// there is nothing left to do.
std::optional<int> parseCommandLine(int argc, char **argv,
                                    Arguments &arguments);

} // namespace tarpon::run

#endif // TARPON_TOOLS_TARPONRUN_RUNCOMMANDLINE_H
