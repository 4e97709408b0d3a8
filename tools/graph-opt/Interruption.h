//===- Interruption.h - Ends a tuning run with what it has ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_INTERRUPTION_H
#define TARPON_TOOLS_GRAPH_OPT_INTERRUPTION_H

#include "tarpon/Autotune/Search/Deadline.h"

namespace tarpon {

/// Once somebody has asked for the condition that this returns, a first SIGINT
/// (Ctrl-C) or SIGTERM only makes it true, and one that comes half a second
/// later or more ends the program as usual. The condition lives as long as the
/// program.
const Deadline::Condition &catchInterruptions();

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_INTERRUPTION_H
