//===- ConstantDataTest.cpp - Tests of constants --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ConstantData.h"

#include "IRTest.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tarpon;
using ::testing::ElementsAre;

namespace {

class ConstantDataTest : public IRTest {
protected:
  template <typename T>
  static std::vector<char> toBytes(const std::vector<T> &values) {
    std::vector<char> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  RankedTensorType getVectorType(int64_t size, Type elementType) {
    return RankedTensorType::get({size}, elementType);
  }

  /// Stores the values in every way that there is, and expects to read the same
  /// bytes and these floats.
  template <typename T>
  void checkRoundTrip(Type elementType, const std::vector<T> &pattern,
                      const std::vector<float> &floats) {
    EXPECT_EQ(getElementBytes(elementType), int64_t(sizeof(T)));
    for (size_t repeats : {1, 100}) {
      std::vector<T> values;
      std::vector<float> expected;
      for (size_t i = 0; i < repeats; ++i) {
        values.insert(values.end(), pattern.begin(), pattern.end());
        expected.insert(expected.end(), floats.begin(), floats.end());
      }
      auto type = getVectorType(values.size(), elementType);
      ElementsAttr attr = makeConstantAttr(type, toBytes(values));
      EXPECT_EQ(attr.getShapedType(), type);
      EXPECT_EQ(isa<DenseResourceElementsAttr>(attr), repeats == 100);
      EXPECT_EQ(getConstantBytes(attr), toBytes(values));
      EXPECT_EQ(getConstantFloats(attr), expected);
    }
  }
};

} // namespace

TEST_F(ConstantDataTest, Floats) {
  checkRoundTrip<float>(builder.getF32Type(), {1.5f, -2.0f, 1e30f},
                        {1.5f, -2.0f, 1e30f});
  checkRoundTrip<double>(builder.getF64Type(), {1.5, -2.0, 1e300},
                         {1.5f, -2.0f, std::numeric_limits<float>::infinity()});
  checkRoundTrip<uint16_t>(builder.getF16Type(), {0x3e00, 0xc000, 0x0001},
                           {1.5f, -2.0f, std::ldexp(1.0f, -24)});
  checkRoundTrip<uint16_t>(
      builder.getBF16Type(), {0x3fc0, 0xc000, 0x7f80},
      {1.5f, -2.0f, std::numeric_limits<float>::infinity()});
}

TEST_F(ConstantDataTest, Integers) {
  auto getUnsigned = [&](unsigned width) {
    return builder.getIntegerType(width, /*isSigned=*/false);
  };
  checkRoundTrip<int8_t>(builder.getI8Type(), {-128, 127}, {-128, 127});
  checkRoundTrip<uint8_t>(getUnsigned(8), {0, 255}, {0, 255});
  checkRoundTrip<int16_t>(builder.getI16Type(), {-32768, 5}, {-32768, 5});
  checkRoundTrip<uint16_t>(getUnsigned(16), {65535, 5}, {65535, 5});
  checkRoundTrip<int32_t>(builder.getI32Type(), {-1, 65536}, {-1, 65536});
  checkRoundTrip<uint32_t>(getUnsigned(32), {0x80000000u, 1},
                           {2147483648.0f, 1});
  checkRoundTrip<int64_t>(builder.getI64Type(), {-1, int64_t(1) << 40},
                          {-1, 1099511627776.0f});
  checkRoundTrip<uint64_t>(getUnsigned(64), {uint64_t(1) << 63, 1},
                           {9223372036854775808.0f, 1});
  checkRoundTrip<uint8_t>(builder.getI1Type(), {1, 0, 1}, {1, 0, 1});
}

TEST_F(ConstantDataTest, SplatsAreStoredOnceAndReadInFull) {
  std::vector<float> values(1000, 2.5f);
  ElementsAttr attr = makeConstantAttr(
      getVectorType(1000, builder.getF32Type()), toBytes(values));
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  ASSERT_TRUE(dense);
  EXPECT_TRUE(dense.isSplat());
  EXPECT_EQ(dense.getRawData().size(), sizeof(float));
  EXPECT_EQ(getConstantBytes(attr), toBytes(values));
  EXPECT_EQ(getConstantFloats(attr), values);
}

TEST_F(ConstantDataTest, SplatsOfBools) {
  for (char value : {0, 1}) {
    std::vector<char> values(1000, value);
    ElementsAttr attr =
        makeConstantAttr(getVectorType(1000, builder.getI1Type()), values);
    EXPECT_TRUE(cast<DenseElementsAttr>(attr).isSplat());
    EXPECT_EQ(getConstantBytes(attr), values);
  }
}

TEST_F(ConstantDataTest, SingleElementsAndEmptyTensors) {
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  ElementsAttr one = makeConstantAttr(scalar, toBytes<float>({3.0f}));
  EXPECT_THAT(getConstantFloats(one), ElementsAre(3.0f));

  for (Type elementType :
       {Type(builder.getF32Type()), Type(builder.getI1Type())}) {
    auto empty = RankedTensorType::get({2, 0}, elementType);
    ElementsAttr nothing = makeConstantAttr(empty, std::vector<char>());
    ASSERT_TRUE(nothing);
    EXPECT_EQ(nothing.getShapedType(), empty);
    EXPECT_TRUE(getConstantBytes(nothing).empty());
    EXPECT_TRUE(getConstantFloats(nothing).empty());
  }
}

TEST_F(ConstantDataTest, BigConstantsKeepTheirBytesWhereTheyWere) {
  std::vector<char> bytes(4 << 20);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 31);
  std::vector<char> expected = bytes;
  const char *storage = bytes.data();
  ElementsAttr attr = makeConstantAttr(
      getVectorType(1 << 20, builder.getI32Type()), std::move(bytes));
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  ASSERT_TRUE(resource);
  EXPECT_EQ(resource.getData().data(), storage);
  EXPECT_EQ(getConstantBytes(attr), expected);
}

TEST_F(ConstantDataTest, StringsAreKept) {
  std::string bytes(4096, 'x');
  bytes.back() = 'y';
  std::vector<char> expected(bytes.begin(), bytes.end());
  ElementsAttr attr = makeConstantAttr(
      getVectorType(1024, builder.getI32Type()), std::move(bytes));
  EXPECT_EQ(getConstantBytes(attr), expected);
}

TEST_F(ConstantDataTest, StoredBytesAreThoseThatLieAsTheyAre) {
  std::vector<float> ramp(1000);
  std::iota(ramp.begin(), ramp.end(), 0.0f);
  for (size_t count : {2, 1000}) {
    std::vector<float> values(ramp.begin(), ramp.begin() + count);
    ElementsAttr attr = makeConstantAttr(
        getVectorType(count, builder.getF32Type()), toBytes(values));
    EXPECT_EQ(getStoredBytes(attr).vec(), toBytes(values));
  }
  ElementsAttr splat = makeConstantAttr(getVectorType(3, builder.getI8Type()),
                                        std::vector<char>{7, 7, 7});
  EXPECT_TRUE(getStoredBytes(splat).empty());
  ElementsAttr bools = makeConstantAttr(getVectorType(3, builder.getI1Type()),
                                        std::vector<char>{1, 0, 1});
  EXPECT_TRUE(getStoredBytes(bools).empty());
}

TEST_F(ConstantDataTest, QuantizedTypesAreStoredAsIntegers) {
  auto type = getVectorType(3, getQuantizedType());
  EXPECT_EQ(getElementBytes(type.getElementType()), 1);
  std::vector<char> bytes{-1, 0, 1};
  ElementsAttr attr = makeConstantAttr(type, bytes);
  EXPECT_EQ(attr.getShapedType(), getVectorType(3, builder.getI8Type()));

  Value value = createConstant(builder, location, type, bytes);
  EXPECT_EQ(value.getType(), type);
  EXPECT_EQ(getConstantValue(value), attr);
  EXPECT_EQ(getConstantBytes(getConstantValue(value)), bytes);
}

TEST_F(ConstantDataTest, LayoutsAreDropped) {
  auto type = RankedTensorType::get({1, 2, 1}, builder.getI8Type(),
                                    LayoutAttr::parseName(&context, "nhwc"));
  ElementsAttr attr = makeConstantAttr(type, std::vector<char>{1, 2});
  EXPECT_FALSE(cast<RankedTensorType>(attr.getShapedType()).getEncoding());
}

TEST_F(ConstantDataTest, FloatConstantsAreRoundedToTheirType) {
  Value half = createFloatConstant(builder, location,
                                   getVectorType(3, builder.getF16Type()),
                                   {1.0f, 2049.0f, 1e9f});
  EXPECT_THAT(
      getConstantFloats(getConstantValue(half)),
      ElementsAre(1.0f, 2048.0f, std::numeric_limits<float>::infinity()));
  Value single = createFloatConstant(
      builder, location, getVectorType(2, builder.getF32Type()), {1.0f, 0.1f});
  EXPECT_THAT(getConstantFloats(getConstantValue(single)),
              ElementsAre(1.0f, 0.1f));
}

TEST_F(ConstantDataTest, OnlyConstantsHaveAValue) {
  auto type = getVectorType(2, builder.getF32Type());
  EXPECT_FALSE(getConstantValue(makeValue(type)));
  Value constant = createFloatConstant(builder, location, type, {1.0f, -1.0f});
  Value relu = ReluOp::create(builder, location, constant);
  EXPECT_TRUE(getConstantValue(constant));
  EXPECT_FALSE(getConstantValue(relu));
}

TEST_F(ConstantDataTest, OtherAttributesHaveNoBytes) {
  auto vector = cast<ElementsAttr>(DenseElementsAttr::get(
      VectorType::get({2}, builder.getF32Type()), ArrayRef<float>{1.0f, 2.0f}));
  EXPECT_TRUE(getConstantBytes(vector).empty());
  EXPECT_TRUE(getConstantFloats(vector).empty());
}

/// All halves, so that every branch of the conversions is taken.
TEST_F(ConstantDataTest, HalvesSurviveTheWayThroughFloat) {
  std::vector<uint16_t> halves(1 << 16);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = i;
  auto type = getVectorType(halves.size(), builder.getF16Type());
  std::vector<float> floats =
      getConstantFloats(makeConstantAttr(type, toBytes(halves)));
  EXPECT_EQ(floats[0x3c00], 1.0f);
  Value back = createFloatConstant(builder, location, type, floats);
  std::vector<char> bytes = getConstantBytes(getConstantValue(back));
  for (size_t i = 0; i < halves.size(); ++i) {
    uint16_t actual;
    std::memcpy(&actual, bytes.data() + 2 * i, sizeof(actual));
    if (std::isnan(floats[i]))
      EXPECT_GT(actual & 0x7fff, 0x7c00) << i;
    else
      EXPECT_EQ(actual, halves[i]);
  }
}
