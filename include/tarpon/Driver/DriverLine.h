//===- DriverLine.h - MIOpenDriver's command lines --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applications that use MIOpen log what they compute as command lines of its
// driver. They are read here as they stand:
//
//   [./bin/MIOpenDriver] convfp16 -n 128 -c 256 -H 14 -W 14 -k 256 -y 3 -x 3
//       -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1 -t 1
//
// The letters, names and defaults are MIOpen's (MIOpen, driver/*.hpp; the names
// of the flags are listed in docs/graph-opt.md). A flag that asks for something
// that Tarpon does not do is an error and never ignored.
//
// What the flags cannot say is asked for by a problem key instead, as a single
// word: 'relu(1x64x56x56xf32:nhwc)->1x64x56x56xf32:nhwc'.
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

/// One thing that a line asks for.
struct DriverTask {
  /// "Forward Convolution", "Backward Data Convolution", "Forward Pooling".
  std::string name;
  Problem problem;
};

/// What a line asks for, in the order in which it is done.
struct DriverLine {
  /// "conv", "convfp16", "pool", "CBAInfer", ...
  std::string base;
  std::vector<DriverTask> tasks;
  /// -V: compare with the reference solver.
  bool verify = true;
  /// -t: print times.
  bool time = false;
  /// -s: try every config of every solver, and keep what was measured.
  bool search = false;
  /// -i: timed runs.
  int64_t iterations = 10;
  /// -S: the id of a solver, "0" for the one that ranks first, or "-1" for the
  /// fastest of all.
  std::string solution = "-1";
};

/// The words of a command line: the base and its flags, with the driver's own
/// name in front of them or without it; or a problem key. An error is one
/// sentence.
runtime::Result<DriverLine> parseDriverLine(llvm::ArrayRef<std::string> words);

/// The bases that are known, sorted.
std::vector<std::string> getDriverBases();

/// "-n --batchsize (100)" and so on, one per line, for a known base.
std::string describeDriverFlags(llvm::StringRef base);

} // namespace tarpon

#endif // TARPON_DRIVER_DRIVERLINE_H
