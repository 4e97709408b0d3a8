//===- OpRules.h - What problems of an operation look like ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each operation: how many operands it has, which attributes,
// which results follow from them, and what else differs from operation to
// operation. findFault checks problems by it. Each group of operations has a
// table of its own in lib/Problem/Rules.
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

/// Whether an operation computes each element of its result from one element of
/// each operand, and so may stand in an epilogue.
enum class Elementwise : uint8_t { No, Unary, Binary };

struct OpRule {
  OpKind op;
  /// How many operands the root has.
  int leastOperands = 1, mostOperands = 1;
  /// Of operand 0.
  int64_t leastRank = 0, mostRank = INT64_MAX;
  llvm::ArrayRef<AttrRule> attrs = {};
  Elementwise elementwise = Elementwise::No;
  /// Of an elementwise gradient dy * f'(x): f. None for others.
  std::optional<OpKind> forward = std::nullopt;
  /// The operands of a binary operation may change places.
  bool commutes = false;
  /// The results are real numbers: integer operands are computed with in f32.
  bool isReal = false;
  /// Integer operands are refused.
  bool needsFloats = false;
  /// Integers are computed with in the floats that the result holds, if it
  /// does.
  bool followsResult = false;
  /// Root operands, as bits, of which random values must be positive: divisors,
  /// variances.
  unsigned positiveOperands = 0;
  /// Appends the shape of every result. Returns what is wrong with operands,
  /// dtypes or attributes, or "". Called on tensors and attributes that are
  /// well-formed each by itself.
  std::string (*infer)(const Problem &problem,
                       std::vector<Shape> &results) = nullptr;
  /// Multiplications and additions of the root, counted separately. Null if it
  /// takes one for each element of its largest tensor.
  double (*countFlops)(const Problem &problem) = nullptr;
  /// Of operations that add up products with a filter, operand 1: how many
  /// products one element of the result is the sum of. Null for others.
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
