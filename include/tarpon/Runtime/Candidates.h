//===- Candidates.h - Packages that can be tuned ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package for GPUs may hold several ways to compute a layer, each with its
// kernels and packed constants: it is compiled on any machine, and a machine
// with the GPU measures them and chooses. Nothing is compiled for that.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_CANDIDATES_H
#define TARPON_RUNTIME_CANDIDATES_H

#include "tarpon/Runtime/Package.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tarpon::runtime {

bool hasCandidates(const Package &package);

/// The candidate that the layer is computed by, or none.
std::optional<size_t> findChosen(const Layer &layer);

/// Makes a candidate the layer's solution, one that was measured.
void chooseCandidate(Package &package, size_t layer, size_t candidate);

/// The package without candidates, and without what only they use.
Package dropCandidates(const Package &package);

/// One candidate as a model of its own. `inputs` are the problem's operands,
/// with no elements for constants, and `outputs` its results.
Package extractCandidate(const Package &package, const Layer &layer,
                         const Candidate &candidate,
                         std::vector<TensorInfo> inputs,
                         std::vector<TensorInfo> outputs);

/// Copies launches of other packages into one, with the constants and the code
/// objects that they use, each once.
class LaunchCollector {
public:
  explicit LaunchCollector(Package &to);

  /// What is copied next is this package's, which stays as it is meanwhile.
  void setSource(const Package &package);

  /// The launch with its constants where they are in the collector's package.
  Launch copy(Launch launch);

private:
  struct Range {
    int64_t offset, bytes;
  };

  int64_t copyConstant(int64_t offset);
  void copyKernel(const std::string &symbol);
  void remember(int64_t offset, int64_t bytes);

  Package &to;
  const Package *from = nullptr;
  /// Where the source's constants end, and where they are by now.
  std::map<int64_t, int64_t> ends, copied;
  /// The constants that there are, by their hash.
  std::unordered_multimap<size_t, Range> known;
  std::set<std::string> symbols;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_CANDIDATES_H
