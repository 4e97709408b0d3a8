//===- MagicDivision.cpp - Division without dividing ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MagicDivision.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mlir;
using namespace tarpon;

MagicNumbers tarpon::getMagicNumbers(int64_t divisor) {
  assert(divisor > 0 && divisor <= INT32_MAX && "divisor of 31 bits expected");
  unsigned shift = llvm::Log2_64_Ceil(static_cast<uint64_t>(divisor));
  uint64_t multiplier = llvm::divideCeil(uint64_t(1) << (31 + shift),
                                         static_cast<uint64_t>(divisor));
  return {static_cast<uint32_t>(multiplier), static_cast<int32_t>(shift)};
}

MagicDivisor::MagicDivisor(LaunchBuilder &launch, int64_t divisor) {
  MagicNumbers magic = getMagicNumbers(divisor);
  firstParam = launch.addParams({divisor, magic.multiplier, magic.shift});
}

static Value truncate(KernelBuilder &b, Value value) {
  if (value.getType().isInteger(32))
    return value;
  return arith::TruncIOp::create(b, b.getI32Type(), value);
}

static Value extend(KernelBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::ExtUIOp::create(b, type, value);
}

MagicDivisor::Bound MagicDivisor::bind(KernelBuilder &b) const {
  Bound bound;
  bound.divisor = b.getParam(firstParam);
  // Parameters are sign-extended, but multipliers take all 32 bits.
  bound.multiplier =
      extend(b, truncate(b, b.getParam(firstParam + 1)), b.i64());
  bound.shift = truncate(b, b.getParam(firstParam + 2));
  return bound;
}

Value MagicDivisor::Bound::div(KernelBuilder &b, Value numerator) const {
  // The upper half of a 32-bit by 32-bit product is one instruction.
  Value narrow = truncate(b, numerator);
  Value twice = extend(b, b.add(narrow, narrow), b.i64());
  Value product = b.mul(twice, multiplier);
  Value upper =
      truncate(b, Value(arith::ShRUIOp::create(b, product, b.cst(32))));
  Value quotient = arith::ShRUIOp::create(b, upper, shift);
  return extend(b, quotient, numerator.getType());
}

std::pair<Value, Value> MagicDivisor::Bound::divRem(KernelBuilder &b,
                                                    Value numerator) const {
  Value quotient = div(b, numerator);
  // This fits 32 bits: the product is no greater than the numerator.
  Value product = b.mul(truncate(b, quotient), truncate(b, divisor));
  Value remainder = b.sub(truncate(b, numerator), product);
  return {quotient, extend(b, remainder, numerator.getType())};
}
