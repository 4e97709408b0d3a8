//===- MathFunctions.h - Mathematical functions of one element --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that GPUs compute without a library. The host's library computes
// them here, to about half a unit in the last place; hardware is off by one
// unit or a little more.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_MATHFUNCTIONS_H
#define TARPON_TARGETS_GPU_EMULATOR_MATHFUNCTIONS_H

#include "Elementwise.h"

#include <cmath>

namespace tarpon::emulator {

#define TARPON_MATH_FUNCTION(NAME, EXPRESSION)                                 \
  struct NAME {                                                                \
    template <typename T>                                                      \
    static T apply(T x) {                                                      \
      return EXPRESSION;                                                       \
    }                                                                          \
  };
TARPON_MATH_FUNCTION(Abs, std::fabs(x))
TARPON_MATH_FUNCTION(Ceil, std::ceil(x))
TARPON_MATH_FUNCTION(Floor, std::floor(x))
TARPON_MATH_FUNCTION(Trunc, std::trunc(x))
TARPON_MATH_FUNCTION(Round, std::round(x))
// The process rounds to nearest even.
TARPON_MATH_FUNCTION(RoundEven, std::nearbyint(x))
TARPON_MATH_FUNCTION(Exp, std::exp(x))
TARPON_MATH_FUNCTION(Exp2, std::exp2(x))
TARPON_MATH_FUNCTION(Log, std::log(x))
TARPON_MATH_FUNCTION(Log2, std::log2(x))
TARPON_MATH_FUNCTION(Sqrt, std::sqrt(x))
TARPON_MATH_FUNCTION(Rsqrt, T(1) / std::sqrt(x))
TARPON_MATH_FUNCTION(Reciprocal, T(1) / x)
TARPON_MATH_FUNCTION(Sin, std::sin(x))
TARPON_MATH_FUNCTION(Cos, std::cos(x))
#undef TARPON_MATH_FUNCTION

/// Translates an op of one float with such a function.
template <typename Op>
mlir::LogicalResult translateUnary(Translator &translator,
                                   mlir::Operation *op) {
  return emitElementwise(
      translator, op,
      pickFloat<Unary<Op>::template Run>(operandElem(translator, op)));
}

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_MATHFUNCTIONS_H
