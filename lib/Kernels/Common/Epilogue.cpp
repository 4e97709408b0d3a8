//===- Epilogue.cpp - Emits the chain behind a root operation -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"

#include "tarpon/Runtime/KernelABI.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

using namespace mlir;
using namespace tarpon;

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

void tarpon::appendStepParams(OpKind op, const ProblemAttrs &attrs,
                              ComputeKind kind, std::vector<int64_t> &params) {
  for (StringRef name : getStepAttrs(op)) {
    auto found = attrs.find(name.str());
    assert(found != attrs.end() && found->second.size() == 1 &&
           "an elementwise op lacks an attribute");
    params.push_back(paramBits(found->second.front(), kind));
  }
}

int64_t tarpon::numStepParams(OpKind op) {
  return static_cast<int64_t>(getStepAttrs(op).size());
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
    // No name contains the separator of steps: gelu_tanh is not gelu and tanh.
    std::string name = getOpName(step.op).str();
    llvm::erase(name, '_');
    part += (isSwapped(step) ? "_r" : "_") + name;
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
  if (scale && !left.empty() && left.front().op == OpKind::Add &&
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
