//===- ElementwiseProblems.cpp - Random elementwise problems --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace tarpon;
using namespace tarpon::test;

static constexpr llvm::StringLiteral kBinary[] = {"add", "sub", "mul", "div",
                                                  "min", "max", "pow", "prelu"};

/// The unary ops that integers have, and those of floats only.
static constexpr llvm::StringLiteral kGeneral[] = {"abs", "clip", "leaky_relu",
                                                   "neg", "relu", "sign"};
static constexpr llvm::StringLiteral kReal[] = {
    "ceil",       "celu",  "cos",     "elu",       "erf",
    "exp",        "floor", "gelu",    "gelu_tanh", "hard_sigmoid",
    "hard_swish", "log",   "mish",    "power",     "reciprocal",
    "round",      "selu",  "sigmoid", "sin",       "softplus",
    "softsign",   "sqrt",  "swish",   "tanh",      "thresholded_relu"};

bool ProblemGenerator::isBinary(const std::string &op) {
  return llvm::is_contained(kBinary, op) ||
         llvm::StringRef(op).ends_with("_backward");
}

ProblemAttrs ProblemGenerator::makeStepAttrs(const std::string &name) {
  llvm::StringRef op = name;
  op.consume_back("_backward");
  if (op == "clip")
    return {{"low", {-0.25}}, {"high", {0.75}}};
  if (op == "leaky_relu")
    return {{"alpha", {0.125}}};
  if (op == "hard_sigmoid")
    return {{"alpha", {0.2}}, {"beta", {0.5}}};
  if (op == "power")
    return {{"exponent", {1.5}}, {"scale", {0.75}}, {"shift", {0.5}}};
  if (op == "selu")
    return {{"alpha", {1.5}}, {"gamma", {0.75}}};
  if (llvm::is_contained({"celu", "elu", "swish", "thresholded_relu"}, op))
    return {{"alpha", {0.625}}};
  return {};
}

/// An op of floats (a gradient among them) or of anything.
static std::string pickOp(bool isInteger,
                          llvm::function_ref<int64_t(int64_t, int64_t)> pick) {
  auto oneOf = [&](llvm::ArrayRef<llvm::StringLiteral> ops) {
    return ops[pick(0, static_cast<int64_t>(ops.size()) - 1)].str();
  };
  if (pick(0, 2) == 0) {
    std::string op = oneOf(kBinary);
    return isInteger && op == "pow" ? "max" : op;
  }
  bool isGradient = !isInteger && pick(0, 2) == 0;
  std::string op =
      isInteger || pick(0, 3) == 0 ? oneOf(kGeneral) : oneOf(kReal);
  return op + (isGradient ? "_backward" : "");
}

Problem ProblemGenerator::makeElementwise() {
  Problem problem;
  bool isInteger = chance(15);
  problem.op = pickOp(
      isInteger, [&](int64_t low, int64_t high) { return pick(low, high); });
  problem.attrs = makeStepAttrs(problem.op);
  std::vector<int64_t> shape = makeShape({2, 3, 4, 4});
  Layout layout = pickLayout();
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(shape, layout);
  if (isBinary(problem.op)) {
    problem.rootOperands = 2;
    std::vector<int64_t> other = shape;
    int64_t kind = pick(0, 5);
    for (size_t d = 0; kind >= 2 && d < shape.size(); ++d)
      if (kind == 2 || (kind == 3 && d == 2) || (kind > 3 && d != 1))
        other[d] = 1;
    problem.operands.push_back(
        makeTensor(other, kind == 2 || kind > 3 ? Layout() : layout));
    bool isOrdered = problem.op == "pow" || problem.op == "prelu";
    if (!isOrdered && chance(25))
      std::swap(problem.operands[0], problem.operands[1]);
  }
  chooseTypes(problem);
  if (!isInteger) {
    addEpilogue(problem);
    return problem;
  }
  DType dtype = oneOf(
      {DType::I32, DType::I64, DType::U8, DType::I8, DType::U64, DType::I16});
  for (TensorDesc &operand : problem.operands)
    setType(operand, dtype, false);
  setType(problem.result, dtype, false);
  return problem;
}
