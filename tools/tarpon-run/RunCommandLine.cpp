//===- RunCommandLine.cpp - The command line of tarpon-run ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CLI11 throws exceptions. The model runs after CLI11 has finished, in files
// that are compiled without exceptions.
//
//===----------------------------------------------------------------------===//

#include "RunCommandLine.h"

#include "Messages.h"
#include "NumberRange.h"
#include "SizeOptions.h"
#include "UsageError.h"

#include <CLI/CLI.hpp>

#include <limits>

using namespace tarpon;
using namespace tarpon::options;

void run::addOptions(CLI::App &app, Arguments &arguments) {
  app.name("tarpon-run");
  app.description("Runs a model that graph-opt has compiled for this machine, "
                  "and times it. Needs neither LLVM nor the compiler.");
  app.set_version_flag("--version",
                       std::string("tarpon-run ") + TARPON_VERSION);
  app.add_option("PACKAGE", arguments.package, "The compiled model (.tpn)")
      ->required()
      ->type_name("");
  app.add_option("--input", arguments.inputs,
                 "An input (default: generated from the seed)")
      ->type_name("NAME=FILE.npy")
      ->expected(1)
      ->take_all();
  addSizes(app, arguments.sizes);
  app.add_option("--require-signature", arguments.publicKey,
                 "Refuse a package that is not signed with this key")
      ->type_name("KEY.pub");
  app.add_option("--output-dir", arguments.outputDir,
                 "Write the outputs here as 0.npy, 1.npy, ...")
      ->type_name("DIR");
  app.add_option("--seed", arguments.seed,
                 "Seed of generated inputs (default: 0)")
      ->check(isBetween(uint64_t(0), std::numeric_limits<uint64_t>::max()))
      ->type_name("N");
  app.add_option("--threads", arguments.threads,
                 "Threads (default: one per core)")
      ->check(isBetween(int64_t(1), int64_t(4096)))
      ->type_name("N");
  app.add_option("--iterations", arguments.iterations,
                 "Timed runs (default: as many as fit into 0.1 s, "
                 "but at least 10)")
      ->check(isBetween(int64_t(1), int64_t(1) << 20))
      ->type_name("N");
  app.footer("example:\n  tarpon-run resnet50.tpn --input data=cat.npy "
             "--output-dir out");
}

std::optional<int> run::parseCommandLine(int argc, char **argv,
                                         Arguments &arguments) {
  CLI::App app;
  addOptions(app, arguments);
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return failUsage(describe(app, error));
  }
}
