//===- CommandLine.h - Parses command lines ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINE_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINE_H

#include <functional>
#include <string_view>

namespace CLI {
class App;
} // namespace CLI

namespace tarpon {

/// Returns true if `argument` is the name of a sub-command.
bool isCommand(std::string_view argument);

/// Parses the command line and runs its sub-command. Returns the exit status.
int runCommandLine(int argc, char **argv);

/// Calls `visit` with every sub-command and option, for the manual.
void visitCommandLine(const std::function<void(const CLI::App &)> &visit);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_COMMANDLINE_H
