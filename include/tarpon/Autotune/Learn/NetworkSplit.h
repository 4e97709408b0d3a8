//===- NetworkSplit.h - The networks held out of training -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fixed split of benchmarks/problems/convs.txt by network: a model is trained
// on the shapes of some networks and judged on those of the others. A split by
// row would test a model on the neighbours of what it has seen.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_NETWORKSPLIT_H
#define TARPON_AUTOTUNE_LEARN_NETWORKSPLIT_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Result.h"

#include <map>
#include <set>
#include <string>

namespace tarpon {

/// Immutable and thread-safe.
class NetworkSplit {
public:
  /// Makes a split that holds out nothing and knows no network.
  NetworkSplit() = default;

  /// Reads a split (JSON: "name", "held_out", a list of networks, and
  /// "problems", a file in the form of convs.txt beside it) and its problems.
  /// An error names the file, and the line of a problem.
  static runtime::Result<NetworkSplit> read(const std::string &path);

  const std::string &getName() const { return name; }
  const std::set<std::string> &getHeldOut() const { return heldOut; }

  /// The networks that pose a convolution of this shape, whatever its batch,
  /// dtype, layout and epilogue; empty if none of the list does.
  const std::set<std::string> &getNetworks(const Problem &problem) const;

  /// Returns true if networks pose the problem and all of them are held out. A
  /// shape that a training network has too is not held out.
  bool isHeldOut(const Problem &problem) const;

private:
  std::string name;
  std::set<std::string> heldOut;
  /// Networks by the numbers of a line of convs.txt from C to G, that is,
  /// without N.
  std::map<std::string, std::set<std::string>> networks;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_NETWORKSPLIT_H
