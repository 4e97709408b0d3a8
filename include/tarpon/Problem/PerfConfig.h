//===- PerfConfig.h - The tunable fields of a solver ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PERFCONFIG_H
#define TARPON_PROBLEM_PERFCONFIG_H

#include "tarpon/Runtime/Result.h"

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// The tunable fields of a solver for one problem, by name. Two text forms,
/// both sorted by name: "tile_m=14,tile_n=32", which keys and command lines
/// hold, and a JSON object, which packages and tuning files hold.
class PerfConfig {
public:
  using Field = std::pair<std::string, int64_t>;

  PerfConfig() = default;
  /// In any order, each name once.
  PerfConfig(std::initializer_list<Field> init);

  /// Of a field that the config has.
  int64_t get(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const;
  /// Adds the field if the config lacks it.
  void set(llvm::StringRef name, int64_t value);
  /// Sorted by name.
  llvm::ArrayRef<Field> getFields() const { return fields; }
  std::string str() const;
  /// Fails unless the text is one that str() gives, in any order.
  static mlir::FailureOr<PerfConfig> parse(llvm::StringRef text);

  /// "{"tile_m": 14, "tile_n": 32}".
  std::string json() const;
  /// The error names the text that is not an object of integers.
  static runtime::Result<PerfConfig> parseJson(llvm::StringRef text);

  bool operator==(const PerfConfig &) const = default;
  bool operator<(const PerfConfig &other) const {
    return fields < other.fields;
  }

private:
  // Solvers rank hundreds of configs of a few fields within microseconds: one
  // block of memory, not a tree.
  std::vector<Field> fields;
};

inline llvm::hash_code hash_value(const PerfConfig &config) {
  return llvm::hash_value(config.str());
}

} // namespace tarpon

#endif // TARPON_PROBLEM_PERFCONFIG_H
