//===- CandidateDigests.h - The candidates of a problem ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_CANDIDATEDIGESTS_H
#define TARPON_AUTOTUNE_STORE_CANDIDATEDIGESTS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>

namespace tarpon {

/// The candidates that a problem has, or had when it was found or searched: for
/// each applicable solver, its version and a digest of the configs that it
/// offers. A finding holds as long as they are the same.
class CandidateDigests {
public:
  void add(llvm::StringRef solver, int64_t version, llvm::StringRef digest);

  /// Returns true if they are not known: findings that were written before
  /// schema version 3 lack them.
  bool areUnknown() const { return solvers.empty(); }

  /// Returns true if the solver has the same candidates in both.
  bool haveSame(const CandidateDigests &others, llvm::StringRef solver) const;

  /// Returns true if every solver has the version that it has in this build.
  bool areOfThisBuild() const;

  bool operator==(const CandidateDigests &) const = default;

  /// The form in which stores have them, sorted by solver:
  /// "conv-igemm-v1/1/0123456789ab gemm-v1/2/ba9876543210".
  std::string str() const;
  /// Entries that cannot be parsed (somebody edited the file) are left out.
  static CandidateDigests parse(llvm::StringRef text);

private:
  struct Entry {
    int64_t version;
    std::string digest;

    bool operator==(const Entry &) const = default;
  };

  std::map<std::string, Entry, std::less<>> solvers;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_CANDIDATEDIGESTS_H
