//===- ReferenceSampleTest.cpp - Reference samples, regions and sorting ---===//
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
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

using Elements = std::vector<double>;

static std::vector<Elements> solveAll(const std::string &key,
                                      std::vector<Elements> operands) {
  auto runner = SolverRunner::create("native");
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(runner && mlir::succeeded(problem)) << key << ": " << fault;
  auto results =
      (*runner)->run(*problem, getReferenceSolver(), PerfConfig(), operands);
  EXPECT_TRUE(results) << results.message();
  return results ? *results : std::vector<Elements>(2, Elements(64));
}

static Elements solve(const std::string &key, std::vector<Elements> operands) {
  return solveAll(key, std::move(operands)).front();
}

//===----------------------------------------------------------------------===//
// The k largest elements
//===----------------------------------------------------------------------===//

TEST(ReferenceTopK, sortsTheBest) {
  const std::string key = "top_k(2x5xf32)->2x3xi64 {axis=1 k=3 largest=";
  Elements rows = {3, 1, 4, 1, 5, -1, -1, 2, -1, 0};
  EXPECT_THAT(solve(key + "1}", {rows}), ElementsAre(4, 2, 0, 2, 4, 0));
  // Of equal elements the first comes first.
  EXPECT_THAT(solve(key + "0}", {rows}), ElementsAre(1, 3, 0, 0, 1, 3));
  EXPECT_THAT(solve("top_k(3x2xi32)->2x2xi64 {axis=0 k=2 largest=1}",
                    {{1, 6, 2, 5, 3, 4}}),
              ElementsAre(2, 0, 1, 1));
  EXPECT_THAT(solve("top_k(1xf32)->1xi64 {axis=0 k=1 largest=1}", {{7}}),
              ElementsAre(0));
}

TEST(ReferenceTopK, nanIsLarger) {
  EXPECT_THAT(solve("top_k(4xf32)->4xi64 {axis=0 k=4 largest=1}",
                    {{1, NAN, INFINITY, NAN}}),
              ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(solve("top_k(4xf32)->4xi64 {axis=0 k=4 largest=0}",
                    {{1, NAN, -INFINITY, NAN}}),
              ElementsAre(2, 0, 1, 3));
}

/// Long lines, whose heaps have many levels.
TEST(ReferenceTopK, sortsLongLines) {
  Elements line, expected;
  for (int64_t i = 0; i < 1000; ++i)
    line.push_back(static_cast<double>(i * 7919 % 1000));
  for (int64_t wanted = 999; wanted >= 700; --wanted)
    for (int64_t i = 0; i < 1000; ++i)
      if (line[i] == static_cast<double>(wanted))
        expected.push_back(static_cast<double>(i));
  EXPECT_EQ(solve("top_k(1000xf32)->300xi64 {axis=0 k=300 largest=1}", {line}),
            expected);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Samples the pixels 0, 10, 20 and 30 of a line.
static Elements sampleLine(int mode, int padding, bool alignCorners,
                           Elements places) {
  std::string count = std::to_string(places.size());
  return solve("grid_sample(1x1x4xf32, 1x" + count + "x1xf32)->1x1x" + count +
                   "xf32 {align_corners=" + (alignCorners ? "1" : "0") +
                   " mode=" + std::to_string(mode) +
                   " padding=" + std::to_string(padding) + "}",
               {{0, 10, 20, 30}, std::move(places)});
}

TEST(ReferenceGridSample, takesTheNearest) {
  // Halves are rounded to even places.
  EXPECT_THAT(sampleLine(0, 0, false, {0.4, 0.6, 1.5, 2.5, -0.5, 3.6, NAN}),
              ElementsAre(0, 10, 20, 20, 0, 0, 0));
  EXPECT_THAT(sampleLine(0, 1, false, {-7, 3.6, 1e30}), ElementsAre(0, 30, 30));
  EXPECT_THAT(sampleLine(0, 2, false, {-1, -2, 4, 5}),
              ElementsAre(0, 10, 30, 20));
  EXPECT_THAT(sampleLine(0, 2, true, {-1, -2, 4, 5}),
              ElementsAre(10, 20, 20, 10));
}

TEST(ReferenceGridSample, interpolates) {
  EXPECT_THAT(sampleLine(1, 0, false, {0.25, -0.5, 3.25, 1e30, -INFINITY}),
              ElementsAre(2.5, 0, 22.5, 0, 0));
  EXPECT_THAT(sampleLine(1, 1, false, {-0.5, 3.25, 1e30}),
              ElementsAre(0, 30, 30));
  EXPECT_THAT(sampleLine(1, 2, true, {-0.25, 3.5, 6.5}),
              ElementsAre(2.5, 25, 5));
  EXPECT_THAT(sampleLine(1, 2, false, {-1.25, 4.25}), ElementsAre(2.5, 27.5));
}

TEST(ReferenceGridSample, interpolatesByCubics) {
  // The weights at 1.5 are -3/32, 19/32, 19/32 and -3/32.
  EXPECT_THAT(sampleLine(2, 1, false, {1, 1.5, 0.5}),
              Pointwise(DoubleNear(1e-5), {10.0, 15.0, 4.0625}));
}

/// A grid's first coordinate is the last dimension's.
TEST(ReferenceGridSample, countsFromTheLastDimension) {
  EXPECT_THAT(
      solve("grid_sample(1x2x2x3xf32, 1x2x2xf32)->1x2x2xf32 "
            "{align_corners=0 mode=1 padding=0}",
            {{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}, {2, 0, 0.5, 1}}),
      ElementsAre(2, 3.5, 12, 13.5));
  EXPECT_THAT(solve("grid_sample(1x1x1x1x1xf32, 1x1x3xf32)->1x1x1xf32 "
                    "{align_corners=1 mode=2 padding=2}",
                    {{7}, {3, -5, 0.5}}),
              ElementsAre(7));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

TEST(ReferenceRoiAlign, pools) {
  Elements image = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::string key = "roi_align(1x1x4x4xf32, 1x4xf32, 1xi64)->1x1x2x2xf32 "
                          "{sizes=2,2 samples=";
  // Four pixels a side, two samples a pixel pair.
  EXPECT_THAT(solve(key + "2 scale=1 half_pixel=1 takes_max=0}",
                    {image, {0, 0, 4, 4}, {0}}),
              ElementsAre(2.5, 4.5, 10.5, 12.5));
  EXPECT_THAT(solve(key + "0 scale=0.5 half_pixel=1 takes_max=0}",
                    {image, {0, 0, 8, 8}, {5}}),
              ElementsAre(2.5, 4.5, 10.5, 12.5));
  // Nothing of the region lies in the image.
  EXPECT_THAT(solve(key + "1 scale=1 half_pixel=0 takes_max=0}",
                    {image, {50, 50, 60, 60}, {0}}),
              ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(solve(key + "1 scale=1 half_pixel=0 takes_max=1}",
                    {image, {0, 0, 2, 2}, {0}}),
              ElementsAre(1.25, 1.5, 2.25, 2.5));
}

TEST(ReferenceNonMaxSuppression, selects) {
  // Boxes 0 and 1 overlap by more than a half, box 2 lies apart.
  Elements boxes = {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11};
  const std::string key =
      "non_max_suppression(1x3x4xf32, 1x2x3xf32, 1x2x3xi64)->(4x3xi64, 1xi64) "
      "{center_point=0 has_least=1 least_score=0.4 limit=2 most_overlap=0.5}";
  auto results = solveAll(
      key, {boxes, {0.9, 0.8, 0.7, 0.1, 0.5, 0.3}, {0, 1, 2, 1, 2, 0}});
  EXPECT_THAT(results[0], ElementsAre(0, 0, 0, 0, 0, 2, 0, 1, 1, -1, -1, -1));
  EXPECT_THAT(results[1], ElementsAre(3));
}

TEST(ReferenceNonMaxSuppression, countsAtMostTheLimit) {
  // The middle and the sizes; no scores are too low.
  Elements boxes = {0, 0, 1, 1, 5, 5, 1, 1, 5, 5, 1, 1};
  const std::string key =
      "non_max_suppression(1x3x4xf32, 1x1x3xf32, 1x1x3xi64)->(1x3xi64, 1xi64) "
      "{center_point=1 has_least=0 least_score=0 limit=1 most_overlap=0.5}";
  auto results = solveAll(key, {boxes, {-INFINITY, -1, -2}, {2, 1, 0}});
  EXPECT_THAT(results[0], ElementsAre(0, 0, 2));
  EXPECT_THAT(results[1], ElementsAre(1));
}
