//===- FloatFormat.cpp - Floats by their numbers of bits --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions are portable integer code: emitted kernels are checked
// against them, so that they must not depend on the CPU.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/FloatFormat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tarpon::runtime {

static constexpr FloatFormat kF32 = {8, 23};
static constexpr uint32_t kInfinity = 0x7f800000;

/// `value >> shift`, rounded to nearest even. `shift` is 1 to 31.
static uint32_t shiftRightToNearestEven(uint32_t value, int shift) {
  uint32_t quotient = value >> shift;
  uint32_t rest = value & ((1u << shift) - 1);
  uint32_t half = 1u << (shift - 1);
  bool up = rest > half || (rest == half && (quotient & 1));
  return quotient + up;
}

/// The magnitude of a NaN: the upper bits of its payload, made quiet.
static uint32_t encodeNaN(const FloatFormat &format, uint32_t magnitude) {
  if (format.specials == FloatSpecials::NegativeZeroNaN)
    return static_cast<uint32_t>(format.magnitude()) + 1;
  if (!format.hasInfinity())
    return format.hasNaN() ? static_cast<uint32_t>(format.magnitude()) : 0;
  uint32_t payload = magnitude >> (kF32.fractionBits - format.fractionBits);
  uint32_t quiet = 1u << (format.fractionBits - 1);
  return static_cast<uint32_t>(format.largestNumber()) | quiet |
         (payload & static_cast<uint32_t>(format.fraction()));
}

/// The exponent of the nearest power of two, of two the larger one.
static uint32_t encodePowerOfTwo(uint32_t magnitude) {
  constexpr uint32_t kSmallestNormal = 0x00800000;
  // The smallest power is a subnormal of f32, half of the smallest normal.
  uint32_t half = magnitude < kSmallestNormal ? 0x200000 : 0x400000;
  return std::min(magnitude + half, kInfinity) >> kF32.fractionBits;
}

/// A finite f32 or infinity, rounded; may be above the largest number.
static uint32_t encodeNumber(const FloatFormat &format, uint32_t magnitude) {
  int shift = kF32.fractionBits - format.fractionBits;
  uint32_t rebase = static_cast<uint32_t>(kF32.bias() - format.bias())
                    << kF32.fractionBits;
  // A carry out of the fraction leads to the next exponent, or to infinity.
  if (format.hasExponentOfF32() ||
      magnitude >= rebase + (1u << kF32.fractionBits))
    return shiftRightToNearestEven(magnitude - rebase, shift);
  // A subnormal counts units of 2^(1 - bias - fractionBits). Numbers below half
  // a unit are shifted out, the subnormals of f32 among them.
  int exponent = static_cast<int>(magnitude >> kF32.fractionBits);
  uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  int toUnits = 1 + shift + kF32.bias() - format.bias() - exponent;
  return shiftRightToNearestEven(fraction, std::min(toUnits, 31));
}

uint16_t encodeFloat(const FloatFormat &format, float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffff;
  if (format.isPowerOfTwo())
    return static_cast<uint16_t>(encodePowerOfTwo(magnitude));
  auto largest = static_cast<uint32_t>(format.largestNumber());
  uint32_t sign = bits >> 31 << (format.bits() - 1);
  uint32_t encoded = encodeNumber(format, std::min(magnitude, kInfinity));
  bool isNaN = magnitude > kInfinity;
  if (encoded > largest) {
    isNaN |= !format.hasInfinity() && format.hasNaN();
    encoded = largest;
  }
  if (isNaN)
    encoded = encodeNaN(format, magnitude);
  // The sign alone is no zero there, but the NaN.
  if (format.specials == FloatSpecials::NegativeZeroNaN &&
      (isNaN || encoded == 0))
    sign = 0;
  return static_cast<uint16_t>(sign | encoded);
}

float decodeFloat(const FloatFormat &format, uint16_t bits) {
  auto magnitude = static_cast<uint32_t>(bits & format.magnitude());
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  if (format.isPowerOfTwo())
    return magnitude > format.largestFinite()
               ? kNaN
               : std::ldexp(1.0f, static_cast<int>(magnitude) - format.bias());
  if (format.specials == FloatSpecials::NegativeZeroNaN && magnitude == 0 &&
      bits != 0)
    return kNaN;
  auto sign = static_cast<uint32_t>(bits >> (format.bits() - 1)) << 31;
  int shift = kF32.fractionBits - format.fractionBits;
  uint32_t rebase = static_cast<uint32_t>(kF32.bias() - format.bias())
                    << kF32.fractionBits;
  uint32_t decoded = magnitude << shift;
  if (magnitude > format.largestFinite())
    decoded |= kInfinity;
  else if (format.hasExponentOfF32() || magnitude > format.fraction())
    decoded += rebase;
  else // Zero and subnormals, exact in f32.
    decoded = std::bit_cast<uint32_t>(
        std::ldexp(static_cast<float>(magnitude),
                   1 - format.bias() - format.fractionBits));
  return std::bit_cast<float>(sign | decoded);
}

} // namespace tarpon::runtime
