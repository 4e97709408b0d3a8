//===- Messages.h - Messages of the programs --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_COMMON_MESSAGES_H
#define TARPON_TOOLS_COMMON_MESSAGES_H

#include <string>

namespace tarpon {

/// The exit statuses of docs/design.md, section 9.
enum ExitStatus : int { kSuccess = 0, kUserError = 1, kUsageError = 2 };

/// Sets the first word of every message; "graph-opt" by default. `name` must
/// outlive the program's last message.
void setProgramName(const char *name);

/// Prints "graph-opt: error: <message>" on one line of stderr and returns
/// kUserError.
int fail(const std::string &message);

/// Does the same for an invalid command line, and returns kUsageError.
int failUsage(const std::string &message);

/// Prints "graph-opt: remark: <message>" on one line of stderr.
void remark(const std::string &message);

} // namespace tarpon

#endif // TARPON_TOOLS_COMMON_MESSAGES_H
