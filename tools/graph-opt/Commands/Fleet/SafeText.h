//===- SafeText.h - Text from outside on a terminal -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H

#include "tarpon/Fleet/SafeText.h"

namespace tarpon {

using fleet::showLines;
using fleet::showText;

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_SAFETEXT_H
