//===- PerfConfig.h - The tunable fields of a solver ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one form of perf configs in memory, and their text form, which keys,
// command lines and #tarpon.solution hold. PerfConfigJson.h has the other one,
// of packages and tuning files.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PERFCONFIG_H
#define TARPON_PROBLEM_PERFCONFIG_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// The tunable fields of a solver for one problem, by name. Text form:
/// "tile_m=14,tile_n=32", sorted by name; "" when there are none.
class PerfConfig {
public:
  using Field = std::pair<std::string, int64_t>;

  PerfConfig() = default;
  /// Takes the fields in any order; each name occurs once.
  PerfConfig(std::initializer_list<Field> init);

  /// The value of a field that the config has.
  int64_t get(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const;
  /// Adds the field if the config lacks it.
  void set(llvm::StringRef name, int64_t value);
  /// The fields, sorted by name.
  llvm::ArrayRef<Field> getFields() const { return fields; }
  /// The text form.
  std::string str() const;
  static mlir::FailureOr<PerfConfig> parse(llvm::StringRef text);

  bool operator==(const PerfConfig &) const = default;
  bool operator<(const PerfConfig &other) const {
    return fields < other.fields;
  }

private:
  // The fields, sorted by name. Solvers rank hundreds of configs of a few
  // fields within microseconds: one block of memory, not a tree.
  std::vector<Field> fields;
};

llvm::hash_code hash_value(const PerfConfig &config);

} // namespace tarpon

#endif // TARPON_PROBLEM_PERFCONFIG_H
