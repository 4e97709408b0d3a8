//===- CommandLine.cpp - From a command line to a command -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "CommandSet.h"
#include "Messages.h"
#include "UsageError.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tarpon {

namespace {

class CommandLine {
public:
  CommandLine();

  /// Returns the exit status if there is nothing left to be done.
  std::optional<int> parse(int argc, char **argv);
  int run() const { return commands.command(); }

  const std::vector<std::string> &getNames() const {
    return commands.getNames();
  }
  const CLI::App &getApp() const { return app; }

private:
  CLI::App app{"Tarpon, a graph compiler for ONNX models that tunes what "
               "others guess.\n\"graph-opt FILE.mlir PASSES\" runs passes like "
               "mlir-opt; \"graph-opt --help-list\" lists them.",
               "graph-opt"};
  CommandSet commands{app};
};

} // namespace

void addDb(CommandSet &commands) {
  commands.addParent("db",
                     "Maintain the measurements, and exchange them with MIOpen",
                     "graph-opt db import gfx90a68.HIP.fdb.txt");
#define TARPON_DB_COMMAND(ADD) ADD(commands);
#include "Commands.def"
}

void addFleet(CommandSet &commands) {
  commands.addParent("fleet", "Tune on many machines",
                     "graph-opt fleet start sqlite:fleet.db --label nightly");
#define TARPON_FLEET_COMMAND(ADD) ADD(commands);
#include "Commands.def"
}

CommandLine::CommandLine() {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("graph-opt ") + TARPON_VERSION);
  app.footer("example:\n  graph-opt compile resnet50.onnx -o resnet50.tpn\n\n"
             "\"graph-opt COMMAND --help\" tells more about each.");
#define TARPON_COMMAND(ADD) ADD(commands);
#include "Commands.def"
}

std::optional<int> CommandLine::parse(int argc, char **argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return failUsage(options::describe(app, error));
  }
}

bool isCommand(std::string_view argument) {
  CommandLine line;
  const std::vector<std::string> &names = line.getNames();
  return std::find(names.begin(), names.end(), argument) != names.end();
}

int runCommandLine(int argc, char **argv) {
  CommandLine line;
  if (std::optional<int> status = line.parse(argc, argv))
    return *status;
  return line.run();
}

void visitCommandLine(const std::function<void(const CLI::App &)> &visit) {
  visit(CommandLine().getApp());
}

} // namespace tarpon
