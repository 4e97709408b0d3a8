//===- Lanes.h - Loops over lanes, and 16-bit floats ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_LANES_H
#define TARPON_TARGETS_GPU_EMULATOR_LANES_H

#include "Wave.h"

#include <bit>
#include <type_traits>

namespace tarpon::emulator {

/// Packs one byte per lane, 0 or 1, into one bit per lane.
inline uint64_t packMask(const Wave &wave, const uint8_t *bytes) {
  uint64_t mask = 0;
  for (unsigned lane = 0; lane < wave.lanes; lane += 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes + lane, 8);
    // Each product moves the lowest bits of the bytes into the top byte.
    mask |= (eight * 0x0102040810204080 >> 56) << lane;
  }
  return mask;
}

//===----------------------------------------------------------------------===//
// 16-bit floats, without branches so that loops over them vectorise
//===----------------------------------------------------------------------===//

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
/// The bits of an f32, of which NVIDIA's products ignore the lower 13.
struct Tf32 {
  uint32_t bits;
};

inline float toFloat(Half half) {
  uint32_t magnitude = uint32_t(half.bits & 0x7fff) << 13;
  float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  // Infinities and NaN have all bits of the exponent set.
  bits |= magnitude >= 0x0f800000 ? 0x7f800000 : 0;
  return std::bit_cast<float>(bits | uint32_t(half.bits & 0x8000) << 16);
}

/// Rounds to nearest even.
inline Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  // Adding a half, whose last place is f16's smallest number, rounds.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000;
  uint32_t normal = (bits + 0xc8000fff + (bits >> 13 & 1)) >> 13;
  uint32_t result = bits < 0x38800000 ? subnormal : normal;
  result = bits >= 0x47800000 ? 0x7c00 : result;
  result = bits > 0x7f800000 ? 0x7e00 : result;
  return {static_cast<uint16_t>(result | sign)};
}

inline float toFloat(BFloat value) {
  return std::bit_cast<float>(uint32_t(value.bits) << 16);
}

/// Rounds to nearest even.
inline BFloat toBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return {
      static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded)};
}

inline float toFloat(Tf32 value) {
  return std::bit_cast<float>(value.bits & 0xffffe000);
}

/// Rounds to nearest, halves away from zero.
inline Tf32 toTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x1000) & 0xffffe000;
  return {(bits & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : rounded};
}

template <typename T>
inline constexpr bool isWidened =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat> ||
    std::is_same_v<T, Tf32>;

/// The type of arithmetic on T, and the conversions to and from it.
template <typename T>
using Compute = std::conditional_t<isWidened<T>, float, T>;

template <typename T>
inline Compute<T> widen(T value) {
  if constexpr (isWidened<T>)
    return toFloat(value);
  else
    return value;
}

template <typename T>
inline T narrow(Compute<T> value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(value);
  else if constexpr (std::is_same_v<T, BFloat>)
    return toBFloat(value);
  else
    return value;
}

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_LANES_H
