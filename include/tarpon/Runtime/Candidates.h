//===- Candidates.h - Packages that can be tuned ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package for GPUs may hold several ways to compute a layer, each with its
// kernels and packed constants: it is compiled on any machine, and a machine
// with the GPU measures them and chooses, without compiling anything.
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

/// The index of the candidate that computes the layer, or none.
std::optional<size_t> findChosen(const Layer &layer);

/// Makes a candidate, which was measured, the layer's solution.
void chooseCandidate(Package &package, size_t layer, size_t candidate);

/// The package without candidates, and without the kernels and constants that
/// only they use.
Package dropCandidates(const Package &package);

/// Makes a package of one candidate. `inputs` are the problem's operands, with
/// no elements for constants, and `outputs` its results.
Package extractCandidate(const Package &package, const Layer &layer,
                         const Candidate &candidate,
                         std::vector<TensorInfo> inputs,
                         std::vector<TensorInfo> outputs);

/// Copies launches of other packages into one, with the constants and the code
/// objects that they use, each once.
class LaunchCollector {
public:
  explicit LaunchCollector(Package &to);

  /// Sets the package that the next launches come from; it must not change
  /// until they are copied.
  void setSource(const Package &package);

  /// Copies a launch; its constants refer to the collector's package.
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
  /// The ends of the source's constants, and their offsets in the collector's
  /// package.
  std::map<int64_t, int64_t> ends, copied;
  /// The collected constants, by their hash.
  std::unordered_multimap<size_t, Range> known;
  std::set<std::string> symbols;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_CANDIDATES_H
