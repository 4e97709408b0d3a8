//===- MathOps.cpp - Mathematical functions -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

namespace {

struct CopySign {
  template <typename T>
  static T apply(T a, T b) {
    return std::copysign(a, b);
  }
};

/// The product of two f32 is exact in f64.
struct Fma {
  static float apply(float a, float b, float c) {
    return static_cast<float>(double(a) * double(b) + double(c));
  }
  static double apply(double a, double b, double c) {
    return std::fma(a, b, c);
  }
};

struct AbsInteger {
  template <typename T>
  static T apply(T a) {
    return std::make_signed_t<T>(a) < 0 ? T(0 - a) : a;
  }
};
struct CountOnes {
  template <typename T>
  static T apply(T a) {
    return std::popcount(a);
  }
};
struct LeadingZeros {
  template <typename T>
  static T apply(T a) {
    return std::countl_zero(a);
  }
};
struct TrailingZeros {
  template <typename T>
  static T apply(T a) {
    return std::countr_zero(a);
  }
};

} // namespace

template <typename Op>
static LogicalResult translateInteger(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickInteger<Unary<Op>::template Run>(operandElem(translator, op)));
}

static LogicalResult translateFma(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickFloat<Ternary<Fma>::Run>(operandElem(translator, op)));
}

static LogicalResult translateCopySign(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickFloat<Binary<CopySign>::Run>(operandElem(translator, op)));
}

void emulator::addMathOps(OpTable &table) {
  table["math.absf"] = translateUnary<Abs>;
  table["math.ceil"] = translateUnary<Ceil>;
  table["math.floor"] = translateUnary<Floor>;
  table["math.trunc"] = translateUnary<Trunc>;
  table["math.round"] = translateUnary<Round>;
  table["math.roundeven"] = translateUnary<RoundEven>;
  table["math.exp"] = translateUnary<Exp>;
  table["math.exp2"] = translateUnary<Exp2>;
  table["math.log"] = translateUnary<Log>;
  table["math.log2"] = translateUnary<Log2>;
  table["math.sqrt"] = translateUnary<Sqrt>;
  table["math.rsqrt"] = translateUnary<Rsqrt>;
  table["math.sin"] = translateUnary<Sin>;
  table["math.cos"] = translateUnary<Cos>;
  table["math.copysign"] = translateCopySign;
  table["math.fma"] = translateFma;
  table["vector.fma"] = translateFma;
  table["math.absi"] = translateInteger<AbsInteger>;
  table["math.ctpop"] = translateInteger<CountOnes>;
  table["math.ctlz"] = translateInteger<LeadingZeros>;
  table["math.cttz"] = translateInteger<TrailingZeros>;
  table["llvm.intr.exp2"] = translateUnary<Exp2>;
  table["llvm.intr.log2"] = translateUnary<Log2>;
  table["llvm.intr.sqrt"] = translateUnary<Sqrt>;
  table["llvm.intr.fma"] = translateFma;
  table["llvm.intr.roundeven"] = translateUnary<RoundEven>;
}
