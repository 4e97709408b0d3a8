//===- DType.cpp - Storage types of tensor elements -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions are portable code: emitted kernels are checked against them,
// so that they must not depend on the CPU.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/DType.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace tarpon::runtime {

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

namespace {
struct DTypeRow {
  std::string_view name;
  int64_t bytes;
  int64_t bits;
  /// The format of floats; no bits for integers.
  FloatFormat format;
  bool isSignedInteger;
};
} // namespace

static constexpr DTypeRow makeFloatRow(std::string_view name,
                                       FloatFormat format) {
  return {name, format.bytes(), format.bits(), format, false};
}

template <typename T>
static constexpr DTypeRow makeIntegerRow(std::string_view name) {
  using Limits = std::numeric_limits<T>;
  constexpr bool isBool = std::is_same_v<T, bool>;
  return {name,
          sizeof(T),
          isBool ? 8 : Limits::digits + Limits::is_signed,
          {},
          Limits::is_signed};
}

/// The rows are in the order of the enumeration.
static constexpr DTypeRow kRows[] = {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, ...)  \
  makeFloatRow(spelling, {exponent, fraction, FloatSpecials::specials}),
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  makeIntegerRow<type>(spelling),
#include "tarpon/Runtime/DTypes.def"
};

static const DTypeRow &getRow(DType dtype) {
  return kRows[static_cast<size_t>(dtype)];
}

int64_t dtypeBytes(DType dtype) { return getRow(dtype).bytes; }

int64_t dtypeBits(DType dtype) { return getRow(dtype).bits; }

std::optional<FloatFormat> getFloatFormat(DType dtype) {
  const FloatFormat &format = getRow(dtype).format;
  return format.exponentBits ? std::optional(format) : std::nullopt;
}

bool isFloat(DType dtype) { return getRow(dtype).format.exponentBits > 0; }

bool fitsF32(DType dtype) {
  return isFloat(dtype) && dtypeBits(dtype) <= 32 && !isStorageOnly(dtype);
}

bool isStorageOnly(DType dtype) {
  return dtypeBits(dtype) < 8 || (isFloat(dtype) && dtypeBits(dtype) == 8);
}

bool isSignedInteger(DType dtype) { return getRow(dtype).isSignedInteger; }

double dtypeEpsilon(DType dtype) {
  return isFloat(dtype) ? std::ldexp(1, -getRow(dtype).format.fractionBits) : 0;
}

std::string_view dtypeName(DType dtype) { return getRow(dtype).name; }

std::optional<DType> parseDType(std::string_view name) {
  for (DType dtype : kDTypes)
    if (dtypeName(dtype) == name)
      return dtype;
  return std::nullopt;
}

std::string listDTypes(bool (*wanted)(DType), std::string_view last) {
  std::vector<std::string_view> names;
  for (DType dtype : kDTypes)
    if (wanted(dtype))
      names.push_back(dtypeName(dtype));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      text += i + 1 == names.size() ? last : ", ";
    text += names[i];
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Elements may lie at any address, so that they are copied by memcpy.
template <typename T>
static T loadRaw(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

/// Any byte but 0 is true.
template <>
bool loadRaw<bool>(const void *element) {
  return loadRaw<uint8_t>(element) != 0;
}

template <typename T>
static void storeRaw(T value, void *element) {
  std::memcpy(element, &value, sizeof(T));
}

template <typename T>
static void storeInteger(float value, void *element) {
  using Limits = std::numeric_limits<T>;
  // Both bounds are exact in f32 if they are powers of two; max() itself may
  // not be, so that the upper test uses 2^digits.
  float upper = std::ldexp(1.0f, Limits::digits);
  float lower = static_cast<float>(Limits::min());
  T result{};
  float rounded = std::nearbyint(value);
  if (rounded >= upper)
    result = Limits::max();
  else if (rounded <= lower)
    result = Limits::min();
  else if (rounded == rounded) // NaN becomes 0.
    result = static_cast<T>(rounded);
  storeRaw(result, element);
}

template <>
void storeInteger<bool>(float value, void *element) {
  storeRaw<uint8_t>(value != 0.0f, element);
}

template <typename T>
static void storeWrappedInteger(uint64_t bits, void *element) {
  storeRaw(static_cast<T>(bits), element);
}

template <>
void storeWrappedInteger<bool>(uint64_t bits, void *element) {
  storeRaw<uint8_t>(bits & 1, element);
}

/// Converts the element to `To`, which is float or double.
template <typename To>
static To loadFloat(const FloatFormat &format, const void *element) {
  switch (format.bits()) {
  case 64:
    return static_cast<To>(loadRaw<double>(element));
  case 32:
    return static_cast<To>(loadRaw<float>(element));
  case 16:
    return static_cast<To>(decodeFloat(format, loadRaw<uint16_t>(element)));
  default:
    return static_cast<To>(decodeFloat(format, loadRaw<uint8_t>(element)));
  }
}

static void storeFloat(const FloatFormat &format, float value, void *element) {
  switch (format.bits()) {
  case 64:
    return storeRaw(static_cast<double>(value), element);
  case 32:
    return storeRaw(value, element);
  case 16:
    return storeRaw(encodeFloat(format, value), element);
  default:
    return storeRaw(static_cast<uint8_t>(encodeFloat(format, value)), element);
  }
}

template <typename To>
static To loadAs(DType dtype, const void *element) {
  switch (dtype) {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, ...)  \
  case DType::enumerator:                                                      \
    return loadFloat<To>({exponent, fraction, FloatSpecials::specials},        \
                         element);
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  case DType::enumerator:                                                      \
    return static_cast<To>(loadRaw<type>(element));
#include "tarpon/Runtime/DTypes.def"
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
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, ...)  \
  case DType::enumerator:                                                      \
    return storeFloat({exponent, fraction, FloatSpecials::specials}, value,    \
                      element);
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  case DType::enumerator:                                                      \
    return storeInteger<type>(value, element);
#include "tarpon/Runtime/DTypes.def"
  }
}

void storeWrapped(DType dtype, uint64_t bits, void *element) {
  switch (dtype) {
#define TARPON_FLOAT(enumerator, ...)                                          \
  case DType::enumerator:                                                      \
    assert(!"floats do not wrap");                                             \
    return;
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  case DType::enumerator:                                                      \
    return storeWrappedInteger<type>(bits, element);
#include "tarpon/Runtime/DTypes.def"
  }
}

} // namespace tarpon::runtime
