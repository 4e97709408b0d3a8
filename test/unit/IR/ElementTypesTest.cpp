//===- ElementTypesTest.cpp - Tests of dtypes as types of MLIR ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the runtime's conversions, which link no LLVM, with LLVM's APFloat:
// the formats of the table, and two of 8 bits.
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ElementTypes.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace tarpon;
using llvm::APFloat;
using runtime::DType;
using runtime::FloatFormat;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TEST(ElementTypesTest, EveryDTypeHasItsType) {
  mlir::MLIRContext context;
  for (DType dtype : runtime::kDTypes) {
    mlir::Type type = getElementType(&context, dtype);
    EXPECT_EQ(getDType(type), dtype) << runtime::dtypeName(dtype);
    EXPECT_EQ(type.getIntOrFloatBitWidth(),
              dtype == DType::Bool ? 1 : 8 * runtime::dtypeBytes(dtype));
    EXPECT_EQ(isa<mlir::FloatType>(type), runtime::isFloat(dtype));
    EXPECT_EQ(type.isUnsignedInteger(), dtype != DType::Bool &&
                                            !runtime::isFloat(dtype) &&
                                            !runtime::isSignedInteger(dtype));
  }
}

/// The table says how many bits exponent and fraction have, and so does LLVM.
TEST(ElementTypesTest, FormatsAreThoseOfLLVM) {
  mlir::MLIRContext context;
  for (DType dtype : runtime::kDTypes)
    if (std::optional<FloatFormat> format = runtime::getFloatFormat(dtype)) {
      auto type = cast<mlir::FloatType>(getElementType(&context, dtype));
      const llvm::fltSemantics &semantics = type.getFloatSemantics();
      EXPECT_EQ(APFloat::semanticsPrecision(semantics),
                static_cast<unsigned>(format->fractionBits + 1));
      EXPECT_EQ(APFloat::semanticsMinExponent(semantics), 1 - format->bias());
      EXPECT_EQ(APFloat::semanticsHasInf(semantics), format->hasInfinity);
      EXPECT_EQ(runtime::dtypeEpsilon(dtype),
                std::ldexp(1, -format->fractionBits));
    }
}

TEST(ElementTypesTest, OtherTypesAreNotKnown) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::quant::QuantDialect>();
  mlir::Builder b(&context);
  EXPECT_EQ(getDType(b.getIntegerType(16, /*isSigned=*/true)), DType::I16);
  auto quantized = [&](unsigned flags, unsigned bits) {
    return mlir::quant::UniformQuantizedType::get(
        flags, b.getIntegerType(bits), b.getF32Type(), 0.5, 0, 0, 100);
  };
  EXPECT_EQ(getDType(quantized(1, 8)), DType::I8);
  EXPECT_EQ(getDType(quantized(0, 8)), DType::U8);
  EXPECT_FALSE(isElementType(quantized(1, 16)));
  for (mlir::Type type :
       {mlir::Type(b.getIntegerType(4)), mlir::Type(b.getIndexType()),
        mlir::Type(b.getIntegerType(1, /*isSigned=*/true)),
        mlir::Type(b.getTF32Type())})
    EXPECT_FALSE(isElementType(type));
}

TEST(ElementTypesTest, MessagesListTheFloats) {
  EXPECT_EQ(listFloatTypes(" or "), "f16, bf16, f32 or f64");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {
struct SmallFormat {
  FloatFormat format;
  const llvm::fltSemantics &semantics;
};
} // namespace

static std::vector<SmallFormat> getSmallFormats() {
  return {{{5, 10}, APFloat::IEEEhalf()},
          {{8, 7}, APFloat::BFloat()},
          {{5, 2}, APFloat::Float8E5M2()},
          {{4, 3, false}, APFloat::Float8E4M3FN()}};
}

/// Rounded by LLVM; saturated where there is no infinity.
static uint64_t encodeByLLVM(const SmallFormat &small, float value) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(small.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (number.isNaN())
    number = APFloat::getLargest(small.semantics, std::signbit(value));
  return number.bitcastToAPInt().getZExtValue();
}

TEST(ElementTypesTest, NumbersAreEncodedAsByLLVM) {
  for (const SmallFormat &small : getSmallFormats())
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 0x7f1) {
      float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      uint16_t encoded = runtime::encodeFloat(small.format, value);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(runtime::decodeFloat(small.format, encoded)));
      else
        ASSERT_EQ(encoded, encodeByLLVM(small, value)) << value;
    }
}

TEST(ElementTypesTest, NumbersAreDecodedAsByLLVM) {
  for (const SmallFormat &small : getSmallFormats())
    for (uint64_t bits = 0; bits < uint64_t(1) << small.format.bits(); ++bits) {
      auto stored = static_cast<uint16_t>(bits);
      float value = runtime::decodeFloat(small.format, stored);
      APFloat expected(small.semantics, llvm::APInt(small.format.bits(), bits));
      if (expected.isNaN()) {
        ASSERT_TRUE(std::isnan(value)) << bits;
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(value),
                std::bit_cast<uint32_t>(expected.convertToFloat()));
      ASSERT_EQ(runtime::encodeFloat(small.format, value), stored);
    }
}
