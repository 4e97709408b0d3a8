//===- EmulatorGemmTest.cpp - A tiled matrix product ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the parts of kernels with matrix instructions: tiles in LDS, barriers,
// an accumulator carried around a loop; with faults planted in it.
//
//===----------------------------------------------------------------------===//

#include "TestEmulator.h"

#include "tarpon/Runtime/DType.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <regex>

using namespace tarpon;
using namespace tarpon::test;
using runtime::DType;

namespace {

constexpr int kTile = 64, kDepth = 512;

/// C[64,64] = A[64,512] * B[64,512]^T by four waves, each with 16 rows of C.
/// A step has 16 of k: A in the first half of LDS, B in the second.
std::string makeGemm(const std::string &first = "amdgpu.lds_barrier",
                     const std::string &second = "amdgpu.lds_barrier",
                     const std::string &columnBits = "%lane16") {
  std::string body = R"(
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c6 = arith.constant 6 : i32
    %c15 = arith.constant 15 : i32
    %c16 = arith.constant 16 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %depth = arith.constant 512 : i32
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %wave = arith.shrui %tid, %c6 : i32
    %lane = arith.andi %tid, %c63 : i32
    %lane16 = arith.andi %lane, %c15 : i32
    %group = arith.shrui %lane, %c4 : i32
    %k4 = arith.shli %group, %c2 : i32
    // This thread copies four of k of one row.
    %copyRow = arith.shrui %tid, %c2 : i32
    %copyQuarter = arith.andi %tid, %c3 : i32
    %copyK = arith.shli %copyQuarter, %c2 : i32
    %copyRowK = arith.muli %copyRow, %depth : i32
    %copyFrom = arith.addi %copyRowK, %copyK : i32
    %ldsB = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %toA = llvm.getelementptr %lds[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf16>
    %toB = llvm.getelementptr %ldsB[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf16>
    // The operands that this lane multiplies.
    %waveRow = arith.muli %wave, %c16 : i32
    %rowA = arith.addi %waveRow, %lane16 : i32
    %rowA16 = arith.muli %rowA, %c16 : i32
    %elementA = arith.addi %rowA16, %k4 : i32
    %fromA = llvm.getelementptr %lds[%elementA] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f16
    %column16 = arith.muli )" +
                     columnBits + R"(, %c16 : i32
    %elementB = arith.addi %column16, %k4 : i32
    %fromB = llvm.getelementptr %ldsB[%elementB] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f16
    %sum:4 = scf.for %k = %c0 to %depth step %c16
        iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero)
        -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) : i32 {
      %from = arith.addi %copyFrom, %k : i32
      %pa = llvm.getelementptr %a[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
      %pb = llvm.getelementptr %b[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
      %ga = llvm.load %pa : !llvm.ptr<1> -> vector<4xf16>
      %gb = llvm.load %pb : !llvm.ptr<1> -> vector<4xf16>
      llvm.store %ga, %toA : vector<4xf16>, !llvm.ptr<3>
      llvm.store %gb, %toB : vector<4xf16>, !llvm.ptr<3>
      )" + first + R"(
      %va = llvm.load %fromA : !llvm.ptr<3> -> vector<4xf16>
)";
  for (int j = 0; j < 4; ++j) {
    std::string n = std::to_string(j);
    body += "%fb" + n + " = llvm.getelementptr %fromB[" +
            std::to_string(16 * 16 * j) +
            "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f16\n%vb" + n +
            " = llvm.load %fb" + n + " : !llvm.ptr<3> -> vector<4xf16>\n%t" +
            n + " = amdgpu.mfma 16x16x16 %va * %vb" + n + " + %s" + n +
            " blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>\n";
  }
  body += second + R"(
      scf.yield %t0, %t1, %t2, %t3 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    %rowC = arith.addi %waveRow, %k4 : i32
    %rowC64 = arith.muli %rowC, %c64 : i32
    %elementC = arith.addi %rowC64, %lane16 : i32
    %pc = llvm.getelementptr %c[%elementC] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
)";
  for (int j = 0; j < 4; ++j)
    for (int e = 0; e < 4; ++e) {
      std::string n = std::to_string(4 * j + e);
      body += "%r" + n + " = vector.extract %sum#" + std::to_string(j) + "[" +
              std::to_string(e) + "] : f32 from vector<4xf32>\n%q" + n +
              " = llvm.getelementptr %pc[" + std::to_string(64 * e + 16 * j) +
              "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\nllvm.store %r" + n +
              ", %q" + n + " : f32, !llvm.ptr<1>\n";
    }
  return body;
}

class EmulatorGemmTest : public testing::Test {
protected:
  EmulatorGemmTest()
      : a(kTile * kDepth), b(a.size()), c(kTile * kTile, -1),
        expected(c.size()) {
    for (size_t i = 0; i < a.size(); ++i) {
      runtime::storeFromFloat(DType::F16, valueOfA(i), &a[i]);
      runtime::storeFromFloat(DType::F16, valueOfB(i), &b[i]);
    }
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < kTile; ++j)
        for (int k = 0; k < kDepth; ++k)
          expected[i * kTile + j] +=
              valueOfA(i * kDepth + k) * valueOfB(j * kDepth + k);
  }

  static float valueOfA(size_t i) { return int(i * 37 % 101 % 7) - 3; }
  static float valueOfB(size_t i) { return int(i * 41 % 103 % 5) - 2; }

  runtime::Result<EmulationReport> run(const std::string &body,
                                       const EmulatorOptions &options = {},
                                       double *seconds = nullptr) {
    return emulateBody(
        "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>", body, 1, 256,
        {makeBuffer(a), makeBuffer(b), makeBuffer(c)}, options, seconds);
  }

  std::vector<uint16_t> a, b;
  std::vector<float> c, expected;
};

} // namespace

TEST_F(EmulatorGemmTest, Multiplies) {
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    c.assign(c.size(), -1);
    double seconds = 0;
    auto result = run(makeGemm(), options, &seconds);
    ASSERT_TRUE(result) << result.message();
    EXPECT_EQ(c, expected);
    EXPECT_EQ(result->matrixInstructions, 4u * 4 * kDepth / 16);
    printf("tiled product: %.0f ns per instruction\n",
           seconds * 1e9 / result->instructions);
  }
}

TEST_F(EmulatorGemmTest, PlantedFaults) {
  // Each of the two barriers is needed; either race is found.
  std::regex noBarrier("LDS @lds, which (was never written|.*no barrier)");
  for (const auto &body : {makeGemm(""), makeGemm("amdgpu.lds_barrier", "")}) {
    std::string fault = getMessage(run(body));
    EXPECT_TRUE(std::regex_search(fault, noBarrier)) << fault;
  }
  // A column that is computed from the wrong lanes only gives a wrong result.
  auto result = run(makeGemm("gpu.barrier", "gpu.barrier", "%group"));
  ASSERT_TRUE(result) << result.message();
  EXPECT_NE(c, expected);
}
