//===- IntegerProgram.h - Mixed integer programs, by CBC --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_REGIONS_INTEGERPROGRAM_H
#define TARPON_LIB_AUTOTUNE_REGIONS_INTEGERPROGRAM_H

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace tarpon {

/// A linear program of which some variables are 0 or 1. Not thread-safe: CBC
/// has global state.
class IntegerProgram {
public:
  static constexpr double kInfinity = std::numeric_limits<double>::max();

  struct Term {
    size_t variable = 0;
    double factor = 0;
  };
  struct Answer {
    std::vector<double> values;
    /// No solution costs less.
    double bound = 0;
  };

  /// Add a variable that is 0 or 1, or between them, and costs so much if it is
  /// 1. Return its index.
  size_t addBinary(double cost) { return addVariable(cost, true); }
  size_t addFraction(double cost) { return addVariable(cost, false); }

  /// Adds a condition: the sum is from `least` to `most`.
  void addRow(std::vector<Term> terms, double least, double most);

  /// Returns values of the least cost, to within kGap, or none if the
  /// conditions cannot be met. The search ends after kMaxNodes with the best
  /// that it has found, so that it gives the same answer on a slow machine.
  std::optional<Answer> minimise() const;

  /// The share of the cost that need not be proven.
  static constexpr double kGap = 1e-4;
  static constexpr int kMaxNodes = 20000;

private:
  struct Variable {
    double cost = 0;
    bool isBinary = false;
  };
  struct Row {
    std::vector<Term> terms;
    double least = 0, most = 0;
  };

  size_t addVariable(double cost, bool isBinary) {
    variables.push_back({cost, isBinary});
    return variables.size() - 1;
  }

  std::vector<Variable> variables;
  std::vector<Row> rows;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_REGIONS_INTEGERPROGRAM_H
