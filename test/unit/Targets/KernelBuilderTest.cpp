//===- KernelBuilderTest.cpp - Tests of all builder methods ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each method is compiled for several CPUs and run.
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"
#include "tarpon/Kernels/Common/SmallFloats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace tarpon;
using namespace tarpon::test;
using Value = KernelBuilder::Value;
using mlir::SmallVector;
using runtime::DType;

namespace {

class KernelBuilderTest : public testing::TestWithParam<const char *> {
protected:
  void run(std::function<void(KernelBuilder &)> emit,
           const std::vector<void *> &buffers,
           const std::vector<int64_t> &params = {}, int64_t begin = 0,
           int64_t end = 1) {
    runKernel(target, std::move(emit), buffers, params, begin, end);
  }

  TargetInfo target = getTarget(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Cpus, KernelBuilderTest,
                         testing::Values("native", "x86-64-v3", "x86-64-v2",
                                         "x86-64"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Scalars and control flow
//===----------------------------------------------------------------------===//

TEST_P(KernelBuilderTest, Integers) {
  std::vector<int64_t> out(16, -1);
  run(
      [](KernelBuilder &b) {
        Value x = b.getParam(0), y = b.getParam(1);
        int64_t slot = 0;
        auto store = [&](Value value) {
          b.store(value, b.offset(b.getBuffer(0), 8 * slot++));
        };
        for (Value value :
             {b.add(x, y), b.sub(x, y), b.mul(x, y), b.div(x, y), b.rem(x, y),
              b.ceilDiv(x, y), b.minS(x, y), b.maxS(x, y), b.add(x, 1),
              b.sub(x, 1), b.mul(x, 3), b.div(x, 2), b.rem(x, 4)})
          store(value);
        Value both = b.andI(b.slt(y, x), b.ult(y, x));
        store(b.select(b.orI(both, b.eq(x, y)), b.cst(1), b.cst(0)));
      },
      {out.data()}, {23, 5});
  EXPECT_EQ(out, (std::vector<int64_t>{28, 18, 115, 4, 3, 5, 5, 23, 24, 22, 69,
                                       11, 3, 1, -1, -1}));
}

TEST_P(KernelBuilderTest, Floats) {
  std::vector<float> out(7);
  run(
      [](KernelBuilder &b) {
        Value x = b.getFloatParam(0), y = b.getFloatParam(1);
        int64_t slot = 0;
        for (Value value :
             {b.addF(x, y), b.subF(x, y), b.mulF(x, y), b.divF(x, y),
              b.fma(x, y, b.cstF(0.25)), b.maxF(x, y), b.minF(x, y)})
          b.store(value, b.offset(b.getBuffer(0), 4 * slot++));
      },
      {out.data()}, {runtime::floatParam(3), runtime::floatParam(-2)});
  EXPECT_EQ(out, (std::vector<float>{1, 5, -6, -1.5, -5.75, 3, -2}));
}

TEST_P(KernelBuilderTest, MaxAndMinGiveTheSecondOperandOnNaN) {
  std::vector<float> out(4);
  run(
      [](KernelBuilder &b) {
        Value nan = b.getFloatParam(0), one = b.cstF(1);
        int64_t slot = 0;
        for (Value value : {b.maxF(nan, one), b.maxF(one, nan),
                            b.minF(nan, one), b.minF(one, nan)})
          b.store(value, b.offset(b.getBuffer(0), 4 * slot++));
      },
      {out.data()}, {runtime::floatParam(kNaN)});
  EXPECT_EQ(out[0], 1);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], 1);
  EXPECT_TRUE(std::isnan(out[3]));
}

TEST_P(KernelBuilderTest, LoopsAndBranches) {
  std::vector<int64_t> out(12, 0);
  run(
      [](KernelBuilder &b) {
        Value buffer = b.getBuffer(0);
        b.forTasks([&](Value task) {
          Value slot = b.offset(buffer, b.mul(task, 8));
          // The sum of the even numbers below the task's.
          auto sum = b.forLoop(
              b.cst(0), task, b.cst(1), b.cst(0),
              [&](Value i, mlir::ValueRange carried) {
                Value isEven = b.eq(b.rem(i, 2), b.cst(0));
                return b.ifThenElse(
                    isEven, b.i64(),
                    [&] { return SmallVector<Value>{b.add(carried[0], i)}; },
                    [&] { return SmallVector<Value>{carried[0]}; });
              });
          b.store(sum[0], slot);
          b.ifThen(b.eq(task, b.cst(4)), [&] { b.store(b.cst(-4), slot); });
          b.ifThenElse(
              b.eq(task, b.cst(5)), [&] { b.store(b.cst(-5), slot); }, [] {});
        });
        b.forLoop(b.cst(2), [&](Value i) {
          b.store(b.cst(7), b.offset(buffer, b.mul(b.add(i, 8), 8)));
        });
        b.forLoop(b.cst(10), b.cst(12), b.cst(1), [&](Value i) {
          b.store(b.getBegin(), b.getScratch());
          Value begin = b.load(b.getScratch(), b.i64());
          b.store(b.add(begin, b.getEnd()), b.offset(buffer, b.mul(i, 8)));
        });
      },
      {out.data()}, {}, 2, 7);
  EXPECT_EQ(out, (std::vector<int64_t>{0, 0, 0, 2, -4, -5, 6, 0, 7, 7, 9, 9}));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

TEST_P(KernelBuilderTest, MasksLeaveOtherLanesAlone) {
  int64_t lanes = target.lanes();
  for (int64_t count :
       {int64_t(-1), int64_t(0), int64_t(1), lanes - 1, lanes, lanes + 5}) {
    std::vector<float> in(lanes, 3), out(2 * lanes, -1), expected(out);
    int64_t on = std::clamp<int64_t>(count, 0, lanes);
    for (int64_t i = 0; i < lanes; ++i) {
      expected[i] = i < on ? 3 : -1;
      expected[lanes + i] = i < on ? 3 : 0;
    }
    run(
        [](KernelBuilder &b) {
          Value mask = b.firstLanes(b.getParam(0), b.lanes());
          Value read =
              b.maskedLoad(b.getBuffer(0), mask, b.vec(b.f32(), b.lanes()));
          b.maskedStore(read, b.getBuffer(1), mask);
          b.store(read, b.offset(b.getBuffer(1), b.lanes() * 4));
        },
        {in.data(), out.data()}, {count});
    EXPECT_EQ(out, expected) << count;
  }
}

TEST_P(KernelBuilderTest, Transpose) {
  int64_t n = target.lanes();
  std::vector<float> in(n * n), out(n * n);
  std::iota(in.begin(), in.end(), 0);
  run(
      [n](KernelBuilder &b) {
        SmallVector<Value> rows;
        for (int64_t i = 0; i < n; ++i)
          rows.push_back(
              b.load(b.offset(b.getBuffer(0), i * n * 4), b.vec(b.f32(), n)));
        SmallVector<Value> columns = b.transpose(rows);
        for (int64_t i = 0; i < n; ++i)
          b.store(columns[i], b.offset(b.getBuffer(1), i * n * 4));
      },
      {in.data(), out.data()});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      EXPECT_EQ(out[i * n + j], in[j * n + i]);
}

TEST_P(KernelBuilderTest, BroadcastShuffleBitcastReduce) {
  int64_t n = target.lanes();
  std::vector<float> in(n), out(n + 2);
  std::iota(in.begin(), in.end(), 1);
  run(
      [n](KernelBuilder &b) {
        Value read = b.load(b.getBuffer(0), b.vec(b.f32(), n));
        Value two = b.broadcast(b.cstF(2), n);
        SmallVector<int64_t> reversed;
        for (int64_t i = 0; i < n; ++i)
          reversed.push_back(n - 1 - i);
        Value turned = b.shuffle(read, read, reversed);
        // Through integers and back.
        Value bits = b.bitcast(turned, b.vec(b.getI32Type(), n));
        Value same = b.bitcast(b.add(bits, b.cstLike(bits.getType(), 0)),
                               read.getType());
        b.store(b.mulF(same, two), b.getBuffer(1));
        b.store(b.reduceAdd(read), b.offset(b.getBuffer(1), n * 4));
        b.store(b.reduceMax(turned), b.offset(b.getBuffer(1), n * 4 + 4));
      },
      {in.data(), out.data()});
  for (int64_t i = 0; i < n; ++i)
    EXPECT_EQ(out[i], 2 * static_cast<float>(n - i));
  int64_t sum = n * (n + 1) / 2;
  EXPECT_EQ(out[n], static_cast<float>(sum));
  EXPECT_EQ(out[n + 1], static_cast<float>(n));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Loads `count` elements as scalars or vectors and stores them as `to`.
void emitConversion(KernelBuilder &b, DType from, DType to, int64_t lanes,
                    bool masked) {
  int64_t fromBytes = runtime::dtypeBytes(from);
  int64_t toBytes = runtime::dtypeBytes(to);
  b.forLoop(b.cst(0), b.getParam(0), b.cst(lanes), [&](Value i) {
    Value mask;
    if (masked)
      mask = b.firstLanes(b.sub(b.getParam(0), i), lanes);
    Value source = b.offset(b.getBuffer(0), b.mul(i, fromBytes));
    Value destination = b.offset(b.getBuffer(1), b.mul(i, toBytes));
    b.storeConverted(to, b.loadConverted(from, source, lanes, mask),
                     destination, mask);
  });
}

/// Numbers that are hard to round: ties, carries, subnormals, limits, NaN.
std::vector<float> hardNumbers() {
  std::vector<float> numbers = {
      0.0f,         -0.0f,        1.0f,      -1.0f,      kNaN,       kInfinity,
      -kInfinity,   0.5f,         1.5f,      2.5f,       -0.5f,      -1.5f,
      126.5f,       127.5f,       128.5f,    -127.5f,    -128.5f,    -129,
      254.5f,       255.5f,       1e9f,      -1e9f,      32766.5f,   32768,
      65534.5f,     65503.99f,    65504.f,   65519.996f, 65520.f,    65536.f,
      0x1p-14f,     0x1p-15f,     0x1p-24f,  0x1p-25f,   0x1.8p-25f, 0x1p-26f,
      0x1.ffcp-15f, 0x1.ffep-15f, 0x1p-126f, 0x1p-149f,  3.4e38f,    1e-40f};
  // Every pattern of the bits around the places where f16 and bf16 round.
  for (uint32_t low = 0; low < 0x40000; low += 0xfff)
    for (uint32_t exponent : {96u, 103u, 112u, 113u, 127u, 142u})
      for (uint32_t sign : {0u, 1u})
        numbers.push_back(
            std::bit_cast<float>(sign << 31 | exponent << 23 | low));
  // Whole vectors of every width, and a NaN with a payload.
  numbers.push_back(std::bit_cast<float>(0xffc12345u));
  while (numbers.size() % 16 != 0)
    numbers.push_back(7);
  return numbers;
}

std::vector<DType> getComputedInF32() {
  std::vector<DType> dtypes;
  for (DType dtype : runtime::kDTypes)
    if (runtime::dtypeBytes(dtype) <= (runtime::isFloat(dtype) ? 4 : 2) &&
        dtype != DType::Bool)
      dtypes.push_back(dtype);
  return dtypes;
}

/// The formats whose elements take a byte.
std::vector<runtime::FloatFormat> getByteFormats() {
  std::vector<runtime::FloatFormat> formats;
  for (DType dtype : runtime::kDTypes)
    if (auto format = runtime::getFloatFormat(dtype);
        format && format->bytes() == 1)
      formats.push_back(*format);
  return formats;
}

TEST_P(KernelBuilderTest, FloatsOf8BitsAreRoundedExactly) {
  std::vector<float> in = hardNumbers();
  for (float value : hardNumbers())
    in.push_back(std::ldexp(value, -10));
  int64_t count = static_cast<int64_t>(in.size()), lanes = target.lanes();
  for (const runtime::FloatFormat &format : getByteFormats()) {
    std::vector<uint8_t> out(count);
    run(
        [&](KernelBuilder &b) {
          b.forLoop(b.cst(0), b.cst(count), b.cst(lanes), [&](Value i) {
            Value source = b.offset(b.getBuffer(0), b.mul(i, 4));
            Value value = b.load(source, b.vec(b.f32(), lanes));
            b.store(emitEncodeFloat(b, format, value),
                    b.offset(b.getBuffer(1), i));
          });
        },
        {in.data(), out.data()});
    for (int64_t i = 0; i < count; ++i) {
      if (std::isnan(in[i]) && format.hasNaN())
        EXPECT_TRUE(std::isnan(runtime::decodeFloat(format, out[i])));
      else
        EXPECT_EQ(out[i], runtime::encodeFloat(format, in[i])) << in[i];
    }
  }
}

TEST_P(KernelBuilderTest, FloatsOf8BitsAreReadExactly) {
  std::vector<uint8_t> in(256);
  std::iota(in.begin(), in.end(), 0);
  int64_t lanes = target.lanes();
  for (const runtime::FloatFormat &format : getByteFormats()) {
    std::vector<float> out(256);
    run(
        [&](KernelBuilder &b) {
          b.forLoop(b.cst(0), b.cst(256), b.cst(lanes), [&](Value i) {
            Value source = b.offset(b.getBuffer(0), i);
            Value stored = b.load(source, b.vec(b.getI8Type(), lanes));
            b.store(emitDecodeFloat(b, format, stored),
                    b.offset(b.getBuffer(1), b.mul(i, 4)));
          });
        },
        {in.data(), out.data()});
    for (int bits = 0; bits < 256; ++bits) {
      float expected = runtime::decodeFloat(format, bits);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(out[bits])) << bits;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(out[bits]),
                  std::bit_cast<uint32_t>(expected));
    }
  }
}

TEST_P(KernelBuilderTest, StoresRoundExactly) {
  std::vector<float> in = hardNumbers();
  int64_t count = static_cast<int64_t>(in.size());
  for (DType to : getComputedInF32()) {
    int64_t size = runtime::dtypeBytes(to);
    for (auto [lanes, masked] : {std::pair<int64_t, bool>{1, false},
                                 {target.lanes(), false},
                                 {target.lanes(), true}}) {
      std::vector<char> out(count * size, 0x55);
      run(
          [=, lanes = lanes, masked = masked](KernelBuilder &b) {
            emitConversion(b, DType::F32, to, lanes, masked);
          },
          {in.data(), out.data()}, {count});
      for (int64_t i = 0; i < count; ++i) {
        char expected[8];
        runtime::storeFromFloat(to, in[i], expected);
        float actual = runtime::loadAsFloat(to, &out[i * size]);
        auto format = runtime::getFloatFormat(to);
        if (std::isnan(in[i]) && format && format->hasNaN())
          EXPECT_TRUE(std::isnan(actual)) << runtime::dtypeName(to);
        else
          EXPECT_EQ(std::memcmp(expected, &out[i * size], size), 0)
              << runtime::dtypeName(to) << " of " << in[i] << " is " << actual
              << ", expected " << runtime::loadAsFloat(to, expected)
              << ", lanes " << lanes;
      }
    }
  }
}

TEST_P(KernelBuilderTest, LoadsAreExact) {
  // Every bit pattern of the 16-bit dtypes, and as many bytes.
  std::vector<uint16_t> in(1 << 16);
  std::iota(in.begin(), in.end(), 0);
  int64_t count = static_cast<int64_t>(in.size());
  for (DType from : getComputedInF32()) {
    if (runtime::dtypeBytes(from) > 2)
      continue;
    for (int64_t lanes : {int64_t(1), target.lanes()}) {
      std::vector<float> out(count);
      run(
          [=](KernelBuilder &b) {
            emitConversion(b, from, DType::F32, lanes, lanes > 1);
          },
          {in.data(), out.data()}, {count});
      const char *bytes = reinterpret_cast<const char *>(in.data());
      int64_t wrong = 0;
      for (int64_t i = 0; i < count; ++i) {
        float expected =
            runtime::loadAsFloat(from, bytes + i * runtime::dtypeBytes(from));
        bool same = std::isnan(expected) ? std::isnan(out[i])
                                         : std::bit_cast<uint32_t>(expected) ==
                                               std::bit_cast<uint32_t>(out[i]);
        wrong += !same;
      }
      EXPECT_EQ(wrong, 0) << runtime::dtypeName(from) << " lanes " << lanes;
    }
  }
}

template <typename T>
void expectCopy(const TargetInfo &target, DType dtype, std::vector<T> in) {
  for (int64_t lanes : {int64_t(1), target.lanes()}) {
    std::vector<T> out(in.size());
    runKernel(target,
              [=](KernelBuilder &b) {
                emitConversion(b, dtype, dtype, lanes, lanes > 1);
              },
              {in.data(), out.data()}, {static_cast<int64_t>(in.size())});
    EXPECT_EQ(in, out) << runtime::dtypeName(dtype) << " lanes " << lanes;
  }
}

TEST_P(KernelBuilderTest, WideTypesPassThrough) {
  constexpr int64_t kBig = (int64_t(1) << 62) + 12345;
  expectCopy<double>(target, DType::F64, {0.1, -1e300, 1e-320});
  expectCopy<int64_t>(target, DType::I64, {0, kBig, -kBig});
  expectCopy<uint64_t>(target, DType::U64, {0, ~uint64_t(0), 5});
  expectCopy<int32_t>(target, DType::I32, {0, INT32_MIN, INT32_MAX});
  expectCopy<uint32_t>(target, DType::U32, {0, UINT32_MAX, 17});
  expectCopy<uint8_t>(target, DType::Bool, {0, 1, 1, 0, 1});
}

} // namespace
