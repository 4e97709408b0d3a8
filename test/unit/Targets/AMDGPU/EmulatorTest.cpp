//===- EmulatorTest.cpp - Kernels that are right --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestEmulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <numeric>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// "RESULT = &BASE[INDEX]", in elements of `type`.
std::string gep(const std::string &result, const std::string &base,
                const std::string &index, const std::string &type,
                int space = 1) {
  std::string pointer = "!llvm.ptr<" + std::to_string(space) + ">";
  return result + " = llvm.getelementptr " + base + "[" + index + "] : (" +
         pointer + ", i32) -> " + pointer + ", " + type + "\n";
}

/// Stores `values`, one i32 per name, as out[count * tid + n].
std::string storeAll(const std::vector<std::string> &values) {
  std::string text = "%n = arith.constant " + std::to_string(values.size()) +
                     " : i32\n%first = arith.muli %tid, %n : i32\n" +
                     gep("%p0", "%out", "%first", "i32");
  for (size_t i = 0; i < values.size(); ++i) {
    std::string place = "%q" + std::to_string(i);
    text += place + " = llvm.getelementptr %p0[" + std::to_string(i) +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\nllvm.store " + values[i] +
            ", " + place + " : i32, !llvm.ptr<1>\n";
  }
  return text;
}

/// Runs a body on one block and returns out[], of `perThread` i32 per thread.
std::vector<int32_t> runInts(const std::string &body,
                             const std::vector<std::string> &values,
                             int64_t block = 4,
                             const EmulatorOptions &options = {}) {
  std::vector<int32_t> out(block * values.size(), -77);
  auto result = emulateBody("%out: !llvm.ptr<1>", body + storeAll(values), 1,
                            block, {makeBuffer(out)}, options);
  EXPECT_TRUE(result) << getMessage(result);
  return out;
}

} // namespace

TEST(EmulatorTest, VectorAdd) {
  std::vector<float> x(1000), y(1000), z(1000, -1);
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(y.begin(), y.end(), 0.5f);
  std::string body = R"(
    %c256 = arith.constant 256 : i32
    %begin = arith.muli %bid, %c256 : i32
    %i = arith.addi %begin, %tid : i32
    %in = arith.cmpi slt, %i, %n : i32
    scf.if %in {
      )" + gep("%px", "%x", "%i", "f32") +
                     gep("%py", "%y", "%i", "f32") +
                     gep("%pz", "%z", "%i", "f32") + R"(
      %vx = llvm.load %px : !llvm.ptr<1> -> f32
      %vy = llvm.load %py : !llvm.ptr<1> -> f32
      %sum = arith.addf %vx, %vy : f32
      llvm.store %sum, %pz : f32, !llvm.ptr<1>
    })";
  auto result = emulateBody(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>, %n: i32", body, 4,
      256, {makeBuffer(x), makeBuffer(y), makeBuffer(z), int32_t(1000)});
  ASSERT_TRUE(result) << result.message();
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(z[i], 2 * i + 0.5f);
  EXPECT_EQ(result->workgroups, 4u);
  EXPECT_EQ(result->waves, 16u);
}

/// A tree in LDS with a barrier per level; every seed gives the same.
TEST(EmulatorTest, ReductionInLds) {
  std::vector<float> x(256), sum(1);
  std::iota(x.begin(), x.end(), 1.0f);
  std::string body = gep("%px", "%x", "%tid", "f32") +
                     gep("%pl", "%lds", "%tid", "f32", 3) + R"(
    %v = llvm.load %px : !llvm.ptr<1> -> f32
    llvm.store %v, %pl : f32, !llvm.ptr<3>
    gpu.barrier
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %last = scf.while (%half = %c128) : (i32) -> i32 {
      %more = arith.cmpi sgt, %half, %c0 : i32
      scf.condition(%more) %half : i32
    } do {
    ^bb0(%h: i32):
      %active = arith.cmpi slt, %tid, %h : i32
      scf.if %active {
        %other = arith.addi %tid, %h : i32
        )" + gep("%po", "%lds", "%other", "f32", 3) +
                     R"(
        %a = llvm.load %pl : !llvm.ptr<3> -> f32
        %b = llvm.load %po : !llvm.ptr<3> -> f32
        %s = arith.addf %a, %b : f32
        llvm.store %s, %pl : f32, !llvm.ptr<3>
      }
      amdgpu.lds_barrier
      %next = arith.shrui %h, %c1 : i32
      scf.yield %next : i32
    }
    %isFirst = arith.cmpi eq, %tid, %c0 : i32
    scf.if %isFirst {
      %total = llvm.load %lds : !llvm.ptr<3> -> f32
      llvm.store %total, %sum : f32, !llvm.ptr<1>
    })";
  for (unsigned waveSize : {64, 32})
    for (uint64_t seed : {0, 1, 2, 3}) {
      EmulatorOptions options;
      options.waveSize = waveSize;
      options.seed = seed;
      sum[0] = 0;
      auto result = emulateBody("%x: !llvm.ptr<1>, %sum: !llvm.ptr<1>", body, 1,
                                256, {makeBuffer(x), makeBuffer(sum)}, options);
      ASSERT_TRUE(result) << result.message();
      EXPECT_EQ(sum[0], 256 * 257 / 2);
      EXPECT_EQ(result->barriers, 9u);
    }
}

TEST(EmulatorTest, ShuffleButterfly) {
  std::string body = "%w = arith.constant 64 : i32\n%v0 = arith.addi %tid, "
                     "%tid : i32\n";
  for (int i = 0; i < 6; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%o" + n + " = arith.constant " + std::to_string(1 << i) +
            " : i32\n%s" + n + ", %ok" + n + " = gpu.shuffle xor %v" + n +
            ", %o" + n + ", %w : i32\n%v" + next + " = arith.addi %v" + n +
            ", %s" + n + " : i32\n";
  }
  EXPECT_EQ(runInts(body, {"%v6"}, 64), std::vector<int32_t>(64, 63 * 64));
}

TEST(EmulatorTest, ShuffleModes) {
  std::string body = R"(
    %w = arith.constant 8 : i32
    %c3 = arith.constant 3 : i32
    %up, %okUp = gpu.shuffle up %tid, %c3, %w : i32
    %down, %okDown = gpu.shuffle down %tid, %c3, %w : i32
    %idx, %okIdx = gpu.shuffle idx %tid, %c3, %w : i32
    %isUp = arith.extui %okUp : i1 to i32
    %lead = rocdl.readfirstlane %tid : i32
    %c5 = arith.constant 5 : i32
    %fifth = rocdl.readlane %tid, %c5 : (i32, i32) -> i32
    %any = gpu.subgroup_broadcast %tid, specific_lane %c5 : i32
    %lane = gpu.lane_id
    %laneInt = arith.index_cast %lane : index to i32
  )";
  std::vector<int32_t> out = runInts(
      body,
      {"%up", "%down", "%idx", "%isUp", "%lead", "%fifth", "%any", "%laneInt"},
      128);
  for (int thread = 0; thread < 128; ++thread) {
    int in8 = thread % 8, wave = thread / 64 * 64;
    std::vector<int32_t> expected = {in8 >= 3 ? thread - 3 : thread,
                                     in8 < 5 ? thread + 3 : thread,
                                     wave + 3,
                                     in8 >= 3,
                                     wave,
                                     wave + 5,
                                     wave + 5,
                                     thread % 64};
    EXPECT_EQ(std::vector<int32_t>(out.begin() + thread * 8,
                                   out.begin() + thread * 8 + 8),
              expected)
        << thread;
  }
}

/// Lanes leave loops at different times, with their own values, and swap them.
TEST(EmulatorTest, DivergentLoops) {
  std::vector<int32_t> out = runInts(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %a, %b = scf.for %i = %c0 to %tid step %c1
        iter_args(%x = %c0, %y = %c1) -> (i32, i32) : i32 {
      %inner = scf.for %j = %c0 to %i step %c1 iter_args(%s = %y) -> i32 : i32 {
        %t = arith.addi %s, %c1 : i32
        scf.yield %t : i32
      }
      scf.yield %inner, %x : i32, i32
    }
    %steps, %odd = scf.while (%v = %tid, %k = %c0) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %v, %c1 : i32
      scf.condition(%more) %k, %v : i32, i32
    } do {
    ^bb0(%k: i32, %v: i32):
      %bit = arith.andi %v, %c1 : i32
      %isOdd = arith.cmpi eq, %bit, %c1 : i32
      %next = scf.if %isOdd -> i32 {
        %m = arith.muli %v, %c3 : i32
        %p = arith.addi %m, %c1 : i32
        scf.yield %p : i32
      } else {
        %h = arith.divui %v, %c2 : i32
        scf.yield %h : i32
      }
      %k1 = arith.addi %k, %c1 : i32
      scf.yield %next, %k1 : i32, i32
    }
  )",
                                     {"%a", "%b", "%steps"}, 100);
  for (int thread = 0; thread < 100; ++thread) {
    int x = 0, y = 1;
    for (int i = 0; i < thread; ++i) {
      int inner = y + i;
      y = x;
      x = inner;
    }
    int steps = 0;
    for (int v = thread; v > 1; ++steps)
      v = v % 2 ? 3 * v + 1 : v / 2;
    EXPECT_EQ(out[thread * 3], x) << thread;
    EXPECT_EQ(out[thread * 3 + 1], y) << thread;
    EXPECT_EQ(out[thread * 3 + 2], steps) << thread;
  }
}

TEST(EmulatorTest, Atomics) {
  std::vector<int32_t> counter(2);
  std::vector<float> sum(1);
  std::string body = R"(
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %old = llvm.atomicrmw add %counter, %c1 syncscope("agent") monotonic : !llvm.ptr<1>, i32
    %largest = llvm.getelementptr %counter[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %o = llvm.atomicrmw max %largest, %tid syncscope("agent") monotonic : !llvm.ptr<1>, i32
    %f = llvm.atomicrmw fadd %sum, %one syncscope("agent") monotonic : !llvm.ptr<1>, f32
  )";
  auto result = emulateBody("%counter: !llvm.ptr<1>, %sum: !llvm.ptr<1>", body,
                            3, 100, {makeBuffer(counter), makeBuffer(sum)});
  ASSERT_TRUE(result) << result.message();
  EXPECT_EQ(counter, (std::vector<int32_t>{300, 99}));
  EXPECT_EQ(sum[0], 300);
}

/// Beyond num_records reads are zero and writes are dropped, dword by dword.
TEST(EmulatorTest, RawBuffers) {
  std::vector<int32_t> in(64), out(64, -1);
  std::iota(in.begin(), in.end(), 1);
  std::string body = R"(
    %s = arith.constant 0 : i16
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %bytes = arith.constant 24 : i64
    %i = rocdl.make.buffer.rsrc %in, %s, %bytes, %c0 : <1> to <8>
    %o = rocdl.make.buffer.rsrc %out, %s, %bytes, %c0 : <1> to <8>
    %at = arith.muli %tid, %c16 : i32
    %v = rocdl.raw.ptr.buffer.load %i, %at, %c0, %c0 : vector<4xi32>
    rocdl.raw.ptr.buffer.store %v, %o, %at, %c0, %c0 : vector<4xi32>
    %p = llvm.getelementptr %out[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %q = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    llvm.store %v, %q : vector<4xi32>, !llvm.ptr<1>
    %negative = arith.constant -4 : i32
    %zero = rocdl.raw.ptr.buffer.load %i, %negative, %c0, %c0 : i8
  )";
  auto result = emulateBody("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", body, 1, 4,
                            {makeBuffer(in), makeBuffer(out)});
  ASSERT_TRUE(result) << result.message();
  std::vector<int32_t> expected(64, -1);
  std::iota(expected.begin(), expected.begin() + 6, 1);
  std::fill(expected.begin() + 32, expected.begin() + 48, 0);
  std::iota(expected.begin() + 32, expected.begin() + 38, 1);
  EXPECT_EQ(out, expected);
}

TEST(EmulatorTest, LoadToLds) {
  std::vector<int32_t> in(64), out(64);
  std::iota(in.begin(), in.end(), 0);
  std::string body = gep("%p", "%in", "%tid", "i32") + R"(
    rocdl.load.to.lds %p, %lds, 4, 0, 0 : !llvm.ptr<1>
    gpu.barrier
    %c63 = arith.constant 63 : i32
    %mirror = arith.subi %c63, %tid : i32
  )" + gep("%q", "%lds", "%mirror", "i32", 3) +
                     gep("%r", "%out", "%tid", "i32") + R"(
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    llvm.store %v, %r : i32, !llvm.ptr<1>
  )";
  auto result = emulateBody("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", body, 1,
                            64, {makeBuffer(in), makeBuffer(out)});
  ASSERT_TRUE(result) << result.message();
  std::reverse(in.begin(), in.end());
  EXPECT_EQ(out, in);
}

/// Lanes 0 to 63 read backwards, from behind the end of the buffer on, and
/// write forwards; the pointer to LDS is that of the first lane.
TEST(EmulatorTest, RawLoadToLds) {
  for (int dwords : {1, 3, 4}) {
    std::string size = std::to_string(4 * dwords);
    std::vector<int32_t> in(60 * dwords), out(65 * dwords);
    std::iota(in.begin(), in.end(), 1);
    std::string body =
        "%bytes = arith.constant " + std::to_string(in.size() * 4) +
        " : i64\n" + "%size = arith.constant " + size + " : i32\n" +
        "%dwords = arith.constant " + std::to_string(dwords) + " : i32\n" + R"(
    %s = arith.constant 0 : i16
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c63 = arith.constant 63 : i32
    %i = rocdl.make.buffer.rsrc %in, %s, %bytes, %c0 : <1> to <8>
    %mirror = arith.subi %c63, %tid : i32
    %at = arith.muli %mirror, %size : i32
    rocdl.raw.ptr.buffer.load.lds %i, %lds, %size, %at, %c0, %c4, %c0
    rocdl.s.waitcnt 0
    %place = arith.muli %tid, %dwords : i32
  )";
    for (int i = 0; i < dwords; ++i) {
      std::string n = std::to_string(i);
      body += "%k" + n + " = arith.constant " + std::to_string(i + 1) +
              " : i32\n%j" + n + " = arith.addi %place, %k" + n + " : i32\n" +
              gep("%q" + n, "%lds", "%j" + n, "i32", 3) +
              gep("%r" + n, "%out", "%j" + n, "i32") + "%v" + n +
              " = llvm.load %q" + n + " : !llvm.ptr<3> -> i32\nllvm.store %v" +
              n + ", %r" + n + " : i32, !llvm.ptr<1>\n";
    }
    auto result = emulateBody("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", body, 1,
                              64, {makeBuffer(in), makeBuffer(out)});
    ASSERT_TRUE(result) << result.message();
    // The instruction's offset is added on both sides.
    std::vector<int32_t> expected(out.size());
    for (int lane = 0; lane < 64; ++lane)
      for (int i = 0; i < dwords; ++i) {
        size_t at = (63 - lane) * dwords + i + 1;
        expected[lane * dwords + i + 1] = at < in.size() ? in[at] : 0;
      }
    EXPECT_EQ(out, expected) << dwords;
  }
}

TEST(EmulatorTest, Integers) {
  std::string body = R"(
    %c3 = arith.constant -3 : i32
    %c7 = arith.constant 7 : i32
    %div = arith.divsi %c7, %c3 : i32
    %rem = arith.remsi %c7, %c3 : i32
    %floor = arith.floordivsi %c7, %c3 : i32
    %ceil = arith.ceildivsi %c7, %c3 : i32
    %udiv = arith.divui %c3, %c7 : i32
    %low, %high = arith.mului_extended %c3, %c3 : i32
    %max = arith.maxsi %c3, %c7 : i32
    %umax = arith.maxui %c3, %c7 : i32
    %shr = arith.shrsi %c3, %c7 : i32
    %narrow = arith.trunci %c3 : i32 to i8
    %wide = arith.extui %narrow : i8 to i32
    %signed = arith.extsi %narrow : i8 to i32
    %bool = arith.cmpi ult, %c7, %c3 : i32
    %chosen = arith.select %bool, %c7, %c3 : i32
    %minus = arith.extsi %bool : i1 to i32
    %ones = math.ctpop %c3 : i32
    %zeros = math.ctlz %c7 : i32
  )";
  EXPECT_EQ(runInts(body,
                    {"%div", "%rem", "%floor", "%ceil", "%udiv", "%high",
                     "%max", "%umax", "%shr", "%wide", "%signed", "%chosen",
                     "%minus", "%ones", "%zeros"},
                    1),
            (std::vector<int32_t>{-2, 1, -3, -2, int32_t(4294967293u / 7), -6,
                                  7, -3, -1, 253, -3, 7, -1, 31, 29}));
}

TEST(EmulatorTest, Floats) {
  std::string body = R"(
    %x = arith.constant 2.75 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %big = arith.constant 1.0e20 : f32
    %h = arith.truncf %x : f32 to f16
    %hh = arith.mulf %h, %h : f16
    %hf = arith.extf %hh : f16 to f32
    %tie = arith.constant 1.01171875 : f32
    %b = arith.truncf %tie : f32 to bf16
    %bf = arith.extf %b : bf16 to f32
    %fma = math.fma %x, %x, %x : f32
    %even = math.roundeven %x : f32
    %sqrt = math.sqrt %fma : f32
    %e = math.exp2 %even : f32
    %max = arith.maximumf %x, %nan : f32
    %maxnum = arith.maxnumf %x, %nan : f32
    %ord = arith.cmpf ord, %max, %max : f32
    %ordered = arith.extui %ord : i1 to i32
    %sat = arith.fptosi %big : f32 to i32
    %none = arith.fptosi %nan : f32 to i32
    %int = arith.fptosi %x : f32 to i32
    %back = arith.sitofp %int : i32 to f32
  )";
  std::vector<std::string> names = {"%hf",   "%bf", "%fma",    "%even",
                                    "%sqrt", "%e",  "%maxnum", "%back"};
  std::vector<std::string> stored = {"%ordered", "%sat", "%none", "%int"};
  for (const std::string &name : names) {
    body += name + "Bits = arith.bitcast " + name + " : f32 to i32\n";
    stored.push_back(name + "Bits");
  }
  std::vector<int32_t> out = runInts(body, stored, 1);
  EXPECT_EQ(std::vector<int32_t>(out.begin(), out.begin() + 4),
            (std::vector<int32_t>{0, 0x7fffffff, 0, 2}));
  std::vector<float> floats;
  for (size_t i = 4; i < out.size(); ++i)
    floats.push_back(std::bit_cast<float>(out[i]));
  // 1 + 3/256 is between two numbers of bf16, and becomes the even one.
  EXPECT_EQ(floats,
            (std::vector<float>{7.5625f, 1.015625f, 10.3125f, 3.0f,
                                std::sqrt(10.3125f), 8.0f, 2.75f, 2.0f}));
}

/// Every f16 survives the way to f32 and back.
TEST(EmulatorTest, HalfRoundTrip) {
  std::vector<uint16_t> in(65536), out(65536);
  std::iota(in.begin(), in.end(), 0);
  std::string body = R"(
    %c256 = arith.constant 256 : i32
    %begin = arith.muli %bid, %c256 : i32
    %i = arith.addi %begin, %tid : i32
  )" + gep("%p", "%in", "%i", "f16") +
                     gep("%q", "%out", "%i", "f16") + R"(
    %h = llvm.load %p : !llvm.ptr<1> -> f16
    %f = arith.extf %h : f16 to f32
    %g = arith.truncf %f : f32 to f16
    llvm.store %g, %q : f16, !llvm.ptr<1>
  )";
  auto result = emulateBody("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", body, 256,
                            256, {makeBuffer(in), makeBuffer(out)});
  ASSERT_TRUE(result) << result.message();
  for (int i = 0; i < 65536; ++i) {
    bool isNan = (i & 0x7fff) > 0x7c00; // all NaNs become one
    ASSERT_EQ(out[i], isNan ? (i & 0x8000) | 0x7e00 : i);
  }
}

TEST(EmulatorTest, Vectors) {
  std::string body = R"(
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %v = arith.constant dense<[10, 20, 30, 40]> : vector<4xi32>
    %b = vector.broadcast %tid : i32 to vector<4xi32>
    %s = arith.addi %v, %b : vector<4xi32>
    %i = vector.insert %c9, %s [2] : i32 into vector<4xi32>
    %x0 = vector.extract %i[0] : i32 from vector<4xi32>
    %x2 = vector.extract %i[2] : i32 from vector<4xi32>
    %t = arith.index_cast %tid : i32 to index
    %dyn = vector.extract %i[%t] : i32 from vector<4xi32>
    %put = vector.insert %c1, %i [%t] : i32 into vector<4xi32>
    %sum = vector.reduction <add>, %put : vector<4xi32> into i32
    %sh = vector.shuffle %i, %v [7, 1] : vector<4xi32>, vector<4xi32>
    %h0 = vector.extract %sh[0] : i32 from vector<2xi32>
    %sl = vector.extract_strided_slice %i {offsets = [1], sizes = [2], strides = [1]} : vector<4xi32> to vector<2xi32>
    %l1 = vector.extract %sl[0] : i32 from vector<2xi32>
    %in = vector.insert_strided_slice %sl, %v {offsets = [2], strides = [1]} : vector<2xi32> into vector<4xi32>
    %n3 = vector.extract %in[3] : i32 from vector<4xi32>
    %bytes = vector.bitcast %sl : vector<2xi32> to vector<8xi8>
    %byte = vector.extract %bytes[4] : i8 from vector<8xi8>
    %w = arith.extui %byte : i8 to i32
    %again = vector.bitcast %bytes : vector<8xi8> to vector<1xi64>
    %wide = vector.extract %again[0] : i64 from vector<1xi64>
    %c32 = arith.constant 32 : i64
    %top = arith.shrui %wide, %c32 : i64
    %high = arith.trunci %top : i64 to i32
    %f = vector.from_elements %tid, %c9, %c1 : vector<3xi32>
    %m = vector.reduction <maxsi>, %f : vector<3xi32> into i32
  )";
  std::vector<int32_t> out = runInts(body, {"%x0", "%x2", "%dyn", "%sum", "%h0",
                                            "%l1", "%n3", "%w", "%high", "%m"});
  for (int t = 0; t < 4; ++t) {
    int inserted[] = {10 + t, 20 + t, 9, 40 + t};
    int sum =
        inserted[0] + inserted[1] + inserted[2] + inserted[3] - inserted[t] + 1;
    std::vector<int32_t> expected = {10 + t, 9, inserted[t], sum, 40,
                                     20 + t, 9, 9,           9,   9};
    EXPECT_EQ(
        std::vector<int32_t>(out.begin() + t * 10, out.begin() + t * 10 + 10),
        expected)
        << t;
  }
}

/// A convolution with no tiling at all: one thread per output. Prints its time.
TEST(EmulatorTest, NaiveConvolution) {
  constexpr int size = 14, channels = 64;
  std::vector<float> in(size * size * channels),
      filter(9 * channels * channels);
  std::vector<float> out(size * size * channels);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = int(i * 7 % 11) - 5;
  for (size_t i = 0; i < filter.size(); ++i)
    filter[i] = int(i * 5 % 7) - 3;
  std::string body = R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c14 = arith.constant 14 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %y = arith.divui %bid, %c14 : i32
    %x = arith.remui %bid, %c14 : i32
    %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%s0 = %zero) -> f32 : i32 {
      %sr = scf.for %s = %c0 to %c3 step %c1 iter_args(%s1 = %s0) -> f32 : i32 {
        %yr = arith.addi %y, %r : i32
        %xs = arith.addi %x, %s : i32
        %iy = arith.subi %yr, %c1 : i32
        %ix = arith.subi %xs, %c1 : i32
        %iny = arith.cmpi ult, %iy, %c14 : i32
        %inx = arith.cmpi ult, %ix, %c14 : i32
        %inside = arith.andi %iny, %inx : i1
        %add = scf.if %inside -> f32 {
          %row = arith.muli %iy, %c14 : i32
          %pixel = arith.addi %row, %ix : i32
          %first = arith.muli %pixel, %c64 : i32
          %tap0 = arith.muli %r, %c3 : i32
          %tap = arith.addi %tap0, %s : i32
          %firstFilter = arith.muli %tap, %c64 : i32
          %sc = scf.for %c = %c0 to %c64 step %c1 iter_args(%s2 = %s1) -> f32 : i32 {
            %i = arith.addi %first, %c : i32
            %f0 = arith.addi %firstFilter, %c : i32
            %f1 = arith.muli %f0, %c64 : i32
            %f = arith.addi %f1, %tid : i32
            %pi = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
            %pf = llvm.getelementptr %filter[%f] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
            %vi = llvm.load %pi : !llvm.ptr<1> -> f32
            %vf = llvm.load %pf : !llvm.ptr<1> -> f32
            %s3 = math.fma %vi, %vf, %s2 : f32
            scf.yield %s3 : f32
          }
          scf.yield %sc : f32
        } else {
          scf.yield %s1 : f32
        }
        scf.yield %add : f32
      }
      scf.yield %sr : f32
    }
    %o0 = arith.muli %bid, %c64 : i32
    %o = arith.addi %o0, %tid : i32
    %po = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %sum, %po : f32, !llvm.ptr<1>
  )";
  for (bool checkMemory : {true, false}) {
    EmulatorOptions options;
    options.checkMemory = checkMemory;
    double seconds = 0;
    auto result = emulateBody(
        "%in: !llvm.ptr<1>, %filter: !llvm.ptr<1>, %out: !llvm.ptr<1>", body,
        size * size, channels,
        {makeBuffer(in), makeBuffer(filter), makeBuffer(out)}, options,
        &seconds);
    ASSERT_TRUE(result) << result.message();
    printf("naive convolution, memory %s: %.2f s, %.0f ns per instruction\n",
           checkMemory ? "checked" : "not checked", seconds,
           seconds * 1e9 / result->instructions);
  }
  for (int y : {0, 5, 13})
    for (int x : {0, 7, 13})
      for (int k = 0; k < channels; ++k) {
        float sum = 0;
        for (int tap = 0; tap < 9; ++tap) {
          int iy = y + tap / 3 - 1, ix = x + tap % 3 - 1;
          if (iy < 0 || iy >= size || ix < 0 || ix >= size)
            continue;
          for (int c = 0; c < channels; ++c)
            sum += in[(iy * size + ix) * channels + c] *
                   filter[(tap * channels + c) * channels + k];
        }
        ASSERT_EQ(out[(y * size + x) * channels + k], sum);
      }
}
