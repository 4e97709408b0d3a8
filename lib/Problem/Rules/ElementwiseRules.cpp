//===- ElementwiseRules.cpp - What elementwise operations look like -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every unary operation x has a gradient, the binary operation "x_backward": dy
// times the derivative of x at its right-hand operand.
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
  StringLiteral name;
  bool needsFloats = false, commutes = false;
  unsigned positiveOperands = 0;
};

struct UnaryRow {
  StringLiteral name, gradient;
  bool needsFloats;
  ArrayRef<AttrRule> attrs = {};
};

} // namespace

/// The operands of a minimum may not change places: a NaN in the first one is
/// handed on.
static constexpr BinaryRow kBinary[] = {
    {.name = "add", .commutes = true},
    {.name = "sub"},
    {.name = "mul", .commutes = true},
    {.name = "div", .positiveOperands = 1 << 1},
    {.name = "min"},
    {.name = "max"},
    {.name = "pow", .needsFloats = true},
    {.name = "prelu"},
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
    {"abs", "abs_backward", false},
    {"ceil", "ceil_backward", true},
    {"celu", "celu_backward", true, kAlpha},
    {"clip", "clip_backward", false, kBounds},
    {"cos", "cos_backward", true},
    {"elu", "elu_backward", true, kAlpha},
    {"erf", "erf_backward", true},
    {"exp", "exp_backward", true},
    {"floor", "floor_backward", true},
    {"gelu", "gelu_backward", true},
    {"gelu_tanh", "gelu_tanh_backward", true},
    {"hard_sigmoid", "hard_sigmoid_backward", true, kLine},
    {"hard_swish", "hard_swish_backward", true},
    {"leaky_relu", "leaky_relu_backward", false, kAlpha},
    {"log", "log_backward", true},
    {"mish", "mish_backward", true},
    {"neg", "neg_backward", false},
    {"power", "power_backward", true, kPower},
    {"reciprocal", "reciprocal_backward", true},
    {"relu", "relu_backward", false},
    {"round", "round_backward", true},
    {"selu", "selu_backward", true, kSelu},
    {"sigmoid", "sigmoid_backward", true},
    {"sign", "sign_backward", false},
    {"sin", "sin_backward", true},
    {"softplus", "softplus_backward", true},
    {"softsign", "softsign_backward", true},
    {"sqrt", "sqrt_backward", true},
    {"swish", "swish_backward", true, kAlpha},
    {"tanh", "tanh_backward", true},
    {"thresholded_relu", "thresholded_relu_backward", true, kAlpha},
};

static OpRule makeRule(const BinaryRow &row) {
  return {.op = row.name,
          .leastOperands = 2,
          .mostOperands = 2,
          .elementwise = Elementwise::Binary,
          .commutes = row.commutes,
          .needsFloats = row.needsFloats,
          .positiveOperands = row.positiveOperands,
          .infer = inferBinary};
}

static OpRule makeRule(const UnaryRow &row) {
  return {.op = row.name,
          .attrs = row.attrs,
          .elementwise = Elementwise::Unary,
          .needsFloats = row.needsFloats,
          .infer = inferSame};
}

static OpRule makeGradientRule(const UnaryRow &row) {
  return {.op = row.gradient,
          .leastOperands = 2,
          .mostOperands = 2,
          .attrs = row.attrs,
          .elementwise = Elementwise::Binary,
          .forward = row.name,
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
