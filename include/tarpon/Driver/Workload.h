//===- Workload.h - Lists of problems to tune -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workload is a text file with a problem per line: a driver line or a problem
// key. What a log puts in front of a driver line does not matter, so that logs
// of MIOpen ("MIOpen(HIP): Command [...] ./bin/MIOpenDriver conv ...") and
// Tarpon's own ("graph-opt driver conv ...") are read as they are. Empty lines
// and those that start with '#' say nothing; in a log with lines of MIOpen,
// neither does what else the application has logged.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_WORKLOAD_H
#define TARPON_DRIVER_WORKLOAD_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon {

/// What a file asks for. Lines count from 1.
struct Workload {
  struct Fault {
    int64_t line;
    /// One sentence.
    std::string reason;
  };
  /// Each once, in the order in which they are first asked for.
  std::vector<Problem> problems;
  /// The lines that pose nothing which can be done here.
  std::vector<Fault> faults;
  /// Lines that say something.
  int64_t lines = 0;
};

Workload parseWorkload(llvm::StringRef text);

/// An error if the file cannot be read; lines that cannot are faults.
runtime::Result<Workload> readWorkload(const std::string &path);

/// A line of a workload, which `graph-opt driver` runs as it stands: in the
/// driver's flags where they say exactly this problem, else its key in quotes.
std::string printDriverLine(const Problem &problem);

} // namespace tarpon

#endif // TARPON_DRIVER_WORKLOAD_H
