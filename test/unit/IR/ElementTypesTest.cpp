//===- ElementTypesTest.cpp - Tests of dtypes as types of MLIR ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the runtime's conversions, which link no LLVM, with LLVM's APFloat.
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
              dtype == DType::Bool ? 1 : runtime::dtypeBits(dtype));
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
      EXPECT_EQ(APFloat::semanticsMinExponent(semantics),
                !format->isPowerOfTwo() - format->bias());
      EXPECT_EQ(APFloat::semanticsHasInf(semantics), format->hasInfinity());
      EXPECT_EQ(APFloat::semanticsHasNaN(semantics), format->hasNaN());
      EXPECT_EQ(APFloat::getSizeInBits(semantics),
                static_cast<unsigned>(format->bits()));
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
       {mlir::Type(b.getIntegerType(3)), mlir::Type(b.getIndexType()),
        mlir::Type(b.getIntegerType(1, /*isSigned=*/true)),
        mlir::Type(b.getTF32Type())})
    EXPECT_FALSE(isElementType(type));
}

TEST(ElementTypesTest, MessagesListTheFloats) {
  EXPECT_EQ(listFloatTypes(" or "),
            "f4E2M1FN, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, "
            "f16, bf16, f32 or f64");
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

/// The floats of 16 bits and less. E8M0, which has no zero, is tested apart.
static std::vector<SmallFormat> getSmallFormats() {
  mlir::MLIRContext context;
  std::vector<SmallFormat> formats;
  for (DType dtype : runtime::kDTypes)
    if (std::optional<FloatFormat> format = runtime::getFloatFormat(dtype))
      if (format->bits() <= 16 && !format->isPowerOfTwo())
        formats.push_back(
            {*format, cast<mlir::FloatType>(getElementType(&context, dtype))
                          .getFloatSemantics()});
  return formats;
}

static uint64_t encodeByLLVM(const llvm::fltSemantics &semantics, float value) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

TEST(ElementTypesTest, NumbersAreEncodedAsByLLVM) {
  std::vector<SmallFormat> formats = getSmallFormats();
  EXPECT_EQ(formats.size(), 7u);
  for (const auto &[format, semantics] : formats)
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 0xfd1) {
      float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      uint16_t encoded = runtime::encodeFloat(format, value);
      // LLVM does not convert what fp4 cannot hold.
      if (!format.hasNaN() && !std::isfinite(value))
        continue;
      float back = runtime::decodeFloat(format, encoded);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(back));
      else if (!std::isnan(back))
        ASSERT_EQ(encoded, encodeByLLVM(semantics, value)) << value;
      else
        ASSERT_TRUE(
            APFloat(semantics,
                    llvm::APInt(format.bits(), encodeByLLVM(semantics, value)))
                .isNaN())
            << value;
    }
}

TEST(ElementTypesTest, PowersOfTwoAreEncodedAsByLLVM) {
  FloatFormat format = *runtime::getFloatFormat(DType::F8E8M0FNU);
  const llvm::fltSemantics &semantics = APFloat::Float8E8M0FNU();
  for (uint64_t bits = 0x00800000; bits < 0x7f800000; bits += 0x101) {
    float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    ASSERT_EQ(runtime::encodeFloat(format, value),
              encodeByLLVM(semantics, value))
        << value;
  }
}

TEST(ElementTypesTest, NumbersAreDecodedAsByLLVM) {
  std::vector<SmallFormat> formats = getSmallFormats();
  formats.push_back(
      {*runtime::getFloatFormat(DType::F8E8M0FNU), APFloat::Float8E8M0FNU()});
  for (const auto &[format, semantics] : formats)
    for (uint64_t bits = 0; bits < uint64_t(1) << format.bits(); ++bits) {
      auto stored = static_cast<uint16_t>(bits);
      float value = runtime::decodeFloat(format, stored);
      APFloat expected(semantics, llvm::APInt(format.bits(), bits));
      if (expected.isNaN()) {
        ASSERT_TRUE(std::isnan(value)) << bits;
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(value),
                std::bit_cast<uint32_t>(expected.convertToFloat()));
      ASSERT_EQ(runtime::encodeFloat(format, value), stored);
    }
}
