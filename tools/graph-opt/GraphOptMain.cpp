//===- GraphOptMain.cpp - The main function of graph-opt ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphOptMain.h"

#include "Commands/CommandLine.h"
#include "FatalErrors.h"
#include "LargeAllocations.h"
#include "Messages.h"
#include "Opt.h"

#include <filesystem>
#include <string_view>

/// Returns true for a misspelt command: a word that is neither a file nor looks
/// like one.
static bool isUnknownCommand(std::string_view argument) {
  std::error_code code;
  return !argument.starts_with("-") &&
         argument.find_first_of("./") == std::string_view::npos &&
         !std::filesystem::exists(argument, code);
}

int tarpon::graphOptMain(int argc, char **argv) {
  tarpon::useHugePages();
  tarpon::reportFatalErrors();
  if (argc < 2)
    return tarpon::failUsage("no command (see 'graph-opt --help')");
  std::string_view first = argv[1];
  if (tarpon::isCommand(first) || first == "--help" || first == "-h" ||
      first == "--version")
    return tarpon::finishOutput(tarpon::runCommandLine(argc, argv));
  if (isUnknownCommand(first))
    return tarpon::failUsage("there is no command '" + std::string(first) +
                             "' (see 'graph-opt --help')");
  return tarpon::runOpt(argc, argv);
}
