//===- UsageError.h - Describes errors of command lines ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_COMMON_USAGEERROR_H
#define TARPON_TOOLS_COMMON_USAGEERROR_H

#include <CLI/CLI.hpp>

#include <string>

namespace tarpon::options {

/// Turns CLI11's message into one sentence in our style, with the command whose
/// --help explains more.
inline std::string describe(const CLI::App &app, const CLI::ParseError &error) {
  std::string message = error.what();
  std::string help = app.get_name();
  for (const CLI::App *sub : app.get_subcommands()) {
    help += " " + sub->get_name();
    for (const CLI::App *nested : sub->get_subcommands())
      help += " " + nested->get_name();
  }
  return message + " (see '" + help + " --help')";
}

} // namespace tarpon::options

#endif // TARPON_TOOLS_COMMON_USAGEERROR_H
