//===- DTypeTest.cpp - Tests of the element conversions ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/DType.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace tarpon::runtime;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T>
static T store(DType dtype, float value) {
  T result = 0;
  storeFromFloat(dtype, value, &result);
  return result;
}

static float loadBits(DType dtype, uint16_t bits) {
  return loadAsFloat(dtype, &bits);
}

TEST(DTypeTest, NamesRoundTrip) {
  for (DType dtype : kDTypes)
    EXPECT_EQ(parseDType(dtypeName(dtype)), dtype);
  EXPECT_EQ(dtypeName(DType::BF16), "bf16");
  EXPECT_EQ(dtypeBytes(DType::BF16), 2);
  EXPECT_EQ(dtypeBytes(DType::U64), 8);
  EXPECT_EQ(dtypeBytes(DType::Bool), 1);
  EXPECT_FALSE(parseDType("f8"));
  EXPECT_FALSE(parseDType(""));
}

TEST(DTypeTest, PropertiesFollowFromTheTable) {
  EXPECT_EQ(listDTypes(fitsF32, " or "), "f32, f16 or bf16");
  EXPECT_EQ(listDTypes(isFloat, ", "),
            "f32, f16, bf16, f64, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, "
            "f4E2M1FN, f8E8M0FNU");
  EXPECT_EQ(listDTypes(isSignedInteger, " and "),
            "i8, i16, i32, i64, i4 and i2");
  EXPECT_EQ(listDTypes(isStorageOnly, " and "),
            "f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, u4, i4, f4E2M1FN, "
            "f8E8M0FNU, u2 and i2");
  for (DType dtype : kDTypes)
    EXPECT_EQ(dtypeBytes(dtype), (dtypeBits(dtype) + 7) / 8);
  EXPECT_EQ(dtypeBits(DType::I4), 4);
  EXPECT_EQ(dtypeBits(DType::U2), 2);
  EXPECT_EQ(dtypeBits(DType::Bool), 8);
  EXPECT_EQ(dtypeEpsilon(DType::F32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(dtypeEpsilon(DType::F64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(dtypeEpsilon(DType::F16), 0x1p-10);
  EXPECT_EQ(dtypeEpsilon(DType::BF16), 0x1p-7);
  EXPECT_EQ(dtypeEpsilon(DType::I8), 0);
}

/// Packages and C programs have these numbers: a new type goes to the end.
TEST(DTypeTest, NumbersDoNotChange) {
  EXPECT_EQ(static_cast<int>(DType::F32), 0);
  EXPECT_EQ(static_cast<int>(DType::BF16), 2);
  EXPECT_EQ(static_cast<int>(DType::I8), 4);
  EXPECT_EQ(static_cast<int>(DType::Bool), 12);
  EXPECT_EQ(static_cast<int>(DType::F8E4M3FN), 13);
  EXPECT_EQ(static_cast<int>(DType::I2), 22);
}

static std::vector<DType> getSmallFloats() {
  std::vector<DType> small;
  for (DType dtype : kDTypes)
    if (isFloat(dtype) && dtypeBits(dtype) <= 16)
      small.push_back(dtype);
  return small;
}

TEST(DTypeTest, EverySmallFloatRoundTripsThroughFloat) {
  for (DType dtype : getSmallFloats()) {
    for (uint32_t bits = 0; bits < 1u << dtypeBits(dtype); ++bits) {
      float value = loadBits(dtype, static_cast<uint16_t>(bits));
      auto back = store<uint16_t>(dtype, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(loadBits(dtype, back))) << bits;
      else
        EXPECT_EQ(back, bits);
    }
  }
}

/// The definition: of two neighbours the nearer one, and the even one of two
/// that are equally near.
TEST(DTypeTest, RoundsToNearestEvenBetweenAllNeighbours) {
  for (DType dtype : getSmallFloats()) {
    FloatFormat format = *getFloatFormat(dtype);
    if (format.isPowerOfTwo())
      continue; // It has neither a sign nor an even one of two neighbours.
    bool hasNegativeZero = format.specials != FloatSpecials::NegativeZeroNaN;
    int sign = 1 << (format.bits() - 1);
    uint16_t largest = format.largestFinite();
    for (uint16_t low = 0; low < largest; ++low) {
      uint16_t high = low + 1;
      float below = loadBits(dtype, low), above = loadBits(dtype, high);
      float middle = below + (above - below) / 2;
      uint16_t even = low & 1 ? high : low;
      ASSERT_EQ(store<uint16_t>(dtype, middle), even) << low;
      if (middle == below || middle == above)
        continue; // bf16's smallest subnormals have no f32 between them.
      ASSERT_EQ(store<uint16_t>(dtype, std::nextafter(middle, 0.0f)), low);
      ASSERT_EQ(store<uint16_t>(dtype, std::nextafter(middle, kInfinity)),
                high);
      ASSERT_EQ(store<uint16_t>(dtype, -middle),
                even || hasNegativeZero ? even | sign : 0);
    }
  }
}

TEST(DTypeTest, HalfOverflowsToInfinityAtTheHalfwayPoint) {
  EXPECT_EQ(store<uint16_t>(DType::F16, 65504.0f), 0x7bff);
  EXPECT_EQ(store<uint16_t>(DType::F16, 65519.99f), 0x7bff);
  EXPECT_EQ(store<uint16_t>(DType::F16, 65520.0f), 0x7c00);
  EXPECT_EQ(store<uint16_t>(DType::F16, -1e30f), 0xfc00);
  EXPECT_EQ(store<uint16_t>(DType::F16, kInfinity), 0x7c00);
  EXPECT_EQ(store<uint16_t>(DType::F16, 0x1p-25f), 0);
  EXPECT_EQ(store<uint16_t>(DType::F16, 0x1.002p-25f), 1);
  EXPECT_EQ(store<uint16_t>(DType::F16, -0.0f), 0x8000);
  EXPECT_EQ(store<uint16_t>(DType::BF16, std::numeric_limits<float>::max()),
            0x7f80);
}

TEST(DTypeTest, NaNStaysNaN) {
  float signalling = std::bit_cast<float>(0x7f800001u);
  for (DType dtype : getSmallFloats())
    for (float value : {kNaN, -kNaN, signalling})
      if (!getFloatFormat(dtype)->hasNaN())
        EXPECT_EQ(loadBits(dtype, store<uint16_t>(dtype, value)), 0);
      else
        EXPECT_TRUE(std::isnan(loadBits(dtype, store<uint16_t>(dtype, value))));
}

/// Halfway to what would be the next number, the even one of both wins.
TEST(DTypeTest, SmallFloatsOverflowAtTheHalfwayPoint) {
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FN, 464.0f), 0x7e);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FN, 464.1f), 0x7f);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FN, -kInfinity), 0xff);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FNUZ, 247.9f), 0x7f);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FNUZ, 248.0f), 0x80);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FNUZ, -0.0f), 0);
  EXPECT_EQ(store<uint8_t>(DType::F8E4M3FNUZ, -0x1p-20f), 0);
  EXPECT_EQ(store<uint8_t>(DType::F8E5M2, 61439.9f), 0x7b);
  EXPECT_EQ(store<uint8_t>(DType::F8E5M2, -61440.0f), 0xfc);
  EXPECT_EQ(store<uint8_t>(DType::F8E5M2FNUZ, 61440.0f), 0x80);
  EXPECT_EQ(store<uint8_t>(DType::F4E2M1FN, 100.0f), 7);
  EXPECT_EQ(store<uint8_t>(DType::F4E2M1FN, -kInfinity), 15);
}

TEST(DTypeTest, PowersOfTwoHaveNeitherSignNorZero) {
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 1.0f), 127);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, -4.0f), 129);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 1.4999f), 127);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 1.5f), 128);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 0.0f), 0);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 0x1.7p-127f), 0);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 0x1.8p-127f), 1);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, 0x1.8p127f), 255);
  EXPECT_EQ(store<uint8_t>(DType::F8E8M0FNU, kInfinity), 255);
  EXPECT_EQ(loadBits(DType::F8E8M0FNU, 0), 0x1p-127f);
  EXPECT_EQ(loadBits(DType::F8E8M0FNU, 254), 0x1p127f);
}

TEST(DTypeTest, NarrowIntegersTakeAByteWithTheirSign) {
  EXPECT_EQ(store<int8_t>(DType::I4, 7.6f), 7);
  EXPECT_EQ(store<int8_t>(DType::I4, -9.0f), -8);
  EXPECT_EQ(store<int8_t>(DType::I4, kNaN), 0);
  EXPECT_EQ(store<int8_t>(DType::I2, -1.5f), -2);
  EXPECT_EQ(store<int8_t>(DType::I2, 2.0f), 1);
  EXPECT_EQ(store<uint8_t>(DType::U4, 16.0f), 15);
  EXPECT_EQ(store<uint8_t>(DType::U2, -1.0f), 0);
  EXPECT_EQ(store<uint8_t>(DType::U2, 2.5f), 2);
  for (DType dtype : {DType::I2, DType::I4, DType::U2, DType::U4})
    for (int64_t value = -20; value < 20; ++value) {
      int8_t element = 0;
      storeWrapped(dtype, value, &element);
      int64_t period = 1 << dtypeBits(dtype);
      int64_t wrapped = (value % period + period) % period;
      if (isSignedInteger(dtype) && wrapped >= period / 2)
        wrapped -= period;
      EXPECT_EQ(loadAsDouble(dtype, &element), wrapped) << dtypeName(dtype);
      EXPECT_EQ(element, wrapped);
    }
}

TEST(DTypeTest, IntegersRoundToNearestEvenAndSaturate) {
  EXPECT_EQ(store<int8_t>(DType::I8, 0.5f), 0);
  EXPECT_EQ(store<int8_t>(DType::I8, 1.5f), 2);
  EXPECT_EQ(store<int8_t>(DType::I8, -2.5f), -2);
  EXPECT_EQ(store<int8_t>(DType::I8, 127.5f), 127);
  EXPECT_EQ(store<int8_t>(DType::I8, -1000.0f), -128);
  EXPECT_EQ(store<int8_t>(DType::I8, kNaN), 0);
  EXPECT_EQ(store<uint8_t>(DType::U8, -0.4f), 0);
  EXPECT_EQ(store<uint8_t>(DType::U8, -3.0f), 0);
  EXPECT_EQ(store<uint8_t>(DType::U8, 255.4f), 255);
  EXPECT_EQ(store<uint8_t>(DType::U8, kInfinity), 255);
  EXPECT_EQ(store<int16_t>(DType::I16, 40000.0f), 32767);
  EXPECT_EQ(store<uint16_t>(DType::U16, 65534.6f), 65535);
  EXPECT_EQ(store<int32_t>(DType::I32, 3e9f), INT32_MAX);
  EXPECT_EQ(store<int32_t>(DType::I32, 2147483520.0f), 2147483520);
  EXPECT_EQ(store<int32_t>(DType::I32, -3e9f), INT32_MIN);
  EXPECT_EQ(store<uint32_t>(DType::U32, 5e9f), UINT32_MAX);
  EXPECT_EQ(store<int64_t>(DType::I64, 1e19f), INT64_MAX);
  EXPECT_EQ(store<int64_t>(DType::I64, -kInfinity), INT64_MIN);
  EXPECT_EQ(store<uint64_t>(DType::U64, 1e20f), UINT64_MAX);
  EXPECT_EQ(store<uint8_t>(DType::Bool, 0.25f), 1);
  EXPECT_EQ(store<uint8_t>(DType::Bool, 0.0f), 0);
}

TEST(DTypeTest, LoadsFromAnyAddress) {
  char bytes[16] = {};
  int64_t wide = (int64_t(1) << 53) + 2;
  std::memcpy(bytes + 1, &wide, sizeof(wide));
  EXPECT_EQ(loadAsDouble(DType::I64, bytes + 1), 9007199254740994.0);
  storeFromFloat(DType::F64, 0.25f, bytes + 3);
  EXPECT_EQ(loadAsFloat(DType::F64, bytes + 3), 0.25f);
  int8_t negative = -7;
  EXPECT_EQ(loadAsFloat(DType::I8, &negative), -7.0f);
  uint8_t truth = 9;
  EXPECT_EQ(loadAsFloat(DType::Bool, &truth), 1.0f);
}
