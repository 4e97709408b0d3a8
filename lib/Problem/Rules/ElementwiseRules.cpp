//===- ElementwiseRules.cpp - Rules of elementwise operations -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every unary operation x has a gradient, the binary operation x_backward: dy
// times the derivative of x at its right-hand operand (Ops.def).
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

static std::string inferBinary(const Problem &problem,
                               std::vector<Shape> &results) {
  std::optional<Shape> both =
      broadcastShapes(problem.operands[0].shape, problem.operands[1].shape);
  if (!both)
    return formatv("{0} has operands that do not broadcast", problem.op);
  results.push_back(*both);
  return "";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

struct BinaryRow {
  OpKind op;
  bool needsFloats = false, needsIntegers = false, commutes = false;
  bool keepsLowBits = false;
  unsigned positiveOperands = 0;
};

struct UnaryRow {
  OpKind op;
  bool needsFloats;
  ArrayRef<AttrRule> attrs = {};
  bool keepsLowBits = false;
};

} // namespace

/// The operands of a minimum do not commute: a NaN in the first one is
/// propagated.
static constexpr BinaryRow kBinary[] = {
    {.op = OpKind::Add, .commutes = true, .keepsLowBits = true},
    {.op = OpKind::Sub, .keepsLowBits = true},
    {.op = OpKind::Mul, .commutes = true, .keepsLowBits = true},
    {.op = OpKind::Div, .positiveOperands = 1 << 1},
    {.op = OpKind::Min},
    {.op = OpKind::Max},
    {.op = OpKind::Equal, .commutes = true},
    {.op = OpKind::Less},
    {.op = OpKind::BitAnd,
     .needsIntegers = true,
     .commutes = true,
     .keepsLowBits = true},
    {.op = OpKind::BitOr,
     .needsIntegers = true,
     .commutes = true,
     .keepsLowBits = true},
    {.op = OpKind::BitXor,
     .needsIntegers = true,
     .commutes = true,
     .keepsLowBits = true},
    {.op = OpKind::ShiftLeft, .needsIntegers = true},
    {.op = OpKind::ShiftRight, .needsIntegers = true},
    {.op = OpKind::Pow, .needsFloats = true},
    {.op = OpKind::Fmod, .needsFloats = true, .positiveOperands = 1 << 1},
    {.op = OpKind::PRelu},
};

static constexpr AttrRule number(StringLiteral name) {
  return {name, Count::One, /*isInteger=*/false};
}

static constexpr AttrRule kAlpha[] = {number("alpha")};
static constexpr AttrRule kBounds[] = {number("low"), number("high")};
static constexpr AttrRule kLine[] = {number("alpha"), number("beta")};
static constexpr AttrRule kPower[] = {number("shift"), number("scale"),
                                      number("exponent")};
static constexpr AttrRule kSelu[] = {number("alpha"), number("gamma")};

static constexpr UnaryRow kUnary[] = {
    {OpKind::Abs, false},
    {OpKind::Acos, true},
    {OpKind::Acosh, true},
    {OpKind::Asin, true},
    {OpKind::Asinh, true},
    {OpKind::Atan, true},
    {OpKind::Atanh, true},
    {OpKind::Ceil, true},
    {OpKind::Celu, true, kAlpha},
    {OpKind::Clip, false, kBounds},
    {OpKind::Cos, true},
    {OpKind::Elu, true, kAlpha},
    {OpKind::Erf, true},
    {OpKind::Exp, true},
    {OpKind::Floor, true},
    {OpKind::Gelu, true},
    {OpKind::GeluTanh, true},
    {OpKind::HardSigmoid, true, kLine},
    {OpKind::HardSwish, true},
    {OpKind::LeakyRelu, false, kAlpha},
    {OpKind::Log, true},
    {OpKind::Mish, true},
    {.op = OpKind::Neg, .needsFloats = false, .keepsLowBits = true},
    {OpKind::Power, true, kPower},
    {OpKind::Reciprocal, true},
    {OpKind::Relu, false},
    {OpKind::Round, true},
    {OpKind::Selu, true, kSelu},
    {OpKind::Sigmoid, true},
    {OpKind::Sign, false},
    {OpKind::Sin, true},
    {OpKind::Softplus, true},
    {OpKind::Softsign, true},
    {OpKind::Sqrt, true},
    {OpKind::Swish, true, kAlpha},
    {OpKind::Tanh, true},
    {OpKind::ThresholdedRelu, true, kAlpha},
};

static OpRule makeRule(const BinaryRow &row) {
  return {.op = row.op,
          .leastOperands = 2,
          .mostOperands = 2,
          .elementwise = Elementwise::Binary,
          .commutes = row.commutes,
          .needsFloats = row.needsFloats,
          .needsIntegers = row.needsIntegers,
          .keepsLowBits = row.keepsLowBits,
          .positiveOperands = row.positiveOperands,
          .infer = inferBinary};
}

static OpRule makeRule(const UnaryRow &row) {
  return {.op = row.op,
          .attrs = row.attrs,
          .elementwise = Elementwise::Unary,
          .needsFloats = row.needsFloats,
          .keepsLowBits = row.keepsLowBits,
          .infer = inferSame};
}

static OpRule makeGradientRule(const UnaryRow &row) {
  return {.op = *getGradient(row.op),
          .leastOperands = 2,
          .mostOperands = 2,
          .attrs = row.attrs,
          .elementwise = Elementwise::Binary,
          .forward = row.op,
          .needsFloats = true,
          .infer = inferBinary};
}

ArrayRef<OpRule> tarpon::getElementwiseRules() {
  static const std::vector<OpRule> rules = [] {
    std::vector<OpRule> list;
    for (const BinaryRow &row : kBinary)
      list.push_back(makeRule(row));
    for (const UnaryRow &row : kUnary) {
      list.push_back(makeRule(row));
      list.push_back(makeGradientRule(row));
    }
    return list;
  }();
  return rules;
}
