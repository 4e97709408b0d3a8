//===- SmallFloats.cpp - Floats of less than 32 bits in kernels -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/Common/SmallFloats.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using tarpon::runtime::FloatFormat;

static constexpr FloatFormat kF32 = {8, 23};
static constexpr FloatFormat kF16 = {5, 10};
static constexpr int64_t kInfinity = 0x7f800000;

Type tarpon::withLanesOf(Type like, Type scalar) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), scalar);
  return scalar;
}

static bool isF16(const FloatFormat &format) {
  return format.exponentBits == kF16.exponentBits &&
         format.fractionBits == kF16.fractionBits;
}

namespace {

/// Emits the conversions of one format for scalars, or vectors of some length.
class SmallFloatEmitter {
public:
  SmallFloatEmitter(KernelBuilder &b, const FloatFormat &format, Type like)
      : b(b), format(format), real(withLanesOf(like, b.getF32Type())),
        bits32(withLanesOf(like, b.getI32Type())),
        narrow(withLanesOf(like, b.getIntegerType(format.bits()))),
        shift(kF32.fractionBits - format.fractionBits),
        signShift(kF32.bits() - format.bits()) {}

  Value decode(Value stored) const;
  Value encode(Value value) const;

private:
  Value number(int64_t n) const { return b.cstLike(bits32, n); }
  Value shiftLeft(Value value, int64_t by) const {
    return arith::ShLIOp::create(b, value, number(by));
  }
  Value shiftRight(Value value, int64_t by) const {
    return arith::ShRUIOp::create(b, value, number(by));
  }
  /// The bits of 2^exponent as f32.
  static int64_t powerOfTwo(int exponent) {
    return static_cast<int64_t>(exponent + kF32.bias()) << kF32.fractionBits;
  }

  Value decodeUpperBits(Value stored) const;
  Value encodeUpperBits(Value value) const;
  Value encodeSpecial(Value bits) const;
  Value saturate(Value bits, Value finite) const;

  KernelBuilder &b;
  const FloatFormat &format;
  Type real, bits32, narrow;
  int64_t shift, signShift;
};

} // namespace

Value SmallFloatEmitter::decodeUpperBits(Value stored) const {
  Value bits = arith::ExtUIOp::create(b, bits32, stored);
  return b.bitcast(shiftLeft(bits, signShift), real);
}

Value SmallFloatEmitter::decode(Value stored) const {
  if (format.hasExponentOfF32())
    return decodeUpperBits(stored);
  Value bits = arith::ExtUIOp::create(b, bits32, stored);
  Value magnitude =
      b.andI(bits, number(static_cast<int64_t>(format.magnitude())));
  // Adjusting the exponent by a multiplication handles subnormals too.
  Value shifted = shiftLeft(magnitude, shift);
  double rebase = std::ldexp(1.0, kF32.bias() - format.bias());
  Value scaled = b.mulF(b.bitcast(shifted, real), b.cstLike(real, rebase));
  Value isFinite = b.slt(
      magnitude, number(static_cast<int64_t>(format.largestFinite()) + 1));
  Value special = b.orI(shifted, number(kInfinity));
  Value chosen = b.select(isFinite, b.bitcast(scaled, bits32), special);
  Value sign = shiftLeft(b.sub(bits, magnitude), signShift);
  return b.bitcast(b.orI(chosen, sign), real);
}

/// Infinity, or NaN with the upper bits of its payload. `bits` are those of the
/// magnitude as f32.
Value SmallFloatEmitter::encodeSpecial(Value bits) const {
  auto infinity = static_cast<int64_t>(format.largestNumber());
  int64_t quiet = infinity | int64_t(1) << (format.fractionBits - 1);
  Value payload = b.andI(shiftRight(bits, shift),
                         number(static_cast<int64_t>(format.fraction())));
  Value isNaN = b.cmp(KernelBuilder::Pred::sgt, bits, number(kInfinity));
  return b.select(isNaN, b.orI(payload, number(quiet)), number(infinity));
}

/// Larger numbers become the largest one, and NaN the only NaN.
Value SmallFloatEmitter::saturate(Value bits, Value finite) const {
  Value largest = number(static_cast<int64_t>(format.largestNumber()));
  Value isTooLarge = b.cmp(KernelBuilder::Pred::sgt, finite, largest);
  Value saturated = b.select(isTooLarge, largest, finite);
  Value isNaN = b.cmp(KernelBuilder::Pred::sgt, bits, number(kInfinity));
  Value all = number(static_cast<int64_t>(format.magnitude()));
  return b.select(isNaN, all, saturated);
}

Value SmallFloatEmitter::encodeUpperBits(Value value) const {
  Value bits = b.bitcast(value, bits32);
  Value by = number(signShift);
  Value upper = arith::ShRUIOp::create(b, bits, by);
  Value odd = b.andI(upper, number(1));
  Value rounded =
      b.add(b.add(bits, number((int64_t(1) << (signShift - 1)) - 1)), odd);
  Value shifted = arith::ShRUIOp::create(b, rounded, by);
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value quiet = b.orI(upper, number(int64_t(1) << (format.fractionBits - 1)));
  return arith::TruncIOp::create(b, narrow, b.select(isNaN, quiet, shifted));
}

/// This rounds like vcvtps2ph for f16.
Value SmallFloatEmitter::encode(Value value) const {
  if (format.hasExponentOfF32())
    return encodeUpperBits(value);
  Value all = b.bitcast(value, bits32);
  Value bits = b.andI(all, number(0x7fffffff));
  Value sign = shiftRight(b.sub(all, bits), signShift);

  // The value is too small to be normal: an addition rounds at the right bit.
  int unit = 1 - format.bias() - format.fractionBits;
  int magicExponent = unit + kF32.fractionBits;
  Value magic = b.cstLike(real, std::ldexp(1.0, magicExponent));
  Value small = b.sub(b.bitcast(b.addF(b.bitcast(bits, real), magic), bits32),
                      number(powerOfTwo(magicExponent)));
  // Normal: change the bias and round; the carry may reach infinity.
  Value odd = b.andI(shiftRight(bits, shift), number(1));
  int64_t rebase = int64_t(kF32.bias() - format.bias()) << kF32.fractionBits;
  Value rebiased =
      b.sub(bits, number(rebase - ((int64_t(1) << (shift - 1)) - 1)));
  Value normal = shiftRight(b.add(rebiased, odd), shift);

  Value special = format.hasInfinity ? encodeSpecial(bits) : Value();
  Value result = b.select(b.slt(bits, number(powerOfTwo(1 - format.bias()))),
                          small, normal);
  result = special
               ? b.select(b.slt(bits, number(powerOfTwo(format.bias() + 1))),
                          result, special)
               : saturate(bits, result);
  return arith::TruncIOp::create(b, narrow, b.orI(result, sign));
}

Value tarpon::emitDecodeFloat(KernelBuilder &b, const FloatFormat &format,
                              Value stored) {
  Type real = withLanesOf(stored.getType(), b.getF32Type());
  Type bits = withLanesOf(real, b.getIntegerType(format.bits()));
  if (isF16(format) && b.getTarget().hasF16c) {
    Value half = b.bitcast(stored, withLanesOf(real, b.getF16Type()));
    return arith::ExtFOp::create(b, real, half);
  }
  if (isF16(format))
    stored = b.bitcast(stored, bits);
  return SmallFloatEmitter(b, format, real).decode(stored);
}

Value tarpon::emitEncodeFloat(KernelBuilder &b, const FloatFormat &format,
                              Value value) {
  Type real = value.getType();
  if (isF16(format) && b.getTarget().hasF16c) {
    Value half =
        arith::TruncFOp::create(b, withLanesOf(real, b.getF16Type()), value);
    return b.bitcast(half, withLanesOf(real, b.getI16Type()));
  }
  return SmallFloatEmitter(b, format, real).encode(value);
}
