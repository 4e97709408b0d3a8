//===- Scalars.cpp - Elements of constants as C++ numbers -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "tarpon/IR/ElementTypes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include "llvm/Support/ErrorHandling.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::DType;

/// Rounds to odd: a second rounding to fewer bits then has the result of a
/// single one.
static float roundToOdd(double value) {
  float rounded = static_cast<float>(value);
  if (std::isnan(value) || rounded == value)
    return rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    --bits;
  return std::bit_cast<float>(bits | 1);
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
  return static_cast<double>(read<T>(from));
}

template <typename T>
static T truncate(double value) {
  // 2^digits, unlike the maximum of 64-bit integers, is exact in double.
  constexpr double limit =
      2.0 *
      static_cast<double>(uint64_t(1) << (std::numeric_limits<T>::digits - 1));
  if (std::isnan(value))
    return T(0);
  if (value >= limit)
    return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <typename T>
static void storeDouble(char *to, double value) {
  T stored;
  if constexpr (std::is_floating_point_v<T>)
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

template <DType Stored>
static double loadSmallFloat(const char *from) {
  return runtime::loadAsDouble(Stored, from);
}

template <DType Stored>
static void storeSmallFloat(char *to, double value) {
  runtime::storeFromFloat(Stored, roundToOdd(value), to);
}

/// C++ has a type for floats of 32 and of 64 bits.
template <DType Stored, int Bytes>
static const ScalarAccess *getFloatAccess() {
  using Number = std::conditional_t<Bytes == 8, double, float>;
  static constexpr ScalarAccess access =
      Bytes >= 4 ? ScalarAccess{Bytes, loadDouble<Number>, storeDouble<Number>,
                                nullptr, nullptr}
                 : ScalarAccess{Bytes, loadSmallFloat<Stored>,
                                storeSmallFloat<Stored>, nullptr, nullptr};
  return &access;
}

template <typename T>
static const ScalarAccess *getIntegerAccess() {
  static constexpr ScalarAccess access{sizeof(T), loadDouble<T>, storeDouble<T>,
                                       loadInteger<T>, storeInteger<T>};
  return &access;
}

const ScalarAccess *tarpon::detail::getScalarAccess(Type elementType) {
  std::optional<DType> dtype = getDType(elementType);
  if (!dtype || isa<quant::QuantizedType>(elementType))
    return nullptr;
  switch (*dtype) {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, ...)            \
  case DType::enumerator:                                                      \
    return getFloatAccess<DType::enumerator,                                   \
                          runtime::FloatFormat{exponent, fraction}.bytes()>();
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  case DType::enumerator:                                                      \
    return getIntegerAccess<type>();
#include "tarpon/Runtime/DTypes.def"
  }
  llvm_unreachable("unknown dtype");
}
