//===- Options.h - Describes a command line's options -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_MANUAL_OPTIONS_H
#define TARPON_TOOLS_MANUAL_OPTIONS_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tarpon::manual {

/// The direct sub-commands of `app`, in the order of its help.
std::vector<const CLI::App *> getCommands(const CLI::App &app);

/// The options that have a name and are not hidden.
std::vector<const CLI::Option *> getNamed(const CLI::App &app);

/// The arguments without a name, in their order.
std::vector<const CLI::Option *> getPositionals(const CLI::App &app);

/// "-o" and "--output", in this order.
std::vector<std::string> getNames(const CLI::Option &option);

/// Returns true if a value follows the option as the next word.
bool takesValue(const CLI::Option &option);

/// The possible words of a value, as its type lists them: fp32, fp16 for
/// "fp32,fp16|pick_global". None if it is free.
std::vector<std::string> getChoices(const CLI::Option &option);

/// Returns true if the value is a file or a folder.
bool isFile(const CLI::Option &option);

/// The first sentence of a description, without its full stop.
std::string getSummary(const CLI::App &app);

/// The rest of the description; "" if there is none.
std::string getDetails(const CLI::App &app);

} // namespace tarpon::manual

#endif // TARPON_TOOLS_MANUAL_OPTIONS_H
