//===- ManPage.h - Man pages of a command line ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_MANUAL_MANPAGE_H
#define TARPON_TOOLS_MANUAL_MANPAGE_H

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tarpon::manual {

/// A page for man: its name ("graph-opt-compile") and its text for groff.
struct ManPage {
  std::string name;
  std::string text;
};

/// Makes the page of a program, and one for each of its commands, however deep.
/// Each page's foot has `version`.
std::vector<ManPage> makeManPages(const CLI::App &app,
                                  const std::string &version);

} // namespace tarpon::manual

#endif // TARPON_TOOLS_MANUAL_MANPAGE_H
