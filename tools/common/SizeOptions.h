//===- SizeOptions.h - Sizes of dimensions on a command line ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_COMMON_SIZEOPTIONS_H
#define TARPON_TOOLS_COMMON_SIZEOPTIONS_H

#include "ModelInputs.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tarpon::options {

/// Adds the sizes of a model's dimensions, one each.
inline void addSizes(CLI::App &app, std::vector<std::string> &sizes) {
  auto check = [](const std::string &text) -> std::string {
    auto size = parseSize(text);
    return size ? "" : size.message();
  };
  app.add_option("--dim", sizes, "Size of a dimension of the inputs")
      ->type_name("NAME=SIZE")
      ->expected(1)
      ->take_all()
      ->check(CLI::Validator(check, ""));
}

} // namespace tarpon::options

#endif // TARPON_TOOLS_COMMON_SIZEOPTIONS_H
