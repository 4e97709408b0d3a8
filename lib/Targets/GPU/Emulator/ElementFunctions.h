//===- ElementFunctions.h - The functions of elementwise ops ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function computes one element. Integers narrower than int are computed
// in int, and wrap; f16 and bf16 are computed in f32.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_ELEMENTFUNCTIONS_H
#define TARPON_TARGETS_GPU_EMULATOR_ELEMENTFUNCTIONS_H

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tarpon::emulator {

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return a + b;
  }
};
/// Counts up to b, and then from 0 again.
struct CountUpTo {
  template <typename T>
  static T apply(T a, T b) {
    return a >= b ? T(0) : static_cast<T>(a + 1);
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) // products of uint16_t overflow int
      return T(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
// Shifts by the width or more are poison: 0 here.
struct Shl {
  template <typename T>
  static T apply(T a, T b) {
    return b < sizeof(T) * 8 ? T(uint64_t(a) << b) : T(0);
  }
};
struct Shr {
  template <typename T>
  static T apply(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return U(b) < sizeof(T) * 8 ? T(a >> U(b)) : T(0);
  }
};

/// Division of a by b, which is not 0, rounding as Rounding says.
enum class Rounding { Truncate, Floor, Ceil, Remainder };
template <Rounding rounding>
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    if (std::is_signed_v<T> && b == T(-1))
      return rounding == Rounding::Remainder ? T(0) : T(0 - uint64_t(a));
    T quotient = a / b, remainder = a % b;
    if (rounding == Rounding::Remainder)
      return remainder;
    bool negative = (remainder < 0) != (b < 0);
    if (rounding == Rounding::Floor && remainder != 0 && negative)
      return quotient - 1;
    if (rounding == Rounding::Ceil && remainder != 0 && !negative)
      return quotient + 1;
    return quotient;
  }
};

struct Equal {
  template <typename T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};

struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct FloatRemainder {
  template <typename T>
  static T apply(T a, T b) {
    return std::fmod(a, b);
  }
};
struct Negate {
  template <typename T>
  static T apply(T a) {
    return -a;
  }
};

/// A NaN operand is the result; -0 is less than 0.
struct Maximum {
  template <typename T>
  static T apply(T a, T b) {
    T larger = a > b ? a : b > a ? b : std::signbit(a) ? b : a;
    return a != a ? a : b != b ? b : larger;
  }
};
struct Minimum {
  template <typename T>
  static T apply(T a, T b) {
    T smaller = a < b ? a : b < a ? b : std::signbit(a) ? a : b;
    return a != a ? a : b != b ? b : smaller;
  }
};
/// The result is the other operand if one is NaN.
struct MaxNum {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : Maximum::apply(a, b);
  }
};
struct MinNum {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : Minimum::apply(a, b);
  }
};

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_ELEMENTFUNCTIONS_H
