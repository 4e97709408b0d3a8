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

/// The bits of a float from the top: sign, exponent, fraction. The exponent's
/// bias is 2^(exponentBits - 1) - 1, and exponent 0 is that of subnormals.
struct FloatFormat {
  int exponentBits = 0;
  int fractionBits = 0;
  /// As in IEEE 754, an exponent of all ones belongs to infinity and NaNs.
  /// Otherwise it belongs to numbers, except for the one NaN of all ones.
  bool hasInfinity = true;

  constexpr int bits() const { return 1 + exponentBits + fractionBits; }
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// All bits but the sign.
  constexpr uint64_t magnitude() const {
    return (uint64_t(1) << (exponentBits + fractionBits)) - 1;
  }
  constexpr uint64_t fraction() const {
    return (uint64_t(1) << fractionBits) - 1;
  }
  constexpr uint64_t largestFinite() const {
    return hasInfinity ? (magnitude() ^ fraction()) - 1 : magnitude() - 1;
  }
  /// The largest magnitude that is no NaN.
  constexpr uint64_t largestNumber() const {
    return largestFinite() + hasInfinity;
  }
  /// f32 with fewer bits of the fraction: the upper bits are the same.
  constexpr bool hasExponentOfF32() const { return exponentBits == 8; }
};

/// The bits of `value` in a format of at most 16 bits, rounded to nearest even.
/// Without an infinity, larger numbers become the largest one. A NaN stays one,
/// with the upper bits of its payload if the format has any.
uint16_t encodeFloat(const FloatFormat &format, float value);

/// The inverse, which is exact.
float decodeFloat(const FloatFormat &format, uint16_t bits);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_FLOATFORMAT_H
