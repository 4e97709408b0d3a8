//===- Solutions.h - The solutions of one operation -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_EMBED_SOLUTIONS_H
#define TARPON_EMBED_SOLUTIONS_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The machine for which solutions are listed.
struct SolutionQuery {
  /// 0: one per core.
  int64_t threads = 0;
  /// One of LLVM's CPUs.
  std::string cpu = "native";
};

/// A way to compute an operation on this machine.
struct ListedSolution {
  std::string solver;
  /// The perf config, such as "tile_m=6,tile_n=32".
  std::string config;
  /// "user-db" or "system-db" for a measured solution, "heuristic" or
  /// "default".
  std::string source;
  /// The measured median; none for a guess.
  std::optional<double> milliseconds;
  int64_t workspaceBytes = 0;
};

/// Lists the solutions of a problem, the fastest first as far as times are
/// known; measures nothing. `problem` is a key, like LayerSolution::problem, or
/// a command line of MIOpenDriver that asks for one operation.
runtime::Result<std::vector<ListedSolution>>
listSolutions(const std::string &problem, const SolutionQuery &query = {});

} // namespace tarpon

#endif // TARPON_EMBED_SOLUTIONS_H
