//===- BlockMatMulTest.cpp - Narrow weights against their definition ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference, with which all other solvers are compared.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"
#include "tarpon/Solver/Solver.h"

#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::test;

using Elements = std::vector<double>;

/// The last of two blocks ends within its third byte of 4 bits.
static constexpr int64_t kRows = 3, kColumns = 5, kDepth = 21, kBlock = 16,
                         kBlocks = 2;

static Elements makeBytes(int64_t count, int64_t factor) {
  Elements bytes;
  for (int64_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<double>((i * factor + 3) % 256));
  return bytes;
}

static Elements makeNumbers(int64_t count, int64_t factor) {
  Elements numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>(i * factor % 13) / 8 - 1);
  return numbers;
}

/// The element of 4 bits with an even index is in the lower half of its byte.
static int64_t getInteger(const Elements &weights, int64_t bits, int64_t column,
                          int64_t k) {
  int64_t blockBytes = kBlock * bits / 8;
  auto byte = static_cast<int64_t>(
      weights[column * kBlocks * blockBytes + k * bits / 8]);
  return bits == 8 ? byte : k % 2 == 0 ? byte & 15 : byte >> 4;
}

static Elements expectProduct(int64_t bits,
                              const std::vector<Elements> &operands) {
  Elements result;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        int64_t param = column * kBlocks + k / kBlock;
        double zeroPoint = operands.size() > 3 ? operands[3][param]
                           : bits == 4         ? 8
                                               : 128;
        double integer =
            static_cast<double>(getInteger(operands[1], bits, column, k));
        sum += operands[0][row * kDepth + k] * (integer - zeroPoint) *
               operands[2][param];
      }
      result.push_back(sum);
    }
  return result;
}

static void checkProduct(int64_t bits, bool hasZeroPoints) {
  std::string bytes = std::to_string(kBlock * bits / 8);
  std::string key = "block_matmul(3x21xf32, 5x2x" + bytes + "xu8, 5x2xf32" +
                    (hasZeroPoints ? ", 5x2xu8" : "") +
                    ")->3x5xf32{bits=" + std::to_string(bits) +
                    " block_size=16}";
  SCOPED_TRACE(key);
  auto runner = SolverRunner::create("native");
  auto problem = parseProblem(key);
  ASSERT_TRUE(runner && mlir::succeeded(problem));
  std::vector<Elements> operands = {
      makeNumbers(kRows * kDepth, 5),
      makeBytes(kColumns * kBlocks * kBlock * bits / 8, 37),
      makeNumbers(kColumns * kBlocks, 7)};
  if (hasZeroPoints)
    operands.push_back(makeBytes(kColumns * kBlocks, bits == 4 ? 1 : 23));
  auto results =
      (*runner)->run(*problem, getReferenceSolver(), PerfConfig(), operands);
  ASSERT_TRUE(results) << results.message();
  Elements expected = expectProduct(bits, operands);
  ASSERT_EQ(results->front().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(results->front()[i], expected[i], 1e-3) << "element " << i;
}

TEST(BlockMatMul, followsItsDefinition) {
  for (int64_t bits : {4, 8})
    for (bool hasZeroPoints : {false, true})
      checkProduct(bits, hasZeroPoints);
}
