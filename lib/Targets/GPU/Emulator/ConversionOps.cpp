//===- ConversionOps.cpp - Casts of arith and llvm ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats outside of an integer's range are converted like AMD's v_cvt_i32_f32
// and v_cvt_u32_f32 do: to the nearest number of 32 bits (64 for i64), and NaN
// to 0; a narrower integer is the low part of that.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

namespace {

/// An i1, stored as 0 or 1 in a byte.
struct Bool {
  uint8_t value;
};

/// Saturating conversion to an integer of at least 32 bits.
template <typename To, typename From>
To toInteger(From value) {
  // Both bounds are powers of two or 0, and thus exact.
  constexpr From low = From(std::numeric_limits<To>::min());
  constexpr From high =
      From(2) * From(uint64_t(1) << (std::numeric_limits<To>::digits - 1));
  if (value != value)
    return 0;
  if (value <= low)
    return std::numeric_limits<To>::min();
  if (value >= high)
    return std::numeric_limits<To>::max();
  return To(value);
}

/// Converts one element. `isSigned` concerns the integer, if there is one.
template <typename To, typename From, bool isSigned>
To convert(From from) {
  if constexpr (std::is_same_v<From, Bool>) {
    if constexpr (std::is_integral_v<To>)
      return isSigned ? To(0 - from.value) : To(from.value);
    else
      return narrow<To>(isSigned ? -Compute<To>(from.value)
                                 : Compute<To>(from.value));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(from & 1)};
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return isSigned ? To(std::make_signed_t<From>(from)) : To(from);
  } else if constexpr (std::is_integral_v<To>) {
    using Wide32 = std::conditional_t<isSigned, int32_t, uint32_t>;
    using Wide64 = std::conditional_t<isSigned, int64_t, uint64_t>;
    using Wide = std::conditional_t<sizeof(To) == 8, Wide64, Wide32>;
    return To(toInteger<Wide>(widen(from)));
  } else if constexpr (std::is_integral_v<From>) {
    using Source = std::conditional_t<isSigned, std::make_signed_t<From>, From>;
    return narrow<To>(Compute<To>(Source(from)));
  } else {
    return narrow<To>(Compute<To>(widen(from)));
  }
}

template <typename To, typename From, bool isSigned>
void runConvert(Wave &wave, const Instr &instr) {
  To *__restrict dst = wave.at<To>(instr.dst);
  const From *__restrict src = wave.at<From>(instr.a);
  for (uint32_t i = 0, count = elementCount(instr); i < count; ++i)
    dst[i] = convert<To, From, isSigned>(src[i]);
}

template <typename From, bool isSigned>
struct ConvertFrom {
  template <typename To>
  struct Run {
    static constexpr Handler handler = runConvert<To, From, isSigned>;
  };
};

} // namespace

/// Converts integers to integers or floats, and floats to either.
template <typename From, bool isSigned>
static Handler pickTo(Elem to) {
  using Convert = ConvertFrom<From, isSigned>;
  if constexpr (std::is_integral_v<From>)
    if (to == Elem::I1)
      return runConvert<Bool, From, isSigned>;
  if (Handler handler = pickInteger<Convert::template Run>(to))
    return handler;
  return pickFloat<Convert::template Run>(to);
}

template <bool isSigned>
static Handler pickConvert(Elem to, Elem from) {
  switch (from) {
  case Elem::I1:
    return pickTo<Bool, isSigned>(to);
  case Elem::I8:
    return pickTo<uint8_t, isSigned>(to);
  case Elem::I16:
    return pickTo<uint16_t, isSigned>(to);
  case Elem::I32:
    return pickTo<uint32_t, isSigned>(to);
  case Elem::I64:
    return pickTo<uint64_t, isSigned>(to);
  case Elem::F16:
    return pickTo<Half, isSigned>(to);
  case Elem::BF16:
    return pickTo<BFloat, isSigned>(to);
  case Elem::F32:
    return pickTo<float, isSigned>(to);
  case Elem::F64:
    return pickTo<double, isSigned>(to);
  }
  return nullptr;
}

template <bool isSigned>
static LogicalResult translateConvert(Translator &translator, Operation *op) {
  Elem to = translator.getRegisterType(op->getResult(0).getType())->elem;
  return emitElementwise(
      translator, op, pickConvert<isSigned>(to, operandElem(translator, op)));
}

/// Reinterprets elements of one width.
static LogicalResult translateBitcast(Translator &translator, Operation *op) {
  Reg src = translator.use(op->getOperand(0));
  Reg dst = translator.define(op->getResult(0));
  if (elemBytes(src.elem) != elemBytes(dst.elem) ||
      src.components != dst.components)
    return translator.refuse(op, "changes the width of elements, which "
                                 "vector.bitcast is for");
  translator.emitMoves(op, {{dst, src}});
  return success();
}

/// Pointers have 64 bits here: a buffer and an offset in it.
static LogicalResult translatePointerCast(Translator &translator,
                                          Operation *op) {
  Reg src = translator.use(op->getOperand(0));
  Reg dst = translator.define(op->getResult(0));
  if (src.elem != Elem::I64 || dst.elem != Elem::I64 || src.components != 1 ||
      dst.components != 1)
    return translator.refuse(op, "is not between one pointer and an i64");
  translator.emitMoves(op, {{dst, src}});
  return success();
}

void emulator::addConversionOps(OpTable &table) {
  table["arith.extui"] = translateConvert<false>;
  table["arith.extsi"] = translateConvert<true>;
  table["arith.trunci"] = translateConvert<false>;
  table["arith.index_cast"] = translateConvert<true>;
  table["arith.index_castui"] = translateConvert<false>;
  table["arith.extf"] = translateConvert<true>;
  table["arith.truncf"] = translateConvert<true>;
  table["arith.sitofp"] = translateConvert<true>;
  table["arith.uitofp"] = translateConvert<false>;
  table["arith.fptosi"] = translateConvert<true>;
  table["arith.fptoui"] = translateConvert<false>;
  table["arith.bitcast"] = translateBitcast;
  table["llvm.inttoptr"] = translatePointerCast;
  table["llvm.ptrtoint"] = translatePointerCast;
}
