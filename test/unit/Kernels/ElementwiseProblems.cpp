//===- ElementwiseProblems.cpp - Random elementwise problems --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include "tarpon/Problem/ElementwiseOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::test;

static constexpr OpKind kBinary[] = {OpKind::Add,   OpKind::Sub, OpKind::Mul,
                                     OpKind::Div,   OpKind::Min, OpKind::Max,
                                     OpKind::Fmod,  OpKind::Pow, OpKind::PRelu,
                                     OpKind::Equal, OpKind::Less};
static constexpr OpKind kBits[] = {OpKind::BitAnd, OpKind::BitOr,
                                   OpKind::BitXor, OpKind::ShiftLeft,
                                   OpKind::ShiftRight};
/// The ops that models apply to bools.
static constexpr OpKind kOfBools[] = {OpKind::BitAnd, OpKind::BitOr,
                                      OpKind::BitXor, OpKind::Equal};

/// The unary ops that integers have, and those of floats only.
static constexpr OpKind kGeneral[] = {OpKind::Abs,       OpKind::Clip,
                                      OpKind::LeakyRelu, OpKind::Neg,
                                      OpKind::Relu,      OpKind::Sign};
static constexpr OpKind kReal[] = {OpKind::Acos,
                                   OpKind::Acosh,
                                   OpKind::Asin,
                                   OpKind::Asinh,
                                   OpKind::Atan,
                                   OpKind::Atanh,
                                   OpKind::Ceil,
                                   OpKind::Celu,
                                   OpKind::Cos,
                                   OpKind::Elu,
                                   OpKind::Erf,
                                   OpKind::Exp,
                                   OpKind::Floor,
                                   OpKind::Gelu,
                                   OpKind::GeluTanh,
                                   OpKind::HardSigmoid,
                                   OpKind::HardSwish,
                                   OpKind::Log,
                                   OpKind::Mish,
                                   OpKind::Power,
                                   OpKind::Reciprocal,
                                   OpKind::Round,
                                   OpKind::Selu,
                                   OpKind::Sigmoid,
                                   OpKind::Sin,
                                   OpKind::Softplus,
                                   OpKind::Softsign,
                                   OpKind::Sqrt,
                                   OpKind::Swish,
                                   OpKind::Tanh,
                                   OpKind::ThresholdedRelu};

ProblemAttrs ProblemGenerator::makeStepAttrs(OpKind op) {
  op = getForward(op).value_or(op);
  if (op == OpKind::Clip)
    return {{"low", {-0.25}}, {"high", {0.75}}};
  if (op == OpKind::LeakyRelu)
    return {{"alpha", {0.125}}};
  if (op == OpKind::HardSigmoid)
    return {{"alpha", {0.2}}, {"beta", {0.5}}};
  if (op == OpKind::Power)
    return {{"exponent", {1.5}}, {"scale", {0.75}}, {"shift", {0.5}}};
  if (op == OpKind::Selu)
    return {{"alpha", {1.5}}, {"gamma", {0.75}}};
  if (llvm::is_contained(
          {OpKind::Celu, OpKind::Elu, OpKind::Swish, OpKind::ThresholdedRelu},
          op))
    return {{"alpha", {0.625}}};
  return {};
}

/// An op of floats (a gradient among them) or of anything.
static OpKind pickOp(bool isInteger,
                     llvm::function_ref<int64_t(int64_t, int64_t)> pick) {
  auto oneOf = [&](llvm::ArrayRef<OpKind> ops) {
    return ops[pick(0, static_cast<int64_t>(ops.size()) - 1)];
  };
  if (isInteger && pick(0, 3) == 0)
    return oneOf(kBits);
  if (pick(0, 2) == 0) {
    OpKind op = oneOf(kBinary);
    return isInteger && isRealOp(op) ? OpKind::Max : op;
  }
  bool isGradient = !isInteger && pick(0, 2) == 0;
  OpKind op = isInteger || pick(0, 3) == 0 ? oneOf(kGeneral) : oneOf(kReal);
  return isGradient ? *getGradient(op) : op;
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
  if (isBinaryOp(problem.op)) {
    problem.rootOperands = 2;
    std::vector<int64_t> other = shape;
    int64_t kind = pick(0, 5);
    for (size_t d = 0; kind >= 2 && d < shape.size(); ++d)
      if (kind == 2 || (kind == 3 && d == 2) || (kind > 3 && d != 1))
        other[d] = 1;
    problem.operands.push_back(
        makeTensor(other, kind == 2 || kind > 3 ? Layout() : layout));
    bool isOrdered = llvm::is_contained(
        {OpKind::Fmod, OpKind::Pow, OpKind::PRelu}, problem.op);
    if (!isOrdered && chance(25))
      std::swap(problem.operands[0], problem.operands[1]);
  }
  chooseTypes(problem);
  if (!isInteger) {
    addEpilogue(problem);
    if (chance(8)) {
      for (int i = 0; i < problem.rootOperands; ++i)
        setType(problem.operands[i], DType::F64, false);
      setType(problem.result, DType::F64, false);
    }
    return problem;
  }
  DType dtype = oneOf(
      {DType::I32, DType::I64, DType::U8, DType::I8, DType::U64, DType::I16});
  if (dtype == DType::I32 && chance(40))
    dtype = DType::U32;
  if (problem.op == OpKind::Clip && chance(50))
    problem.attrs = {{"low", {-3e9}}, {"high", {oneOf({7.0, 4e9, 5e9})}}};
  if (llvm::is_contained(kOfBools, problem.op) && chance(40))
    dtype = DType::Bool;
  for (TensorDesc &operand : problem.operands)
    setType(operand, dtype, false);
  setType(problem.result, dtype, false);
  return problem;
}
