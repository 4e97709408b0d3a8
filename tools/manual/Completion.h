//===- Completion.h - Completion of command lines in shells -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_MANUAL_COMPLETION_H
#define TARPON_TOOLS_MANUAL_COMPLETION_H

#include <CLI/CLI.hpp>

#include <string>

namespace tarpon::manual {

/// Make scripts that complete the commands, options and values of a program.
/// Files are offered where one is expected, and for arguments without a name.
std::string makeBashCompletion(const CLI::App &app);
std::string makeFishCompletion(const CLI::App &app);
std::string makeZshCompletion(const CLI::App &app);

} // namespace tarpon::manual

#endif // TARPON_TOOLS_MANUAL_COMPLETION_H
