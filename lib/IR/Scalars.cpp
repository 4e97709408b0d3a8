//===- Scalars.cpp - Single elements of constants as C++ numbers *- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "mlir/IR/BuiltinTypes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace mlir;
using namespace tarpon::detail;

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

namespace {

/// Storage of the float types that C++20 lacks.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

} // namespace

/// Rounds to odd: what is rounded again to fewer bits then comes out as if
/// rounded once.
static float roundToOdd(double value) {
  float rounded = static_cast<float>(value);
  if (std::isnan(value) || rounded == value)
    return rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    --bits;
  return std::bit_cast<float>(bits | 1);
}

static uint16_t encodeHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00;
  // From 65520 on the nearest half is infinity.
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00;
  if (magnitude >= 0x38800000) {
    uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return sign | ((rounded - 0x38000000) >> 13);
  }
  // A subnormal half: added to 0.5, its last bit is the last bit of the sum.
  float sum = std::bit_cast<float>(magnitude) + 0.5f;
  return sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000);
}

static float decodeHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400)
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

static uint16_t encodeBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

template <typename T>
static T read(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
static double loadDouble(const char *from) {
  T value = read<T>(from);
  if constexpr (std::is_same_v<T, Half>)
    return decodeHalf(value.bits);
  else if constexpr (std::is_same_v<T, BFloat>)
    return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
  else
    return static_cast<double>(value);
}

template <typename T>
static T truncate(double value) {
  // 2^digits, unlike the maximum of 64-bit integers, is exact in double.
  constexpr double limit =
      2.0 *
      static_cast<double>(uint64_t(1) << (std::numeric_limits<T>::digits - 1));
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <typename T>
static void storeDouble(char *to, double value) {
  T stored;
  if constexpr (std::is_same_v<T, Half>)
    stored = {encodeHalf(roundToOdd(value))};
  else if constexpr (std::is_same_v<T, BFloat>)
    stored = {encodeBFloat(roundToOdd(value))};
  else if constexpr (std::is_floating_point_v<T>)
    stored = static_cast<T>(value);
  else if constexpr (std::is_same_v<T, bool>)
    stored = value != 0;
  else
    stored = truncate<T>(value);
  std::memcpy(to, &stored, sizeof(T));
}

template <typename T>
static int64_t loadInteger(const char *from) {
  return static_cast<int64_t>(read<T>(from));
}

template <typename T>
static void storeInteger(char *to, int64_t value) {
  T stored = static_cast<T>(value);
  std::memcpy(to, &stored, sizeof(T));
}

template <typename T>
static const ScalarAccess *getFloatAccess() {
  static constexpr ScalarAccess access{sizeof(T), loadDouble<T>, storeDouble<T>,
                                       nullptr, nullptr};
  return &access;
}

template <typename T>
static const ScalarAccess *getIntegerAccess() {
  static constexpr ScalarAccess access{sizeof(T), loadDouble<T>, storeDouble<T>,
                                       loadInteger<T>, storeInteger<T>};
  return &access;
}

static const ScalarAccess *getAccess(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return getIntegerAccess<bool>();
  case 8:
    return isUnsigned ? getIntegerAccess<uint8_t>()
                      : getIntegerAccess<int8_t>();
  case 16:
    return isUnsigned ? getIntegerAccess<uint16_t>()
                      : getIntegerAccess<int16_t>();
  case 32:
    return isUnsigned ? getIntegerAccess<uint32_t>()
                      : getIntegerAccess<int32_t>();
  case 64:
    return isUnsigned ? getIntegerAccess<uint64_t>()
                      : getIntegerAccess<int64_t>();
  default:
    return nullptr;
  }
}

const ScalarAccess *tarpon::detail::getScalarAccess(Type elementType) {
  if (elementType.isF32())
    return getFloatAccess<float>();
  if (elementType.isF64())
    return getFloatAccess<double>();
  if (elementType.isF16())
    return getFloatAccess<Half>();
  if (elementType.isBF16())
    return getFloatAccess<BFloat>();
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return getAccess(integer);
  return nullptr;
}
