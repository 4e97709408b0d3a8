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
using tarpon::runtime::FloatSpecials;

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
        narrow(withLanesOf(like, b.getIntegerType(8 * format.bytes()))),
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

  Value decodePowerOfTwo(Value stored) const;
  Value encodePowerOfTwo(Value value) const;
  Value decodeUpperBits(Value stored) const;
  Value encodeUpperBits(Value value) const;
  Value encodeSpecial(Value bits) const;
  Value limit(Value bits, Value rounded) const;
  Value addSign(Value magnitude, Value sign) const;

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

/// The smallest power is a subnormal of f32, and the largest exponent NaN.
Value SmallFloatEmitter::decodePowerOfTwo(Value stored) const {
  Value exponent = arith::ExtUIOp::create(b, bits32, stored);
  Value bits = b.orI(
      shiftLeft(exponent, shift),
      b.select(b.slt(exponent, number(1)), number(0x00400000), number(0)));
  Value isFinite =
      b.slt(exponent, number(static_cast<int64_t>(format.largestFinite()) + 1));
  return b.bitcast(b.select(isFinite, bits, number(0x7fc00000)), real);
}

Value SmallFloatEmitter::decode(Value stored) const {
  if (format.isPowerOfTwo())
    return decodePowerOfTwo(stored);
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
  Value decoded = b.orI(chosen, sign);
  if (format.specials == FloatSpecials::NegativeZeroNaN) {
    Value isNaN = b.cmp(KernelBuilder::Pred::eq, bits,
                        number(static_cast<int64_t>(format.magnitude()) + 1));
    decoded = b.select(isNaN, number(0x7fc00000), decoded);
  }
  return b.bitcast(decoded, real);
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

/// Turns larger numbers into infinity, NaN or the largest one. `rounded` is the
/// magnitude in the format as if it had larger exponents, also of NaN, and
/// `bits` those of the magnitude as f32.
Value SmallFloatEmitter::limit(Value bits, Value rounded) const {
  Value largest = number(static_cast<int64_t>(format.largestFinite()));
  Value isTooLarge = b.cmp(KernelBuilder::Pred::sgt, rounded, largest);
  switch (format.specials) {
  case FloatSpecials::Ieee:
    return b.select(b.slt(bits, number(powerOfTwo(format.bias() + 1))), rounded,
                    encodeSpecial(bits));
  case FloatSpecials::AllOnesNaN:
  case FloatSpecials::NegativeZeroNaN:
    return b.select(isTooLarge,
                    number(static_cast<int64_t>(format.largestFinite()) + 1),
                    rounded);
  case FloatSpecials::None:
    break;
  }
  Value isNaN = b.cmp(KernelBuilder::Pred::sgt, bits, number(kInfinity));
  return b.select(isNaN, number(0), b.select(isTooLarge, largest, rounded));
}

/// The NaN in the place of -0 has its sign already, and 0 gets none.
Value SmallFloatEmitter::addSign(Value magnitude, Value sign) const {
  Value encoded = b.orI(magnitude, sign);
  if (format.specials != FloatSpecials::NegativeZeroNaN)
    return encoded;
  Value isZero = b.cmp(KernelBuilder::Pred::eq, magnitude, number(0));
  return b.select(isZero, magnitude, encoded);
}

/// Rounds like runtime::encodeFloat.
Value SmallFloatEmitter::encodePowerOfTwo(Value value) const {
  Value bits = b.andI(b.bitcast(value, bits32), number(0x7fffffff));
  bits = b.select(b.slt(bits, number(kInfinity)), bits, number(kInfinity));
  Value half = b.select(b.slt(bits, number(0x00800000)), number(0x200000),
                        number(0x400000));
  Value exponent = shiftRight(b.add(bits, half), shift);
  return arith::TruncIOp::create(b, narrow, exponent);
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
  if (format.isPowerOfTwo())
    return encodePowerOfTwo(value);
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

  Value rounded = b.select(b.slt(bits, number(powerOfTwo(1 - format.bias()))),
                           small, normal);
  Value encoded = addSign(limit(bits, rounded), sign);
  return arith::TruncIOp::create(b, narrow, encoded);
}

Value tarpon::emitDecodeFloat(KernelBuilder &b, const FloatFormat &format,
                              Value stored) {
  Type real = withLanesOf(stored.getType(), b.getF32Type());
  Type bits = withLanesOf(real, b.getIntegerType(8 * format.bytes()));
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
