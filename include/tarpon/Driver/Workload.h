//===- Workload.h - Lists of problems to tune -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workload is a text file with a problem per line: a driver line or a problem
// key. Text in front of a driver line is skipped, so that logs of MIOpen
// ("MIOpen(HIP): Command [...] ./bin/MIOpenDriver conv ...") and Tarpon's own
// ("graph-opt driver conv ...") can be read unchanged. Empty lines and lines
// that start with '#' are ignored, and so are, in a log with lines of MIOpen,
// all other lines of the application.
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

/// The problems of a workload. Lines count from 1.
struct Workload {
  struct Fault {
    int64_t line;
    /// The fault, as one sentence.
    std::string reason;
  };
  /// The distinct problems, in the order in which they first occur.
  std::vector<Problem> problems;
  /// The lines that pose no problem which can be solved here.
  std::vector<Fault> faults;
  /// The number of lines that were not ignored.
  int64_t lines = 0;
  /// The number of those that are problem keys, which variants leave as they
  /// are.
  int64_t keys = 0;
};

/// Values in place of a driver line's own batch and direction: a problem
/// per combination. Problem keys stay as they are, and so does the direction of
/// lines other than convolutions.
struct WorkloadVariants {
  /// Empty for the line's own.
  std::vector<int64_t> batches;
  /// Values of -F: 1 forward, 2 backward data, 4 backward weights; empty for
  /// the line's own.
  std::vector<int64_t> directions;
};

Workload parseWorkload(llvm::StringRef text,
                       const WorkloadVariants &variants = {});

/// Reads a workload. An error if the file cannot be read; lines that cannot be
/// read are faults.
runtime::Result<Workload> readWorkload(const std::string &path,
                                       const WorkloadVariants &variants = {});

/// Prints a line of a workload, which `graph-opt driver` runs as it stands:
/// with the driver's flags where they describe exactly this problem, otherwise
/// its key in quotes.
std::string printDriverLine(const Problem &problem);

} // namespace tarpon

#endif // TARPON_DRIVER_WORKLOAD_H
