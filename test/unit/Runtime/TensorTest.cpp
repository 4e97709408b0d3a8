//===- TensorTest.cpp - Tests of host tensors -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Tensor.h"
#include "TestPackages.h"
#include "tarpon/Runtime/AlignedBuffer.h"

#include <cmath>
#include <limits>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static HostTensor makeFloats(const std::vector<float> &values) {
  HostTensor tensor =
      makeTensor(DType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), floatsOf(tensor));
  return tensor;
}

static TensorComparison compare(const std::vector<float> &actual,
                                const std::vector<float> &expected) {
  Result<TensorComparison> result =
      compareTensors(makeFloats(actual), makeFloats(expected));
  EXPECT_TRUE(result) << result.message();
  return *result;
}

TEST(AlignedBufferTest, IsAlignedPaddedAndZeroed) {
  for (int64_t bytes :
       {int64_t(0), int64_t(1), int64_t(1000), int64_t(5) << 20}) {
    Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer) << buffer.message();
    EXPECT_EQ(buffer->size(), bytes);
    auto address = reinterpret_cast<uintptr_t>(buffer->data());
    EXPECT_EQ(address % kBufferAlignment, 0u);
    for (int64_t i = 0; i < bytes + kBufferTailPadding; ++i)
      ASSERT_EQ(buffer->data()[i], 0);
    buffer->fill(0xff);
    EXPECT_EQ(buffer->data()[bytes + kBufferTailPadding - 1], '\xff');
    AlignedBuffer moved = std::move(*buffer);
    EXPECT_EQ(buffer->data(), nullptr);
    EXPECT_EQ(moved.size(), bytes);
  }
}

TEST(AlignedBufferTest, SaysThatThereIsNoMemory) {
  for (int64_t bytes : {int64_t(-1), int64_t(1) << 47, INT64_MAX}) {
    Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.message(),
              "cannot allocate " + std::to_string(bytes) + " bytes of memory");
  }
}

TEST(TensorTest, RefusesImpossibleShapes) {
  Result<HostTensor> tensor = HostTensor::create(DType::F32, {2, -3});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.message(), "a tensor of shape 2x-3 cannot be allocated");
}

TEST(TensorTest, PrintsShapes) {
  EXPECT_EQ(shapeToString({}), "scalar");
  EXPECT_EQ(shapeToString({1, 3, 224, 224}), "1x3x224x224");
}

TEST(TensorTest, ClonesAreSeparate) {
  HostTensor tensor = makeFloats({1, 2, 3});
  Result<HostTensor> copy = tensor.clone();
  ASSERT_TRUE(copy);
  floatsOf(tensor)[1] = 9;
  EXPECT_EQ(floatsOf(*copy)[1], 2);
  EXPECT_EQ(copy->numElements(), 3);
}

//===----------------------------------------------------------------------===//
// Random tensors
//===----------------------------------------------------------------------===//

/// The numbers are part of the tuning records' meaning: they never change.
TEST(TensorTest, RandomNumbersAreTheSameEverywhere) {
  HostTensor floats = makeTensor(DType::F32, {4});
  fillRandom(floats, 0);
  // SplitMix64 from seed 0 begins with e220a8397b1dcdaf.
  EXPECT_EQ(floatsOf(floats)[0],
            static_cast<float>(0xe220 + 0xa839 + 0x7b1d + 0xcdaf - 2 * 0xffff) /
                131072.0f);
  HostTensor bytes = makeTensor(DType::U8, {2});
  fillRandom(bytes, 0);
  EXPECT_EQ(static_cast<uint8_t>(bytes.data.data()[0]), 0xaf);
}

/// Several threads work on a large tensor; who works on what changes nothing.
TEST(TensorTest, LargeTensorsAreWorkedOnInParts) {
  constexpr int64_t kCount = 1'000'003;
  HostTensor tensor = makeTensor(DType::I64, {kCount});
  fillRandom(tensor, 9);
  auto *values = reinterpret_cast<uint64_t *>(tensor.data.data());
  uint64_t state = 9;
  for (int64_t i = 0; i < kCount; ++i) {
    uint64_t bits = state += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    ASSERT_EQ(values[i], bits ^ (bits >> 31)) << i;
  }
  std::vector<float> expected(kCount, 2), actual = expected;
  actual[100] = 3;
  actual[900'000] = -1;
  actual[kCount - 1] = 4;
  TensorComparison comparison = compare(actual, expected);
  EXPECT_EQ(comparison.maxAbsError, 3);
  EXPECT_EQ(comparison.worstIndex, 900'000);
  EXPECT_EQ(comparison.referenceScale, 2);
  EXPECT_DOUBLE_EQ(comparison.relativeL2,
                   std::sqrt(14.0) / std::sqrt(4.0 * kCount));
}

TEST(TensorTest, RandomFloatsAreBellShaped) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    HostTensor tensor = makeTensor(dtype, {100000});
    fillRandom(tensor, 42);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 100000; ++i) {
      double value =
          loadAsDouble(dtype, tensor.data.data() + i * dtypeBytes(dtype));
      ASSERT_LE(std::abs(value), 1.0);
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 100000, 0, 0.01);
    EXPECT_NEAR(std::sqrt(squares / 100000), 0.2887, 0.01);
  }
}

TEST(TensorTest, RandomIntegersHaveTheirFullRange) {
  HostTensor tensor = makeTensor(DType::I8, {100000});
  fillRandom(tensor, 7);
  std::vector<int> counts(256);
  for (int64_t i = 0; i < 100000; ++i)
    ++counts[static_cast<uint8_t>(tensor.data.data()[i])];
  for (int count : counts)
    EXPECT_GT(count, 200);
  HostTensor truths = makeTensor(DType::Bool, {1000});
  fillRandom(truths, 7);
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_LE(static_cast<uint8_t>(truths.data.data()[i]), 1);
}

TEST(TensorTest, InputsHaveSeedsOfTheirOwn) {
  Package package;
  package.inputs = {{"a", DType::F32, {8}}, {"b", DType::F32, {8}}};
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(package, 5);
  Result<std::vector<HostTensor>> again = makeRandomInputs(package, 5);
  ASSERT_TRUE(inputs && again);
  EXPECT_EQ(compareTensors((*inputs)[0], (*again)[0])->maxAbsError, 0);
  EXPECT_GT(compareTensors((*inputs)[0], (*inputs)[1])->maxAbsError, 0);
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

/// Cuts a tensor of shape 2x3 that holds 0 to 5 to `size` columns.
static Result<std::vector<HostTensor>> cutColumns(int64_t size) {
  Package package;
  package.outputs = {{"y", DType::F32, {2, 3}}, {"y.size", DType::I64, {1}}};
  package.outputs[0].sizeDim = 1;
  package.outputs[0].sizeOutput = 1;
  std::vector<HostTensor> outputs;
  outputs.push_back(makeFloats({0, 1, 2, 3, 4, 5}));
  outputs.front().shape = {2, 3};
  outputs.push_back(makeTensor(DType::I64, {1}));
  std::memcpy(outputs.back().data.data(), &size, sizeof(size));
  return takeRealSizes(package, std::move(outputs));
}

TEST(TensorTest, OutputsAreCutToTheirRealSizes) {
  Result<std::vector<HostTensor>> some = cutColumns(2);
  ASSERT_TRUE(some) << some.message();
  // The size itself is no result.
  ASSERT_EQ(some->size(), 1u);
  EXPECT_EQ(some->front().shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(
      std::vector<float>(floatsOf(some->front()), floatsOf(some->front()) + 4),
      (std::vector<float>{0, 1, 3, 4}));
  Result<std::vector<HostTensor>> none = cutColumns(0);
  ASSERT_TRUE(none) << none.message();
  EXPECT_EQ(none->front().shape, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(cutColumns(4).message(),
            "output 'y' has 4 places, expected at most 3");
  EXPECT_FALSE(cutColumns(-1));
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

TEST(TensorTest, ComparesInBothMetrics) {
  TensorComparison result = compare({3, 4, 1}, {3, -4, 0});
  EXPECT_EQ(result.maxAbsError, 8);
  EXPECT_EQ(result.worstIndex, 1);
  EXPECT_EQ(result.referenceScale, 4);
  EXPECT_DOUBLE_EQ(result.relativeL2, std::sqrt(65.0) / 5);
}

TEST(TensorTest, EqualTensorsHaveNoError) {
  TensorComparison result = compare({0, 0}, {0, -0.0f});
  EXPECT_EQ(result.maxAbsError, 0);
  EXPECT_EQ(result.relativeL2, 0);
  EXPECT_EQ(result.worstIndex, -1);
  EXPECT_EQ(compare({}, {}).maxAbsError, 0);
}

TEST(TensorTest, AnythingAgainstZeroIsInfinitelyFar) {
  EXPECT_EQ(compare({1e-9f}, {0}).relativeL2, kInfinity);
}

TEST(TensorTest, NaNIsAnInfiniteError) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto &[actual, expected] :
       {std::pair(nan, 1.0f), std::pair(1.0f, nan), std::pair(nan, nan)}) {
    TensorComparison result = compare({5, actual}, {4, expected});
    EXPECT_EQ(result.maxAbsError, kInfinity);
    EXPECT_EQ(result.relativeL2, kInfinity);
    EXPECT_EQ(result.worstIndex, 1);
  }
}

TEST(TensorTest, InfinitiesMustMatch) {
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare({infinity, 1}, {infinity, 1}).relativeL2, 0);
  EXPECT_EQ(compare({infinity, 1}, {-infinity, 1}).maxAbsError, kInfinity);
  TensorComparison result = compare({infinity, 1}, {2, 1});
  EXPECT_EQ(result.maxAbsError, kInfinity);
  EXPECT_EQ(result.referenceScale, 2);
}

TEST(TensorTest, ComparesAcrossDtypesAndSubtractsTheZeroPoint) {
  HostTensor actual = makeTensor(DType::U8, {2});
  HostTensor expected = makeTensor(DType::F32, {2});
  actual.data.data()[0] = char(131);
  actual.data.data()[1] = char(128);
  floatsOf(expected)[0] = 132;
  floatsOf(expected)[1] = 128;
  Result<TensorComparison> result = compareTensors(actual, expected, 128);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->maxAbsError, 1);
  EXPECT_EQ(result->referenceScale, 4);
  EXPECT_EQ(result->relativeL2, 0.25);
}

TEST(TensorTest, RefusesToCompareDifferentShapes) {
  Result<TensorComparison> result =
      compareTensors(makeFloats({1, 2}), makeFloats({1}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.message(),
            "cannot compare a tensor of shape 2 with one of shape 1");
}

TEST(TensorTest, MergesToTheWorst) {
  TensorComparison total = {1, 0.5, 7, 3};
  mergeComparison(total, {2, 0.25, 9, 1});
  EXPECT_EQ(total.maxAbsError, 2);
  EXPECT_EQ(total.relativeL2, 0.5);
  EXPECT_EQ(total.worstIndex, 9);
  EXPECT_EQ(total.referenceScale, 3);
}
