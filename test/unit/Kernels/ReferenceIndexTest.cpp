//===- ReferenceIndexTest.cpp - Reference comparisons and selection -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::ElementsAre;

using Elements = std::vector<double>;

static Elements solve(const std::string &key, std::vector<Elements> operands) {
  auto runner = SolverRunner::create("native");
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(runner && mlir::succeeded(problem)) << key << ": " << fault;
  auto results =
      (*runner)->run(*problem, getReferenceSolver(), PerfConfig(), operands);
  EXPECT_TRUE(results) << results.message();
  return results ? results->front() : Elements(problem->result.numElements());
}

TEST(ReferenceIndex, comparesAndCombinesBits) {
  EXPECT_THAT(solve("less(3xf32, 3xf32)->3xf32", {{1, 2, NAN}, {2, 2, 2}}),
              ElementsAre(1, 0, 0));
  EXPECT_THAT(solve("equal(3xf32, 3xf32)->3xf32", {{1, 2, NAN}, {2, 2, NAN}}),
              ElementsAre(0, 1, 0));
  EXPECT_THAT(solve("less(2xu8, 2xu8)->2xu8", {{200, 3}, {100, 4}}),
              ElementsAre(0, 1));
  EXPECT_THAT(solve("bit_and(2xi8, 2xi8)->2xi8", {{-1, 6}, {5, 3}}),
              ElementsAre(5, 2));
  EXPECT_THAT(solve("bit_or(2xi8, 2xi8)->2xi8", {{-8, 6}, {5, 3}}),
              ElementsAre(-3, 7));
  EXPECT_THAT(solve("bit_xor(2xi8, 2xi8)->2xi8", {{-1, 6}, {5, 3}}),
              ElementsAre(-6, 5));
  EXPECT_THAT(
      solve("shift_left(3xi32, 3xi32)->3xi32", {{3, 1, 1}, {2, 64, -1}}),
      ElementsAre(12, 0, 0));
  EXPECT_THAT(
      solve("shift_right(3xi32, 3xi32)->3xi32", {{-8, 8, -8}, {1, 2, 99}}),
      ElementsAre(-4, 2, -1));
}

TEST(ReferenceIndex, selectsAtRunTime) {
  EXPECT_THAT(solve("where(2x1xbool, 2xf32, 1x1xf32)->2x2xf32",
                    {{1, 0}, {3, 4}, {NAN}})[1],
              4);
  EXPECT_THAT(
      solve("where(2xbool, 2xi64, 1xi64)->2xi64", {{0, 1}, {3, 4}, {-5}}),
      ElementsAre(-5, 4));
  // An index below 0 counts from the end, and none leaves the dimension.
  EXPECT_THAT(solve("gather(2x3xf32, 4xi64)->2x4xf32 {axis=1}",
                    {{0, 1, 2, 3, 4, 5}, {0, -1, 9, -9}}),
              ElementsAre(0, 2, 2, 0, 3, 5, 5, 3));
  EXPECT_THAT(
      solve("gather(3xi32, 2x1xi64)->2x1xi32 {axis=0}", {{7, 8, 9}, {2, 0}}),
      ElementsAre(9, 7));
  EXPECT_THAT(solve("scatter(3x2xf32, 3xi64, 3x2xf32)->3x2xf32 {mode=0}",
                    {{0, 1, 2, 3, 4, 5}, {1, -3, 7}, {10, 11, 12, 13, 14, 15}}),
              ElementsAre(12, 13, 10, 11, 4, 5));
  for (auto [mode, expected] :
       {std::pair(1, 8), std::pair(2, 12), std::pair(3, 4), std::pair(4, 1)})
    EXPECT_EQ(solve("scatter(2xi32, 2xi64, 2xi32)->2xi32 {mode=" +
                        std::to_string(mode) + "}",
                    {{1, 4}, {1, 1}, {3, 1}})[1],
              expected);
}

TEST(ReferenceIndex, extremesAreNaNAmongNaN) {
  for (const char *op : {"reduce_min", "reduce_max"})
    for (const Elements &row :
         {Elements{NAN, 1, 2}, Elements{1, NAN, 2}, Elements{1, 2, NAN}})
      EXPECT_TRUE(std::isnan(solve(
          std::string(op) + "(3xf32)->1xf32 {axes=0 keepdims=1}", {row})[0]))
          << op;
}

/// Rounded to f32 first, 2049 + 2^-40 and 17 + 2^-40 would be ties, which go to
/// even.
TEST(ReferenceConvert, f64RoundsOnce) {
  EXPECT_THAT(solve("convert(3xf64)->3xf16", {{2049 + 0x1p-40, -1e300, 0.5}}),
              ElementsAre(2050, -INFINITY, 0.5));
  Elements narrow =
      solve("convert(2xf64)->2xf8E4M3FN", {{-17 - 0x1p-40, 1e300}});
  EXPECT_EQ(narrow[0], -18);
  EXPECT_TRUE(std::isnan(narrow[1]));
}

TEST(ReferenceConvert, integersWrapAndFloatsSaturate) {
  EXPECT_THAT(solve("convert(3xi32)->3xi4", {{-9, 8, 31}}),
              ElementsAre(7, -8, -1));
  EXPECT_THAT(solve("convert(3xi32)->3xu4", {{-9, 8, 31}}),
              ElementsAre(7, 8, 15));
  EXPECT_THAT(solve("convert(3xi32)->3xi2", {{-3, 2, 1}}),
              ElementsAre(1, -2, 1));
  EXPECT_THAT(solve("convert(3xf32)->3xi4", {{-9, 7.9, 1e9}}),
              ElementsAre(-8, 7, 7));
  EXPECT_THAT(solve("convert(2xi4)->2xf32", {{-8, 7}}), ElementsAre(-8, 7));
  EXPECT_THAT(solve("transpose(1x3xu2)->3x1xu2 {permutation=1,0}", {{3, 0, 2}}),
              ElementsAre(3, 0, 2));
}

TEST(ReferenceConvert, powersOfTwo) {
  EXPECT_THAT(solve("convert(3xf32)->3xf8E8M0FNU", {{3, -0.25, 0}}),
              ElementsAre(4, 0.25, 0x1p-127));
  EXPECT_THAT(solve("convert(3xf8E8M0FNU)->3xf32", {{4, 0.25, 0x1p-127}}),
              ElementsAre(4, 0.25, 0x1p-127));
}
