//===- ProblemLog.h - Logs problems as driver lines -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_PROBLEMLOG_H
#define TARPON_DRIVER_PROBLEMLOG_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace tarpon {

/// Appends the problems that are not there yet to `path`, as lines that
/// `graph-opt tune` reads; "" for no file. With $TARPON_ENABLE_LOGGING_CMD set
/// to anything but 0, prints them to stderr, too.
runtime::Status logProblems(llvm::ArrayRef<Problem> problems,
                            const std::string &path);

/// Logs the problems of a package's layers in the same way.
runtime::Status logProblems(const runtime::Package &package,
                            const std::string &path);

} // namespace tarpon

#endif // TARPON_DRIVER_PROBLEMLOG_H
