//===- Epilogue.cpp - Emits the chain behind a root operation -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"

#include "MathFunctions.h"
#include "tarpon/Kernels/ProblemRules.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// What a problem computes in
//===----------------------------------------------------------------------===//

ComputeKind tarpon::computeKindOf(const TensorDesc &desc) {
  if (desc.quantized)
    return ComputeKind::F32;
  switch (desc.dtype) {
  case DType::F32:
  case DType::F16:
  case DType::BF16:
    return ComputeKind::F32;
  case DType::F64:
    return ComputeKind::F64;
  case DType::U64:
    return ComputeKind::U64;
  default:
    return ComputeKind::I64;
  }
}

static bool isFloat(ComputeKind kind) {
  return kind == ComputeKind::F32 || kind == ComputeKind::F64;
}

ComputeKind tarpon::computeKindOf(const Problem &problem) {
  ComputeKind kind = computeKindOf(problem.operands.front());
  ComputeKind resultKind = computeKindOf(problem.result);
  if (problem.op == "convert" && !isFloat(kind) && isFloat(resultKind))
    return resultKind;
  bool isFractional = llvm::StringSwitch<bool>(problem.op)
                          .Cases({"conv", "matmul", "softmax", "lrn"}, true)
                          .Cases({"avg_pool", "global_avg_pool"}, true)
                          .Case("batch_norm", true)
                          .Default(false);
  if (const OpRule *rule = findOpRule(problem.op))
    isFractional = rule->isReal;
  if (isFractional && kind != ComputeKind::F64)
    return ComputeKind::F32;
  return kind;
}

Type tarpon::computeTypeOf(KernelBuilder &b, ComputeKind kind) {
  switch (kind) {
  case ComputeKind::F32:
    return b.getF32Type();
  case ComputeKind::F64:
    return b.getF64Type();
  case ComputeKind::I64:
  case ComputeKind::U64:
    break;
  }
  return b.getI64Type();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

bool tarpon::isBinaryOp(StringRef op) {
  return op == "add" || op == "sub" || op == "mul" || op == "div";
}

/// Whether the operands' order matters and is turned around.
static bool isSwapped(const EpilogueStep &step) {
  return step.swapped && step.op != "add" && step.op != "mul";
}

bool tarpon::isElementwiseOp(StringRef op) {
  return isBinaryOp(op) ||
         llvm::StringSwitch<bool>(op)
             .Cases({"relu", "clip", "leaky_relu"}, true)
             .Cases({"sigmoid", "hard_sigmoid", "hard_swish"}, true)
             .Default(false);
}

ArrayRef<StringLiteral> tarpon::getStepAttrs(StringRef op) {
  static constexpr StringLiteral clip[] = {"low", "high"};
  static constexpr StringLiteral leakyRelu[] = {"alpha"};
  static constexpr StringLiteral hardSigmoid[] = {"alpha", "beta"};
  if (op == "clip")
    return clip;
  if (op == "leaky_relu")
    return leakyRelu;
  if (op == "hard_sigmoid")
    return hardSigmoid;
  return {};
}

/// Casting a double beyond the range of an integer is undefined.
static int64_t saturateToI64(double value) {
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (value <= -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

static int64_t saturateToU64(double value) {
  if (value >= 0x1p64)
    return -1;
  return value <= 0 ? 0 : std::bit_cast<int64_t>(uint64_t(value));
}

static int64_t paramBits(double value, ComputeKind kind) {
  switch (kind) {
  case ComputeKind::F32:
    return runtime::floatParam(static_cast<float>(value));
  case ComputeKind::F64:
    return std::bit_cast<int64_t>(value);
  case ComputeKind::I64:
    return saturateToI64(value);
  case ComputeKind::U64:
    break;
  }
  return saturateToU64(value);
}

void tarpon::appendStepParams(StringRef op, const ProblemAttrs &attrs,
                              ComputeKind kind, std::vector<int64_t> &params) {
  for (StringRef name : getStepAttrs(op)) {
    auto found = attrs.find(name.str());
    assert(found != attrs.end() && found->second.size() == 1 &&
           "an elementwise op lacks an attribute");
    params.push_back(paramBits(found->second.front(), kind));
  }
}

int64_t tarpon::numStepParams(StringRef op) {
  return static_cast<int64_t>(getStepAttrs(op).size());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// a < b, for ordered floats.
static Value emitLess(KernelBuilder &b, ComputeKind kind, Value lhs,
                      Value rhs) {
  if (isFloat(kind))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, lhs, rhs);
  return b.cmp(kind == ComputeKind::U64 ? KernelBuilder::Pred::ult
                                        : KernelBuilder::Pred::slt,
               lhs, rhs);
}

/// bound < x ? x : bound, but x if it is NaN: the operand order in which one
/// maximum instruction hands on a NaN in x, as ONNX Runtime does.
static Value emitAtLeast(KernelBuilder &b, ComputeKind kind, Value bound,
                         Value x) {
  if (isFloat(kind))
    return b.maxF(bound, x);
  return b.select(emitLess(b, kind, bound, x), x, bound);
}

static Value emitAtMost(KernelBuilder &b, ComputeKind kind, Value bound,
                        Value x) {
  if (isFloat(kind))
    return b.minF(bound, x);
  return b.select(emitLess(b, kind, x, bound), x, bound);
}

/// Division that truncates towards zero. The cases in which the CPU would trap
/// (a zero divisor; the least integer by -1) give some value instead.
static Value emitIntegerDivision(KernelBuilder &b, ComputeKind kind, Value lhs,
                                 Value rhs) {
  Value zero = b.cstLike(rhs.getType(), 0), one = b.cstLike(rhs.getType(), 1);
  Value isZero = b.eq(rhs, zero);
  if (kind == ComputeKind::U64)
    return b.div(lhs, b.select(isZero, one, rhs));
  Value isMinusOne = b.eq(rhs, b.cstLike(rhs.getType(), -1));
  Value safe = b.select(b.orI(isZero, isMinusOne), one, rhs);
  Value quotient = arith::DivSIOp::create(b, lhs, safe);
  return b.select(isMinusOne, b.sub(zero, lhs), quotient);
}

static Value emitBinary(KernelBuilder &b, StringRef op, ComputeKind kind,
                        Value lhs, Value rhs) {
  bool real = isFloat(kind);
  if (op == "add")
    return real ? b.addF(lhs, rhs) : b.add(lhs, rhs);
  if (op == "sub")
    return real ? b.subF(lhs, rhs) : b.sub(lhs, rhs);
  if (op == "mul")
    return real ? b.mulF(lhs, rhs) : b.mul(lhs, rhs);
  assert(op == "div" && "not a binary op");
  return real ? b.divF(lhs, rhs) : emitIntegerDivision(b, kind, lhs, rhs);
}

static Value emitSigmoid(KernelBuilder &b, Value x) {
  Value one = b.cstLike(x.getType(), 1), zero = b.cstLike(x.getType(), 0);
  return b.divF(one, b.addF(one, emitExp(b, b.subF(zero, x))));
}

/// min(max(x, 0), 1)
static Value emitUnitClip(KernelBuilder &b, ComputeKind kind, Value x) {
  Value bounded = emitAtLeast(b, kind, b.cstLike(x.getType(), 0), x);
  return emitAtMost(b, kind, b.cstLike(x.getType(), 1), bounded);
}

static Value emitUnary(KernelBuilder &b, StringRef op, ComputeKind kind,
                       ArrayRef<Value> attrs, Value x) {
  auto times = [&](Value factor) {
    return isFloat(kind) ? b.mulF(factor, x) : b.mul(factor, x);
  };
  Value zero = b.cstLike(x.getType(), 0);
  if (op == "relu")
    return emitAtLeast(b, kind, zero, x);
  if (op == "clip")
    return emitAtMost(b, kind, attrs[1], emitAtLeast(b, kind, attrs[0], x));
  if (op == "leaky_relu")
    return b.select(emitLess(b, kind, x, zero), times(attrs[0]), x);
  assert(isFloat(kind) && "only defined on floats");
  if (op == "sigmoid")
    return emitSigmoid(b, x);
  if (op == "hard_sigmoid")
    return emitUnitClip(b, kind, b.addF(times(attrs[0]), attrs[1]));
  assert(op == "hard_swish" && "not an elementwise op");
  Value sixth = b.mulF(x, b.cstLike(x.getType(), 1.0 / 6.0));
  Value half = b.cstLike(x.getType(), 0.5);
  return times(emitUnitClip(b, kind, b.addF(sixth, half)));
}

Value tarpon::emitStep(KernelBuilder &b, const EpilogueStep &step,
                       ComputeKind kind, ArrayRef<Value> attrs, Value x,
                       Value other) {
  if (isBinaryOp(step.op))
    return isSwapped(step) ? emitBinary(b, step.op, kind, other, x)
                           : emitBinary(b, step.op, kind, x, other);
  SmallVector<Value> likeX;
  int64_t lanes = 1;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    lanes = vector.getNumElements();
  for (Value attr : attrs)
    likeX.push_back(b.broadcast(attr, lanes));
  return emitUnary(b, step.op, kind, likeX, x);
}

//===----------------------------------------------------------------------===//
// EpilogueEmitter
//===----------------------------------------------------------------------===//

EpilogueEmitter::EpilogueEmitter(const Problem &problem, int64_t firstParam)
    : steps(problem.epilogue), kind(computeKindOf(problem)),
      rootOperands(problem.rootOperands), firstParam(firstParam) {}

void EpilogueEmitter::appendParams(const Problem &problem,
                                   std::vector<int64_t> &params) {
  ComputeKind kind = computeKindOf(problem);
  for (const EpilogueStep &step : problem.epilogue)
    appendStepParams(step.op, step.attrs, kind, params);
}

int64_t EpilogueEmitter::numParams() const {
  int64_t count = 0;
  for (const EpilogueStep &step : steps)
    count += numStepParams(step.op);
  return count;
}

std::string EpilogueEmitter::symbolPart() const {
  std::string part;
  int expected = rootOperands;
  for (const EpilogueStep &step : steps) {
    part += (isSwapped(step) ? "_r" : "_") + step.op;
    if (step.operand < rootOperands)
      continue;
    if (step.operand != expected)
      part += (Twine("_at") + Twine(step.operand - rootOperands)).str();
    expected = std::max(expected, step.operand + 1);
  }
  return part;
}

SmallVector<Value> EpilogueEmitter::loadParams(KernelBuilder &b) const {
  SmallVector<Value> values;
  Type type = computeTypeOf(b, kind);
  int64_t count = numParams();
  for (int64_t i = 0; i < count; ++i) {
    Value slot = b.getParam(firstParam + i);
    if (kind == ComputeKind::F32)
      slot = b.getFloatParam(firstParam + i);
    else if (kind == ComputeKind::F64)
      slot = b.bitcast(slot, type);
    values.push_back(slot);
  }
  return values;
}

Value EpilogueEmitter::emit(KernelBuilder &b, Value acc, ArrayRef<Value> params,
                            LoadOperand loadOperand, Value scale) const {
  ArrayRef<EpilogueStep> left = steps;
  if (scale && !left.empty() && left.front().op == "add" &&
      left.front().operand >= 0) {
    acc = b.fma(acc, scale, loadOperand(left.front().operand));
    left = left.drop_front();
  } else if (scale) {
    acc = b.mulF(acc, scale);
  }
  for (const EpilogueStep &step : left) {
    int64_t count = numStepParams(step.op);
    // A binary step without an operand applies the value to itself.
    Value other = step.operand >= 0 ? loadOperand(step.operand) : acc;
    acc = emitStep(b, step, kind, params.take_front(count), acc, other);
    params = params.drop_front(count);
  }
  return acc;
}
