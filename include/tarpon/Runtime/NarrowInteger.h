//===- NarrowInteger.h - Integers of less than 8 bits -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_NARROWINTEGER_H
#define TARPON_RUNTIME_NARROWINTEGER_H

#include <cstdint>
#include <limits>
#include <type_traits>

namespace tarpon::runtime {

/// An integer that takes a byte in memory, extended by its sign or by zeros.
/// Conversions from other numbers keep the lower bits.
template <int Bits, bool IsSigned>
class NarrowInteger {
public:
  using Byte = std::conditional_t<IsSigned, int8_t, uint8_t>;

  constexpr NarrowInteger() = default;
  template <typename Number>
  constexpr explicit NarrowInteger(Number number)
      : value(wrap(static_cast<int64_t>(number))) {}

  template <typename Number>
  constexpr explicit operator Number() const {
    return static_cast<Number>(value);
  }

private:
  static constexpr Byte wrap(int64_t number) {
    constexpr int kUnused = 64 - Bits;
    auto upper = static_cast<uint64_t>(number) << kUnused;
    return IsSigned ? static_cast<Byte>(static_cast<int64_t>(upper) >> kUnused)
                    : static_cast<Byte>(upper >> kUnused);
  }

  Byte value = 0;
};

using Int2 = NarrowInteger<2, true>;
using Int4 = NarrowInteger<4, true>;
using UInt2 = NarrowInteger<2, false>;
using UInt4 = NarrowInteger<4, false>;

} // namespace tarpon::runtime

// The standard allows this for one's own types, and gives the names.
// NOLINTBEGIN(bugprone-std-namespace-modification,readability-identifier-naming)
template <int Bits, bool IsSigned>
class std::numeric_limits<tarpon::runtime::NarrowInteger<Bits, IsSigned>> {
  using Integer = tarpon::runtime::NarrowInteger<Bits, IsSigned>;

public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_integer = true;
  static constexpr bool is_signed = IsSigned;
  static constexpr int digits = Bits - IsSigned;
  static constexpr Integer min() {
    return Integer(IsSigned ? -(1 << digits) : 0);
  }
  static constexpr Integer max() { return Integer((1 << digits) - 1); }
};
// NOLINTEND(bugprone-std-namespace-modification,readability-identifier-naming)

#endif // TARPON_RUNTIME_NARROWINTEGER_H
