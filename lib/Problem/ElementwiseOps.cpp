//===- ElementwiseOps.cpp - The elementwise operations -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/ElementwiseOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tarpon;

namespace {
struct ElementwiseOp {
  StringLiteral name;
  bool isBinary;
  bool isReal; ///< defined on floats only
  StringLiteral attrs[3] = {"", "", ""};
};
} // namespace

static constexpr ElementwiseOp kOps[] = {
    {"add", true, false},
    {"sub", true, false},
    {"mul", true, false},
    {"div", true, false},
    {"min", true, false},
    {"max", true, false},
    {"pow", true, true},
    {"prelu", true, false},
    {"abs", false, false},
    {"ceil", false, true},
    {"celu", false, true, {"alpha", "", ""}},
    {"clip", false, false, {"low", "high", ""}},
    {"cos", false, true},
    {"elu", false, true, {"alpha", "", ""}},
    {"erf", false, true},
    {"exp", false, true},
    {"floor", false, true},
    {"gelu", false, true},
    {"gelu_tanh", false, true},
    {"hard_sigmoid", false, true, {"alpha", "beta", ""}},
    {"hard_swish", false, true},
    {"leaky_relu", false, false, {"alpha", "", ""}},
    {"log", false, true},
    {"mish", false, true},
    {"neg", false, false},
    {"power", false, true, {"shift", "scale", "exponent"}},
    {"reciprocal", false, true},
    {"relu", false, false},
    {"round", false, true},
    {"selu", false, true, {"alpha", "gamma", ""}},
    {"sigmoid", false, true},
    {"sign", false, false},
    {"sin", false, true},
    {"softplus", false, true},
    {"softsign", false, true},
    {"sqrt", false, true},
    {"swish", false, true, {"alpha", "", ""}},
    {"tanh", false, true},
    {"thresholded_relu", false, true, {"alpha", "", ""}},
};

static const ElementwiseOp *findOp(StringRef name) {
  const auto *op =
      llvm::find_if(kOps, [&](const auto &row) { return row.name == name; });
  return op == std::end(kOps) ? nullptr : op;
}

bool tarpon::consumeBackward(StringRef &op) {
  StringRef base = op;
  if (!base.consume_back("_backward"))
    return false;
  const ElementwiseOp *found = findOp(base);
  bool hasGradient = found && !found->isBinary;
  if (hasGradient)
    op = base;
  return hasGradient;
}

bool tarpon::isSwapped(const EpilogueStep &step) {
  return step.swapped && step.op != "add" && step.op != "mul";
}

bool tarpon::isElementwiseOp(StringRef op) {
  return findOp(op) || consumeBackward(op);
}

bool tarpon::isBinaryOp(StringRef op) {
  const ElementwiseOp *found = findOp(op);
  return found ? found->isBinary : consumeBackward(op);
}

bool tarpon::isRealOp(StringRef op) {
  return consumeBackward(op) || (findOp(op) && findOp(op)->isReal);
}

ArrayRef<StringLiteral> tarpon::getStepAttrs(StringRef op) {
  consumeBackward(op);
  const ElementwiseOp *found = findOp(op);
  if (!found)
    return {};
  return ArrayRef(found->attrs).take_while([](StringRef name) {
    return !name.empty();
  });
}
