//===- SafeText.h - Text from outside on a terminal -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// Returns the text on one line, with control characters and bytes that are no
/// UTF-8 as escapes ("\x1b"): they could move the cursor or set colours.
std::string showText(llvm::StringRef text);

/// The same of several lines, each of which ends.
std::string showLines(llvm::StringRef text);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H
