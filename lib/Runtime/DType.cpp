//===- DType.cpp - Storage types of tensor elements -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions are in portable integer code: they define what the emitted
// kernels are checked against, so they must not depend on the CPU.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/DType.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tarpon::runtime {

namespace {
struct DTypeRow {
  std::string_view name;
  int64_t bytes;
};
} // namespace

/// In the order of the enumeration.
static constexpr std::array<DTypeRow, 13> kDTypes = {{{"f32", 4},
                                                      {"f16", 2},
                                                      {"bf16", 2},
                                                      {"f64", 8},
                                                      {"i8", 1},
                                                      {"u8", 1},
                                                      {"i16", 2},
                                                      {"u16", 2},
                                                      {"i32", 4},
                                                      {"u32", 4},
                                                      {"i64", 8},
                                                      {"u64", 8},
                                                      {"bool", 1}}};

int64_t dtypeBytes(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].bytes;
}

bool isFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
         dtype == DType::F64;
}

std::string_view dtypeName(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].name;
}

std::optional<DType> parseDType(std::string_view name) {
  for (size_t index = 0; index < kDTypes.size(); ++index)
    if (kDTypes[index].name == name)
      return static_cast<DType>(index);
  return std::nullopt;
}

/// `value >> shift`, rounded to nearest even. `shift` is 1 to 31.
static uint32_t shiftRightToNearestEven(uint32_t value, int shift) {
  uint32_t quotient = value >> shift;
  uint32_t rest = value & ((1u << shift) - 1);
  uint32_t half = 1u << (shift - 1);
  bool up = rest > half || (rest == half && (quotient & 1));
  return quotient + up;
}

static uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >
      0x7f800000) // NaN stays NaN: keep the top bits, make it quiet.
    return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
  if (magnitude >= 0x47800000) // 2^16 and above.
    return sign | 0x7c00;
  if (magnitude >= 0x38800000) { // 2^-14 and above: normal as f16.
    uint32_t rebased = magnitude - ((127u - 15u) << 23);
    // A carry out of the mantissa makes the next exponent, or infinity.
    return static_cast<uint16_t>(sign | shiftRightToNearestEven(rebased, 13));
  }
  if (magnitude < 0x33000000) // Below 2^-25: rounds to zero.
    return sign;
  // A subnormal f16 counts units of 2^-24.
  int exponent = static_cast<int>(magnitude >> 23);
  uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
  return static_cast<uint16_t>(
      sign | shiftRightToNearestEven(mantissa, 126 - exponent));
}

static float halfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) { // Zero and subnormals: units of 2^-24, exact in f32.
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) |
                              (mantissa << 13));
}

static uint16_t floatToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) // Rounding could turn a NaN into inf.
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>(shiftRightToNearestEven(bits, 16));
}

static float bfloatToFloat(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

/// Elements may lie at any address, so they go through memcpy.
template <typename T>
static T loadRaw(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T>
static void storeRaw(T value, void *element) {
  std::memcpy(element, &value, sizeof(T));
}

template <typename T>
static void storeSaturated(float value, void *element) {
  using Limits = std::numeric_limits<T>;
  // Both borders are exact in f32 when they are powers of two; max() itself may
  // not be, so the upper test is against 2^digits.
  float upper = std::ldexp(1.0f, Limits::digits);
  float lower = static_cast<float>(Limits::min());
  T result = 0;
  float rounded = std::nearbyint(value);
  if (rounded >= upper)
    result = Limits::max();
  else if (rounded <= lower)
    result = Limits::min();
  else if (rounded == rounded) // NaN becomes 0.
    result = static_cast<T>(rounded);
  storeRaw(result, element);
}

/// The element as the C++ number type `To`, which is float or double.
template <typename To>
static To loadAs(DType dtype, const void *element) {
  switch (dtype) {
  case DType::F32:
    return static_cast<To>(loadRaw<float>(element));
  case DType::F16:
    return static_cast<To>(halfToFloat(loadRaw<uint16_t>(element)));
  case DType::BF16:
    return static_cast<To>(bfloatToFloat(loadRaw<uint16_t>(element)));
  case DType::F64:
    return static_cast<To>(loadRaw<double>(element));
  case DType::I8:
    return static_cast<To>(loadRaw<int8_t>(element));
  case DType::U8:
    return static_cast<To>(loadRaw<uint8_t>(element));
  case DType::I16:
    return static_cast<To>(loadRaw<int16_t>(element));
  case DType::U16:
    return static_cast<To>(loadRaw<uint16_t>(element));
  case DType::I32:
    return static_cast<To>(loadRaw<int32_t>(element));
  case DType::U32:
    return static_cast<To>(loadRaw<uint32_t>(element));
  case DType::I64:
    return static_cast<To>(loadRaw<int64_t>(element));
  case DType::U64:
    return static_cast<To>(loadRaw<uint64_t>(element));
  case DType::Bool:
    return loadRaw<uint8_t>(element) ? To(1) : To(0);
  }
  return To(0);
}

float loadAsFloat(DType dtype, const void *element) {
  return loadAs<float>(dtype, element);
}

double loadAsDouble(DType dtype, const void *element) {
  return loadAs<double>(dtype, element);
}

void storeFromFloat(DType dtype, float value, void *element) {
  switch (dtype) {
  case DType::F32:
    return storeRaw(value, element);
  case DType::F16:
    return storeRaw(floatToHalf(value), element);
  case DType::BF16:
    return storeRaw(floatToBFloat(value), element);
  case DType::F64:
    return storeRaw(static_cast<double>(value), element);
  case DType::I8:
    return storeSaturated<int8_t>(value, element);
  case DType::U8:
    return storeSaturated<uint8_t>(value, element);
  case DType::I16:
    return storeSaturated<int16_t>(value, element);
  case DType::U16:
    return storeSaturated<uint16_t>(value, element);
  case DType::I32:
    return storeSaturated<int32_t>(value, element);
  case DType::U32:
    return storeSaturated<uint32_t>(value, element);
  case DType::I64:
    return storeSaturated<int64_t>(value, element);
  case DType::U64:
    return storeSaturated<uint64_t>(value, element);
  case DType::Bool:
    return storeRaw<uint8_t>(value != 0.0f, element);
  }
}

} // namespace tarpon::runtime
