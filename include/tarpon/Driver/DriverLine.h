//===- DriverLine.h - MIOpenDriver's command lines --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applications that use MIOpen log their computations as command lines of its
// driver, which are read unchanged:
//
//   [./bin/MIOpenDriver] convfp16 -n 128 -c 256 -H 14 -W 14 -k 256 -y 3 -x 3
//       -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1
//
// The letters, names and defaults are MIOpen's (MIOpen, driver/*.hpp; the names
// of the flags are listed in docs/graph-opt.md). A flag that asks for something
// that Tarpon does not do is an error and never ignored.
//
// A problem that the flags cannot describe is given as a problem key instead,
// as a single word: 'relu(1x64x56x56xf32:nhwc)->1x64x56x56xf32:nhwc'.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_DRIVERLINE_H
#define TARPON_DRIVER_DRIVERLINE_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tarpon {

/// One task of a line.
struct DriverTask {
  /// "Forward Convolution", "Backward Data Convolution", "Forward Pooling".
  std::string name;
  Problem problem;
};

/// A parsed line: its tasks in the order in which they are done.
struct DriverLine {
  /// "conv", "convfp16", "pool", "CBAInfer", ...
  std::string base;
  std::vector<DriverTask> tasks;
  /// -V: compare with the reference solver.
  bool verify = true;
  /// -t: print times.
  bool time = false;
  /// -s: search every config of every solver, and keep the measurements.
  bool search = false;
  /// -i: timed runs.
  int64_t iterations = 10;
  /// -S: the id of a solver, "0" for the one that ranks first, or "-1" for the
  /// fastest of all.
  std::string solution = "-1";
};

/// Parses the words of a command line: the base and its flags, with or without
/// the driver's name in front of them; or a problem key. An error is one
/// sentence.
runtime::Result<DriverLine> parseDriverLine(llvm::ArrayRef<std::string> words);

/// The known bases, sorted.
std::vector<std::string> getDriverBases();

/// Lists the flags of a known base, one per line: "-n --batchsize (100)" and so
/// on.
std::string describeDriverFlags(llvm::StringRef base);

} // namespace tarpon

#endif // TARPON_DRIVER_DRIVERLINE_H
