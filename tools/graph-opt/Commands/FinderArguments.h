//===- FinderArguments.h - Options of the finder ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_FINDERARGUMENTS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_FINDERARGUMENTS_H

#include "Commands.h"

#include "tarpon/Autotune/Search/Find.h"

namespace tarpon {

/// Makes options from arguments that the command line has checked.
FinderOptions makeFinderOptions(const FinderArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_FINDERARGUMENTS_H
