//===- Activations.cpp - Emits the activations of a cell ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

#include "Common/MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tarpon;

/// (1 - e^-2|x|) / (1 + e^-2|x|) with the sign of x; never overflows. The
/// error is that of 1 - e^-2|x|, half a unit of 1.
static Value emitTanh(KernelBuilder &b, Value x) {
  Type type = x.getType();
  Value one = b.cstLike(type, 1);
  Value size = math::AbsFOp::create(b, x);
  Value power = emitExp(b, b.mulF(size, b.cstLike(type, -2)));
  Value value = b.divF(b.subF(one, power), b.addF(one, power));
  return math::CopySignOp::create(b, value, x);
}

/// max(x, 0) + log(1 + e^-|x|), which does not overflow.
static Value emitSoftplus(KernelBuilder &b, Value x) {
  Type type = x.getType();
  Value zero = b.cstLike(type, 0), one = b.cstLike(type, 1);
  Value size = math::AbsFOp::create(b, x);
  Value power = emitExp(b, b.subF(zero, size));
  return b.addF(b.maxF(x, zero), emitLog(b, b.addF(one, power)));
}

Value recurrent::emitClip(KernelBuilder &b, Value x, Value limit) {
  Value negative = b.subF(b.cstLike(x.getType(), 0), limit);
  return b.minF(b.maxF(x, negative), limit);
}

Value recurrent::emitActivation(KernelBuilder &b,
                                RecurrentActivation activation, Value x,
                                Value alpha, Value beta) {
  Type type = x.getType();
  Value zero = b.cstLike(type, 0), one = b.cstLike(type, 1);
  auto greater = [&](Value l, Value r) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, l, r);
  };
  switch (activation) {
  case RecurrentActivation::Sigmoid:
    return sigmoid(Real(b, x));
  case RecurrentActivation::Tanh:
    return emitTanh(b, x);
  case RecurrentActivation::Relu:
    return b.maxF(x, zero);
  case RecurrentActivation::Affine:
    return b.addF(b.mulF(alpha, x), beta);
  case RecurrentActivation::LeakyRelu:
    return b.select(greater(zero, x), b.mulF(alpha, x), x);
  case RecurrentActivation::ThresholdedRelu:
    return b.select(greater(alpha, x), zero, x);
  case RecurrentActivation::ScaledTanh:
    return b.mulF(alpha, emitTanh(b, b.mulF(beta, x)));
  case RecurrentActivation::HardSigmoid:
    return b.minF(b.maxF(b.addF(b.mulF(alpha, x), beta), zero), one);
  case RecurrentActivation::Elu:
    return b.select(greater(zero, x), b.mulF(alpha, b.subF(emitExp(b, x), one)),
                    x);
  case RecurrentActivation::Softsign:
    return b.divF(x, b.addF(one, math::AbsFOp::create(b, x)));
  case RecurrentActivation::Softplus:
    return emitSoftplus(b, x);
  }
  llvm_unreachable("unknown activation");
}
