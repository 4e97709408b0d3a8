//===- SearchFlags.h - Options of a search ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_SEARCHFLAGS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_SEARCHFLAGS_H

#include "Commands.h"

#include "tarpon/Autotune/Search/SearchOptions.h"

namespace tarpon {

/// Makes options from arguments that the command line has checked.
inline SearchOverrides makeSearchOverrides(const SearchArguments &arguments) {
  SearchOverrides overrides;
  if (!arguments.method.empty())
    overrides.method = *parseSearchMethod(arguments.method);
  overrides.iterations = arguments.iterations;
  overrides.patience = arguments.patience;
  overrides.seed = arguments.seed;
  return overrides;
}

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_SEARCHFLAGS_H
