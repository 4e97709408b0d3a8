//===- CommandSet.h - Collects the sub-commands -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDSET_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDSET_H

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// A sub-command and the arguments that its options are parsed into, which live
/// as long as it does.
template <typename Arguments>
struct AddedCommand {
  CLI::App *app;
  Arguments &arguments;
};

class CommandSet {
public:
  explicit CommandSet(CLI::App &app) : app(app) {}

  /// Adds a command of graph-opt. `run` executes it and returns the exit
  /// status.
  template <typename Arguments>
  AddedCommand<Arguments>
  add(const std::string &name, const std::string &summary,
      const std::string &example, int (*run)(const Arguments &)) {
    CLI::App *sub = app.add_subcommand(name, summary);
    sub->footer("example:\n  " + example);
    names.push_back(name);
    return {sub, setRun(sub, run)};
  }

  /// Adds a command that does nothing without one of its verbs (addVerb).
  void addParent(const std::string &name, const std::string &summary,
                 const std::string &example) {
    CLI::App *parent = app.add_subcommand(name, summary);
    parent->footer("example:\n  " + example);
    parent->require_subcommand(1);
    names.push_back(name);
  }

  template <typename Arguments>
  AddedCommand<Arguments>
  addVerb(const std::string &parent, const std::string &name,
          const std::string &summary, int (*run)(const Arguments &)) {
    CLI::App *sub = app.get_subcommand(parent)->add_subcommand(name, summary);
    return {sub, setRun(sub, run)};
  }

  /// The names of graph-opt's commands.
  const std::vector<std::string> &getNames() const { return names; }

  /// Runs the parsed command. It is called after CLI11 has finished, so that no
  /// exception passes through code that was compiled without.
  std::function<int()> command;

private:
  template <typename Arguments>
  Arguments &setRun(CLI::App *sub, int (*run)(const Arguments &)) {
    auto arguments = std::make_shared<Arguments>();
    sub->callback([this, run, arguments] {
      command = [run, arguments] { return run(*arguments); };
    });
    return *arguments;
  }

  CLI::App &app;
  std::vector<std::string> names;
};

// Each function adds one command.
#define TARPON_COMMAND(ADD) void ADD(CommandSet &commands);
#define TARPON_DB_COMMAND(ADD) void ADD(CommandSet &commands);
#define TARPON_FLEET_COMMAND(ADD) void ADD(CommandSet &commands);
#include "Commands.def"

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDSET_H
