//===- FloatFormat.h - Floats by their numbers of bits ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_FLOATFORMAT_H
#define TARPON_RUNTIME_FLOATFORMAT_H

#include <cstdint>

namespace tarpon::runtime {

/// The values of a format that are no finite numbers.
enum class FloatSpecials : uint8_t {
  /// As in IEEE 754, an exponent of all ones belongs to infinity and NaNs.
  Ieee,
  /// There is one NaN, of all ones (the sign aside), and no infinity.
  AllOnesNaN,
  /// There is one NaN, in the place of -0, and no infinity.
  NegativeZeroNaN,
  /// All values are finite.
  None,
};

/// The bits of a float from the top: sign, exponent, fraction. Exponent 0 is
/// that of subnormals. A format without a fraction is E8M0 of the OCP's
/// microscaling formats: powers of two, without a sign, a zero or subnormals.
struct FloatFormat {
  int exponentBits = 0;
  int fractionBits = 0;
  FloatSpecials specials = FloatSpecials::Ieee;

  constexpr bool isPowerOfTwo() const { return fractionBits == 0; }
  constexpr bool hasInfinity() const { return specials == FloatSpecials::Ieee; }
  constexpr bool hasNaN() const { return specials != FloatSpecials::None; }
  constexpr int bits() const {
    return exponentBits + fractionBits + !isPowerOfTwo();
  }
  /// The bytes of an element in memory, of which none is shared.
  constexpr int bytes() const { return (bits() + 7) / 8; }
  constexpr int bias() const {
    return (1 << (exponentBits - 1)) - 1 +
           (specials == FloatSpecials::NegativeZeroNaN);
  }
  /// All bits but the sign.
  constexpr uint64_t magnitude() const {
    return (uint64_t(1) << (exponentBits + fractionBits)) - 1;
  }
  constexpr uint64_t fraction() const {
    return (uint64_t(1) << fractionBits) - 1;
  }
  constexpr uint64_t largestFinite() const {
    if (hasInfinity())
      return (magnitude() ^ fraction()) - 1;
    return magnitude() - (specials == FloatSpecials::AllOnesNaN);
  }
  /// The largest magnitude that is no NaN.
  constexpr uint64_t largestNumber() const {
    return largestFinite() + hasInfinity();
  }
  /// f32 with fewer bits of the fraction: the upper bits are the same.
  constexpr bool hasExponentOfF32() const {
    return exponentBits == 8 && !isPowerOfTwo();
  }
};

/// The bits of `value` in a format of at most 16 bits, rounded to nearest even
/// as by LLVM's APFloat. Larger numbers become infinity, or else NaN, or else
/// the largest number. A NaN stays one, with the upper bits of its payload if
/// the format has any, and becomes 0 if there is none. Powers of two ignore the
/// sign, and turn zero into the smallest one.
uint16_t encodeFloat(const FloatFormat &format, float value);

/// The inverse, which is exact.
float decodeFloat(const FloatFormat &format, uint16_t bits);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_FLOATFORMAT_H
