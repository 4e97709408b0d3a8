//===- OpRules.h - Rules for the problems of an operation -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each operation: its number of operands, its attributes, its
// results, and its other properties. findFault checks problems by the rules.
// Each group of operations has a table of its own in lib/Problem/Rules.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_OPRULES_H
#define TARPON_PROBLEM_OPRULES_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/StringRef.h"

#include <climits>
#include <cmath>
#include <optional>

namespace tarpon {

/// The number of values of an attribute, in terms of operand 0.
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
  /// True if values are integers, otherwise any numbers; and the least value.
  bool isInteger = true;
  double least = -HUGE_VAL;
};

/// Elementwise operations compute each element of the result from one element
/// of each operand, and may thus stand in an epilogue.
enum class Elementwise : uint8_t { No, Unary, Binary };

struct OpRule {
  OpKind op;
  /// The number of the root's operands.
  int leastOperands = 1, mostOperands = 1;
  /// The rank of operand 0.
  int64_t leastRank = 0, mostRank = INT64_MAX;
  llvm::ArrayRef<AttrRule> attrs = {};
  Elementwise elementwise = Elementwise::No;
  /// For an elementwise gradient dy * f'(x), f. None for others.
  std::optional<OpKind> forward = std::nullopt;
  /// The operands of a binary operation may be swapped.
  bool commutes = false;
  /// The results are real numbers: integer operands are converted to f32.
  bool isReal = false;
  /// Integer operands are refused, or all others.
  bool needsFloats = false, needsIntegers = false;
  /// The low bits of an integer result depend on the same bits of the operands
  /// only, so that it does not matter when they are cut off.
  bool keepsLowBits = false;
  /// Integers are computed in the float type of the result, if it has one.
  bool followsResult = false;
  /// The root's operands (as a bit set) whose random values must be positive:
  /// divisors, variances.
  unsigned positiveOperands = 0;
  /// Appends the shape of every result. Returns what is wrong with operands,
  /// dtypes or attributes, or "". Each tensor and attribute is well-formed by
  /// itself.
  std::string (*infer)(const Problem &problem,
                       std::vector<Shape> &results) = nullptr;
  /// The number of multiplications and additions of the root. Null if it is one
  /// for each element of the largest tensor.
  double (*countFlops)(const Problem &problem) = nullptr;
  /// For operations that add up products with a filter, operand 1: the number
  /// of products in the sum of one element of the result. Null for others.
  int64_t (*countTerms)(const Problem &problem) = nullptr;
  /// The dimension of the filter that may have a scale for each index, or -1.
  int64_t filterScaleAxis = -1;
};

const OpRule &getOpRule(OpKind op);

/// All rules, table by table.
std::vector<const OpRule *> getOpRules();

/// "1x3x8x8".
std::string printShape(llvm::ArrayRef<int64_t> shape);

} // namespace tarpon

#endif // TARPON_PROBLEM_OPRULES_H
