//===- ProblemRules.h - What problems of an operation look like -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each operation: how many operands it has, which attributes, and
// which results follow from them. findFault checks problems by it. Each area of
// solvers has a table of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PROBLEMRULES_H
#define TARPON_PROBLEM_PROBLEMRULES_H

#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/StringRef.h"

#include <cmath>

namespace tarpon {

/// How many values an attribute has, in terms of operand 0.
enum class Count : uint8_t {
  One,
  Spatial,
  SpatialTwice,
  Rank,
  RankTwice,
  Any,
};

struct AttrRule {
  llvm::StringLiteral name;
  Count count = Count::One;
  /// Values are integers, or any numbers; at least that.
  bool isInteger = true;
  double least = -HUGE_VAL;
};

struct OpRule {
  using Shape = llvm::SmallVector<int64_t>;

  llvm::StringLiteral op;
  /// How many operands the root has.
  int leastOperands = 1, mostOperands = 1;
  /// Of operand 0.
  int64_t leastRank = 0, mostRank = INT64_MAX;
  llvm::ArrayRef<AttrRule> attrs;
  /// The results are real numbers: integer operands are computed with in f32.
  bool isReal = false;
  /// Root operands, as bits, of which random values must be positive: divisors,
  /// variances.
  unsigned positiveOperands = 0;
  /// Appends the shape of every result. Returns what is wrong with operands,
  /// dtypes or attributes, or "". Called on tensors and attributes that are
  /// well-formed each by itself.
  std::string (*infer)(const Problem &problem, std::vector<Shape> &results);
};

/// The rule of an operation, or null: the older ones are checked by code in
/// ProblemCheck.cpp.
const OpRule *findOpRule(llvm::StringRef op);

/// "1x3x8x8".
std::string printShape(llvm::ArrayRef<int64_t> shape);

} // namespace tarpon

#endif // TARPON_PROBLEM_PROBLEMRULES_H
