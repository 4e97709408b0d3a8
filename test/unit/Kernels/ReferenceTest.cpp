//===- ReferenceTest.cpp - The reference solver against plain loops -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every other solver is compared with the reference, so that the reference is
// compared with results worked out by hand or by loops written here.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Pointwise;

using Elements = std::vector<double>;

namespace {
class Reference : public testing::Test {
protected:
  void SetUp() override {
    auto created = SolverRunner::create("native");
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  std::vector<Elements> solveAll(const Problem &problem,
                                 std::vector<Elements> operands) {
    auto results =
        runner->run(problem, getReferenceSolver(), PerfConfig(), operands);
    EXPECT_TRUE(results) << results.message();
    return results ? *results : std::vector<Elements>(problem.numResults());
  }

  std::vector<Elements> solveAll(const std::string &key,
                                 std::vector<Elements> operands) {
    std::string fault;
    auto problem = parseProblem(key, &fault);
    EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
    return solveAll(*problem, std::move(operands));
  }

  Elements solve(const Problem &problem, std::vector<Elements> operands) {
    return solveAll(problem, std::move(operands)).front();
  }

  Elements solve(const std::string &key, std::vector<Elements> operands) {
    auto problem = parseProblem(key);
    EXPECT_TRUE(mlir::succeeded(problem)) << key;
    return solve(*problem, std::move(operands));
  }

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

static Elements iota(int64_t count, double first = 0) {
  Elements elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(first + static_cast<double>(i));
  return elements;
}

//===----------------------------------------------------------------------===//
// Convolution and matrix product
//===----------------------------------------------------------------------===//

TEST_F(Reference, convolvesWithPaddingStrideDilationAndGroups) {
  constexpr int64_t batch = 2, groups = 2, groupC = 3, groupK = 2, inH = 7,
                    inW = 6, filterH = 3, filterW = 2;
  constexpr int64_t strideH = 2, strideW = 1, padH = 1, padW = 2, dilation = 2;
  constexpr int64_t outH =
      (inH + padH + 2 - (dilation * (filterH - 1) + 1)) / strideH + 1;
  constexpr int64_t outW =
      (inW + padW + 0 - (dilation * (filterW - 1) + 1)) / strideW + 1;
  Elements x, w, expected;
  for (int64_t i = 0; i < batch * groups * groupC * inH * inW; ++i)
    x.push_back((i * 7 % 11) - 5.0);
  for (int64_t i = 0; i < groups * groupK * groupC * filterH * filterW; ++i)
    w.push_back((i * 5 % 7) - 3.0);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t k = 0; k < groups * groupK; ++k)
      for (int64_t p = 0; p < outH; ++p)
        for (int64_t q = 0; q < outW; ++q) {
          double sum = 0;
          for (int64_t c = 0; c < groupC; ++c)
            for (int64_t r = 0; r < filterH; ++r)
              for (int64_t s = 0; s < filterW; ++s) {
                int64_t h = p * strideH - padH + r * dilation;
                int64_t v = q * strideW - padW + s * dilation;
                if (h < 0 || h >= inH || v < 0 || v >= inW)
                  continue;
                int64_t channel = k / groupK * groupC + c;
                sum +=
                    x[((n * groups * groupC + channel) * inH + h) * inW + v] *
                    w[((k * groupC + c) * filterH + r) * filterW + s];
              }
          expected.push_back(sum);
        }
  std::string attrs = " {dilations=2,2 group=2 pads=1,2,2,0 strides=2,1}";
  for (const char *layout : {"", ":nhwc", ":nchw4c"}) {
    std::string key = std::string("conv(2x6x7x6xf32") + layout +
                      ", 4x3x3x2xf32)->2x4x3x6xf32" + layout + attrs;
    EXPECT_THAT(solve(key, {x, w}), ElementsAreArray(expected)) << key;
  }
}

/// Sums of more terms than are added up side by side, and of a few more.
TEST_F(Reference, addsManyTerms) {
  constexpr int64_t kGroups = 2, kDepth = 19;
  const std::string attrs = " {dilations=1,1 group=2 pads=0,0,0,0 strides=1,1}";
  Elements x, w, expected(kGroups, 0.0);
  for (int64_t i = 0; i < kGroups * kDepth; ++i) {
    x.push_back((i * 7 % 11) - 5.0);
    w.push_back((i * 5 % 7) - 3.0);
    expected[i / kDepth] += x.back() * w.back();
  }
  // The second group begins within a block of channels.
  for (const char *dtype : {"f32", "f32:nhwc", "f32:nchw4c", "bf16", "f64"}) {
    std::string element = llvm::StringRef(dtype).split(':').first.str();
    std::string conv = std::string("conv(1x38x1x1x") + dtype + ", 2x19x1x1x" +
                       element + ")->1x2x1x1x" + dtype + attrs;
    EXPECT_THAT(solve(conv, {x, w}), ElementsAreArray(expected)) << conv;
    std::string transpose = std::string("conv_transpose(1x38x1x1x") + dtype +
                            ", 38x1x1x1x" + element + ")->1x2x1x1x" + dtype +
                            " {dilations=1,1 group=2 output_padding=0,0 "
                            "pads=0,0,0,0 strides=1,1}";
    EXPECT_THAT(solve(transpose, {x, w}), ElementsAreArray(expected))
        << transpose;
  }
  EXPECT_THAT(solve("matmul(2x1x19xf32, 2x19x1xf32)->2x1x1xf32 "
                    "{transpose_lhs=0 transpose_rhs=0}",
                    {x, w}),
              ElementsAreArray(expected));
  auto quantized =
      parseProblem("conv(1x38x1x1xi8q, 2x19x1x1xi8q)->1x2x1x1xf32" + attrs);
  ASSERT_TRUE(mlir::succeeded(quantized));
  quantized->operands[0].scales = quantized->operands[1].scales = {1.0f};
  quantized->operands[0].zeroPoint = 3;
  EXPECT_THAT(solve(*quantized, {x, w}), ElementsAreArray(expected));
}

namespace {
/// One convolution in plain loops, for whatever is done with its products.
struct PlainConv {
  static constexpr int64_t batch = 2, groups = 2, groupC = 3, groupK = 2,
                           inH = 7, inW = 6, filterH = 3, filterW = 2;
  static constexpr int64_t strideH = 2, strideW = 3, padH = 1, padW = 2,
                           dilation = 2;
  static constexpr int64_t outH =
      (inH + padH + 2 - (dilation * (filterH - 1) + 1)) / strideH + 1;
  static constexpr int64_t outW =
      (inW + padW + 1 - (dilation * (filterW - 1) + 1)) / strideW + 1;

  /// Visits the offsets of all products in x, w and y, nchw each.
  static void
  forProducts(llvm::function_ref<void(int64_t x, int64_t w, int64_t y)> visit) {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t k = 0; k < groups * groupK; ++k)
        for (int64_t c = 0; c < groupC; ++c)
          for (int64_t p = 0; p < outH * outW; ++p)
            for (int64_t r = 0; r < filterH * filterW; ++r) {
              int64_t h = p / outW * strideH - padH + r / filterW * dilation;
              int64_t v = p % outW * strideW - padW + r % filterW * dilation;
              if (h < 0 || h >= inH || v < 0 || v >= inW)
                continue;
              int64_t channel = k / groupK * groupC + c;
              visit(((n * groups * groupC + channel) * inH + h) * inW + v,
                    (k * groupC + c) * filterH * filterW + r,
                    (n * groups * groupK + k) * outH * outW + p);
            }
  }

  static Elements makeNumbers(int64_t count, int64_t factor, int64_t modulus) {
    Elements numbers;
    int64_t half = modulus / 2;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<double>(i * factor % modulus - half));
    return numbers;
  }
  static Elements makeX() {
    return makeNumbers(batch * groups * groupC * inH * inW, 7, 11);
  }
  static Elements makeW() {
    return makeNumbers(groups * groupK * groupC * filterH * filterW, 5, 7);
  }
  static Elements makeY() {
    return makeNumbers(batch * groups * groupK * outH * outW, 3, 13);
  }
};
} // namespace

TEST_F(Reference, spreadsInputsOverWindows) {
  Elements dy = PlainConv::makeY(), w = PlainConv::makeW(),
           expected(PlainConv::makeX().size(), 0);
  PlainConv::forProducts([&](int64_t x, int64_t tap, int64_t y) {
    expected[x] += dy[y] * w[tap];
  });
  static_assert(PlainConv::outH == 3 && PlainConv::outW == 3);
  std::string attrs = " {dilations=2,2 group=2 output_padding=0,0 "
                      "pads=1,2,1,1 strides=2,3}";
  for (const char *layout : {"", ":nhwc", ":nchw4c"}) {
    std::string key = std::string("conv_transpose(2x4x3x3xf32") + layout +
                      ", 4x3x3x2xf32)->2x6x7x6xf32" + layout + attrs;
    EXPECT_THAT(solve(key, {dy, w}), ElementsAreArray(expected)) << key;
  }
}

TEST_F(Reference, addsPlacesThatNoInputReaches) {
  EXPECT_THAT(solve("conv_transpose(1x1x2xf32, 1x1x1xf32; 1xf32)->1x1x5xf32 "
                    "{dilations=1 group=1 output_padding=2 pads=0,0 "
                    "strides=2} | add(2)",
                    {{3, 4}, {2}, {0.5}}),
              ElementsAre(6.5, 0.5, 8.5, 0.5, 0.5));
}

TEST_F(Reference, givesTheGradientOfWeights) {
  Elements dy = PlainConv::makeY(), x = PlainConv::makeX(),
           expected(PlainConv::makeW().size(), 0);
  PlainConv::forProducts([&](int64_t in, int64_t tap, int64_t y) {
    expected[tap] += dy[y] * x[in];
  });
  std::string attrs = " {dilations=2,2 group=2 pads=1,2,2,1 strides=2,3}";
  for (const char *layout : {"", ":nhwc", ":nchw4c"}) {
    std::string key = std::string("conv_backward_weights(2x6x7x6xf32") +
                      layout + ", 2x4x3x3xf32)->4x3x3x2xf32" + attrs;
    EXPECT_THAT(solve(key, {x, dy}), ElementsAreArray(expected)) << key;
  }
}

TEST_F(Reference, spreadsIntegersExactlyAndScalesPerChannelOfAGroup) {
  auto problem = parseProblem(
      "conv_transpose(1x2x1xu8q, 2x2x1xi8q)->1x4x1xf32 {dilations=1 group=2 "
      "output_padding=0 pads=0,0 strides=1}");
  ASSERT_TRUE(mlir::succeeded(problem));
  problem->operands[0].scales = {0.5f};
  problem->operands[0].zeroPoint = 3;
  problem->operands[1].scales = {0.25f, 2.0f};
  problem->operands[1].quantAxis = 1;
  // Stored 5 and 0, less the zero point 2 and -3.
  Elements x = {1, -1.5}, w = {0.25, 2, 0.5, -4};
  EXPECT_THAT(solve(*problem, {x, w}), ElementsAre(0.25, 2, -0.75, 6));
}

TEST_F(Reference, convolvesIntegersExactlyAndScalesPerChannel) {
  auto problem = parseProblem("conv(1x2x1x1xu8q, 2x2x1x1xi8q)->1x2x1x1xf32 "
                              "{dilations=1,1 group=1 pads=0,0,0,0 "
                              "strides=1,1}");
  ASSERT_TRUE(mlir::succeeded(problem));
  problem->operands[0].scales = {0.5f};
  problem->operands[0].zeroPoint = 3;
  problem->operands[1].scales = {0.25f, 2.0f};
  problem->operands[1].quantAxis = 0;
  // Stored 5 and 0, less the zero point 2 and -3.
  EXPECT_THAT(solve(*problem, {{1.0, -1.5}, {0.25, 0.5, -2.0, 4.0}}),
              ElementsAre(0.25 - 0.75, -2.0 - 6.0));
}

TEST_F(Reference, requantisesToNearestEvenAndSaturates) {
  auto problem = parseProblem("relu(6xf32)->6xu8q");
  ASSERT_TRUE(mlir::succeeded(problem));
  problem->result.scales = {2.0f};
  problem->result.zeroPoint = 10;
  EXPECT_THAT(solve(*problem, {{-4, 1, 3, 5, 1e9, 490}}),
              ElementsAre(0, 0, 4, 4, 490, 490));
}

TEST_F(Reference, multipliesMatricesWithTransposesAndBatches) {
  Elements lhs = iota(2 * 3 * 4), rhs = iota(5 * 4, -7), expected;
  for (int64_t batch = 0; batch < 2; ++batch)
    for (int64_t m = 0; m < 3; ++m)
      for (int64_t n = 0; n < 5; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k)
          sum += lhs[(batch * 4 + k) * 3 + m] * rhs[n * 4 + k];
        expected.push_back(sum);
      }
  EXPECT_THAT(solve("matmul(2x4x3xf32, 5x4xf32)->2x3x5xf32 "
                    "{transpose_lhs=1 transpose_rhs=1}",
                    {lhs, rhs}),
              ElementsAreArray(expected));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

TEST_F(Reference, averagesCountOnlyWhatTheyShould) {
  Elements x = {1, 2, 3, 4, 5};
  std::string operand = "avg_pool(1x1x5xf32)->1x1x3xf32 {ceil_mode=1 ";
  std::string window = " dilations=1 kernel=3 pads=1,0 strides=2}";
  EXPECT_THAT(solve(operand + "count_include_pad=0" + window, {x}),
              ElementsAre(1.5, 3, 4.5));
  // The padding in front counts; the cell that ceil_mode adds does not.
  EXPECT_THAT(solve(operand + "count_include_pad=1" + window, {x}),
              ElementsAre(1, 3, 4.5));
}

TEST_F(Reference, paddingNeverWinsAMaximum) {
  EXPECT_THAT(solve("max_pool(1x1x3xf32)->1x1x4xf32 {ceil_mode=0 dilations=1 "
                    "kernel=2 pads=1,1 strides=1}",
                    {{-3, -1, -2}}),
              ElementsAre(-3, -1, -1, -2));
}

TEST_F(Reference, poolsWholeImages) {
  EXPECT_THAT(
      solve("global_avg_pool(1x2x2x2xf32:nhwc)->1x2x1x1xf32:nhwc", {iota(8)}),
      ElementsAre(1.5, 5.5));
  EXPECT_THAT(solve("global_max_pool(1x2x2x2xf32)->1x2x1x1xf32", {iota(8)}),
              ElementsAre(3, 7));
}

TEST_F(Reference, findsMaxima) {
  std::string attrs = " {ceil_mode=0 column_major=0 dilations=1 kernel=2 "
                      "pads=0,1 strides=1}";
  // Of equal maxima the first counts; padding never does, nor does a value less
  // than all others.
  constexpr double inf = INFINITY;
  EXPECT_THAT(
      solveAll("max_pool_indices(1x2x3xf32)->(1x2x3xf32, 1x2x3xi64)" + attrs,
               {{4, 4, 1, -inf, -inf, -7}}),
      ElementsAre(ElementsAre(4, 4, 1, -inf, -7, -7),
                  ElementsAre(0, 1, 2, -1, 5, 5)));
  // The second image starts at 8. Columns before rows.
  for (std::string layout : {"", ":nhwc", ":nchw4c"}) {
    auto solve = [&](int columnMajor) {
      return solveAll("max_pool_indices(2x1x2x4xf32" + layout +
                          ")->(2x1x1x2xf32" + layout + ", 2x1x1x2xi64" +
                          layout + ") {ceil_mode=0 column_major=" +
                          std::to_string(columnMajor) +
                          " dilations=1,1 kernel=2,2 pads=0,0,0,0 strides=2,2}",
                      {{1, 2, 3, 4, 5, 6, 7, 9, 8, 7, 6, 5, 4, 3, 2, 1}})
          .back();
    };
    EXPECT_THAT(solve(0), ElementsAre(5, 7, 8, 10)) << layout;
    EXPECT_THAT(solve(1), ElementsAre(3, 7, 8, 12)) << layout;
  }
}

TEST_F(Reference, putsMaximaBack) {
  // Elements 1 and 2 have one place; that of element 4 is in another channel.
  EXPECT_THAT(solve("max_unpool(1x2x3xf32, 1x2x3xi64)->1x2x4xf32 {sizes=4}",
                    {{1, 2, 3, 4, -5, 6}, {0, 2, 2, 4, 1, 7}}),
              ElementsAre(1, 0, 3, 0, 4, 0, 0, 6));
  EXPECT_THAT(solve("max_unpool(1x1x1x2xf64:nhwc, 1x1x1x2xi64:nhwc)->"
                    "1x1x2x3xf64:nhwc {sizes=2,3} | relu",
                    {{-2, 3}, {5, 1}}),
              ElementsAre(0, 3, 0, 0, 0, 0));
}

TEST_F(Reference, handsGradientsToTheMaxima) {
  std::string attrs = " {ceil_mode=0 dilations=1 kernel=2 pads=0,0 strides=1}";
  // Two windows share element 1 of channel 0; element 3 of channel 1 wins one.
  EXPECT_THAT(
      solve("max_pool_backward(1x2x3xf32, 1x2x3xi64)->1x2x4xf32" + attrs,
            {{1, 2, 4, 8, 16, 32}, {1, 1, 3, 4, 6, 7}}),
      ElementsAre(0, 3, 0, 4, 8, 0, 16, 32));
  EXPECT_THAT(solve("global_max_pool_backward(1x2x1xf32:nhwc, "
                    "1x2x1xi32:nhwc)->1x2x3xf32:nhwc",
                    {{5, 7}, {2, 3}}),
              ElementsAre(0, 0, 5, 7, 0, 0));
}

TEST_F(Reference, spreadsGradientsOfMeans) {
  std::string window = " dilations=1 kernel=3 pads=1,1 strides=2}";
  // The windows have 2, 3 and 2 cells inside.
  EXPECT_THAT(solve("avg_pool_backward(1x1x3xf32)->1x1x5xf32 {ceil_mode=0 "
                    "count_include_pad=0" +
                        window,
                    {{2, 6, 8}}),
              ElementsAre(1, 3, 2, 6, 4));
  EXPECT_THAT(solve("avg_pool_backward(1x1x3xf64)->1x1x5xf64 {ceil_mode=0 "
                    "count_include_pad=1" +
                        window,
                    {{3, 6, 9}}),
              ElementsAre(1, 3, 2, 5, 3));
  EXPECT_THAT(
      solve("global_avg_pool_backward(1x1x1x1xf32)->1x1x2x2xf32", {{8}}),
      ElementsAre(2, 2, 2, 2));
}

TEST_F(Reference, resizes) {
  auto resize = [&](const std::string &attrs, int64_t size,
                    const std::string &scale) {
    return solve("resize(1x1x4xf32)->1x1x" + std::to_string(size) +
                     "xf32 {cubic_a=-0.75 exclude_outside=0 extrapolation=9 "
                     "sizes=1,1," +
                     std::to_string(size) + " scales=1,1," + scale + " " +
                     attrs + "}",
                 {{1, 2, 3, 4}});
  };
  // Modes nearest and linear; half_pixel, align_corners, asymmetric and
  // tf_crop_and_resize.
  EXPECT_THAT(resize("mode=0 coordinates=3 rounding=2 roi=", 8, "2"),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(resize("mode=0 coordinates=0 rounding=0 roi=", 2, "0.5"),
              ElementsAre(1, 3));
  EXPECT_THAT(resize("mode=1 coordinates=0 rounding=0 roi=", 8, "2"),
              ElementsAre(1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4));
  EXPECT_THAT(resize("mode=1 coordinates=2 rounding=0 roi=", 7, "1.75"),
              ElementsAre(1, 1.5, 2, 2.5, 3, 3.5, 4));
  EXPECT_THAT(resize("mode=2 coordinates=3 rounding=0 roi=", 8, "2"),
              ElementsAre(1, 1.40625, 2, 2.5, 3, 3.59375, 4, 4.09375));
  EXPECT_THAT(
      resize("mode=1 coordinates=5 rounding=0 roi=0,0,0.5,1,1,1.5", 3, "0.75"),
      ElementsAre(2.5, 4, 9));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

TEST_F(Reference, normalisesBatches) {
  EXPECT_THAT(solve("batch_norm(1x2x2xf32, 2xf32, 2xf32, 2xf32, 2xf32)->"
                    "1x2x2xf32 {epsilon=0.25}",
                    {{1, 2, 3, 4}, {2, 3}, {1, -1}, {0, 1}, {0.75, 2}}),
              ElementsAre(3, 5, 3, 5));
}

TEST_F(Reference, normalisesByTheStatisticsOfTheBatch) {
  // Channel 0 holds 1, 3, 5, 7 and channel 1 holds 0, 0, 0, 4.
  auto results = solveAll(
      "batch_norm_training(2x2x2xf32, 2xf32, 2xf32, 2xf32, 2xf32)->(2x2x2xf32, "
      "2xf32, 2xf32, 2xf32, 2xf32) {epsilon=1 factor=0.25 spatial=1 "
      "unbiased=1}",
      {{1, 3, 0, 0, 5, 7, 0, 4}, {1, 2}, {0, 1}, {8, 0}, {0, 4}});
  // Variances 5 and 3, so that the deviations are sqrt(6) and 2.
  double d = std::sqrt(6);
  EXPECT_THAT(results[0],
              Pointwise(DoubleNear(1e-6),
                        {-3 / d, -1 / d, 0.0, 0.0, 1 / d, 3 / d, 0.0, 4.0}));
  EXPECT_THAT(results[1], ElementsAre(4, 1));
  EXPECT_THAT(results[2], Pointwise(DoubleNear(1e-6), {1 / d, 0.5}));
  EXPECT_THAT(results[3], ElementsAre(7, 0.25));
  EXPECT_THAT(results[4], Pointwise(DoubleNear(1e-6), {5.0 / 3, 4.0}));
}

TEST_F(Reference, normalisesEachPlaceOfAnImageByItself) {
  auto results = solveAll(
      "batch_norm_training(2x1x2xf32, 1x1x2xf32, 1x1x2xf32)->(2x1x2xf32, "
      "1x1x2xf32, 1x1x2xf32) {epsilon=3 spatial=0}",
      {{1, 5, 3, 5}, {2, 1}, {0, 7}});
  EXPECT_THAT(results[0], ElementsAre(-1, 7, 1, 7));
  EXPECT_THAT(results[1], ElementsAre(2, 5));
}

TEST_F(Reference, normalisesLayersAndGroups) {
  auto layer = solveAll("layer_norm(2x2x2xf32, 2xf32, 2x1xf32)->(2x2x2xf32, "
                        "2x1x1xf32, 2x1x1xf32) {axis=1 epsilon=4}",
                        {{1, 3, 5, 7, 2, 2, 2, 2}, {3, 6}, {0, 1}});
  EXPECT_THAT(layer[0], ElementsAre(-3, -2, 2, 7, 0, 0, 1, 1));
  EXPECT_THAT(layer[1], ElementsAre(4, 2));
  EXPECT_THAT(layer[2], Pointwise(DoubleNear(1e-6), {1 / 3.0, 0.5}));
  auto group = solveAll("group_norm(1x4x1xf32, 4xf32, 4xf32)->(1x4x1xf32, "
                        "1x2xf32, 1x2xf32) {epsilon=3 groups=2}",
                        {{1, 3, 6, 8}, {1, 2, 4, 8}, {0, 0, 1, 1}});
  EXPECT_THAT(group[0], ElementsAre(-0.5, 1, -1, 5));
  EXPECT_THAT(group[1], ElementsAre(2, 7));
}

TEST_F(Reference, softmaxSumsToOneAlongItsAxis) {
  Elements x = {0, 1, 2, 3, -50, 50};
  Elements expected;
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < 3; ++j)
        sum += std::exp(x[row * 3 + j] - x[row * 3 + i]);
      expected.push_back(1 / sum);
    }
  EXPECT_THAT(solve("softmax(2x3xf32)->2x3xf32 {axis=1}", {x}),
              Pointwise(DoubleNear(1e-6), expected));
  EXPECT_THAT(solve("softmax(2x3xf64)->2x3xf64 {axis=1}", {x}),
              Pointwise(DoubleNear(1e-14), expected));
}

TEST_F(Reference, normalisesOverNeighbouringChannels) {
  Elements x = {1, 2, 3, 4}, expected;
  for (int64_t c = 0; c < 4; ++c) {
    double sum = 0;
    for (int64_t d = std::max<int64_t>(0, c - 1);
         d <= std::min<int64_t>(3, c + 2); ++d)
      sum += x[d] * x[d];
    expected.push_back(x[c] / std::pow(2 + 0.5 / 4 * sum, 0.75));
  }
  std::string attrs = " {alpha=0.5 beta=0.75 bias=2 size=4}";
  EXPECT_THAT(solve("lrn(1x4x1xf32)->1x4x1xf32" + attrs, {x}),
              Pointwise(DoubleNear(1e-6), expected));
  EXPECT_THAT(solve("lrn(1x4x1xf64)->1x4x1xf64" + attrs, {x}),
              Pointwise(DoubleNear(1e-13), expected));
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

TEST_F(Reference, broadcastsAsNumPy) {
  EXPECT_THAT(
      solve("sub(2x1x3xf32, 2x1xf32)->2x2x3xf32",
            {{1, 2, 3, 4, 5, 6}, {10, 20}}),
      ElementsAre(-9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14));
}

TEST_F(Reference, computesWithIntegers) {
  EXPECT_THAT(solve("div(4xi64, 4xi64)->4xi64", {{7, -7, 5, 3}, {2, 2, 0, -1}}),
              ElementsAre(3, -3, 5, -3));
  EXPECT_THAT(solve("mul(2xi32, 2xi32)->2xi32", {{-3, 100000}, {7, 3}}),
              ElementsAre(-21, 300000));
  EXPECT_THAT(solve("clip(4xu8)->4xu8 {high=200 low=10}", {{0, 10, 199, 255}}),
              ElementsAre(10, 10, 199, 200));
}

TEST_F(Reference, activates) {
  Elements x = {-8, -1, -0.5, 0, 0.5, 2, 8};
  auto map = [&](auto function) {
    Elements expected;
    for (double value : x)
      expected.push_back(function(value));
    return Pointwise(DoubleNear(1e-6), expected);
  };
  auto unit = [](double v) { return std::min(std::max(v, 0.0), 1.0); };
  EXPECT_THAT(solve("sigmoid(7xf32)->7xf32", {x}),
              map([](double v) { return 1 / (1 + std::exp(-v)); }));
  EXPECT_THAT(solve("sigmoid(7xf64)->7xf64", {x}),
              map([](double v) { return 1 / (1 + std::exp(-v)); }));
  EXPECT_THAT(solve("hard_sigmoid(7xf32)->7xf32 {alpha=0.25 beta=0.5}", {x}),
              map([&](double v) { return unit(0.25 * v + 0.5); }));
  EXPECT_THAT(solve("hard_swish(7xf32)->7xf32", {x}),
              map([&](double v) { return v * unit(v / 6 + 0.5); }));
  EXPECT_THAT(solve("leaky_relu(7xf32)->7xf32 {alpha=0.125}", {x}),
              map([](double v) { return v < 0 ? v / 8 : v; }));
}

TEST_F(Reference, handsNaNOnThroughRelu) {
  Elements result = solve("relu(2xf32)->2xf32", {{NAN, -1}});
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 0);
}

TEST_F(Reference, appliesEpiloguesInOrder) {
  EXPECT_THAT(solve("add(2xf32, 2xf32; 1xf32, 2xf16)->2xf32 | mul(2) | "
                    "sub(3,swapped) | clip{high=3 low=-1}",
                    {{1, 2}, {3, 4}, {2}, {9, 20}}),
              ElementsAre(1, 3));
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

TEST_F(Reference, movesElements) {
  EXPECT_THAT(solve("concat(1x1x2xf32, 1x2x2xf32)->1x3x2xf32 {axis=1}",
                    {{1, 2}, {3, 4, 5, 6}}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(solve("concat(2x1xi64, 2x2xi64)->2x3xi64 {axis=1}",
                    {{1, 2}, {3, 4, 5, 6}}),
              ElementsAre(1, 3, 4, 2, 5, 6));
  EXPECT_THAT(solve("transpose(2x3xf32)->3x2xf32 {permutation=1,0}", {iota(6)}),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(solve("reshape(2x3xf32)->6xf32", {iota(6)}),
              ElementsAreArray(iota(6)));
}

TEST_F(Reference, pads) {
  auto pad = [&](const char *attrs) {
    return solve(std::string("pad(4xf32)->6xf32 {") + attrs + "}",
                 {{1, 2, 3, 4}});
  };
  EXPECT_THAT(pad("mode=0 pads=2,0 value=9"), ElementsAre(9, 9, 1, 2, 3, 4));
  EXPECT_THAT(pad("mode=1 pads=1,1 value=0"), ElementsAre(1, 1, 2, 3, 4, 4));
  EXPECT_THAT(pad("mode=2 pads=3,-1 value=0"), ElementsAre(4, 3, 2, 1, 2, 3));
  EXPECT_THAT(pad("mode=3 pads=3,-1 value=0"), ElementsAre(2, 3, 4, 1, 2, 3));
}

TEST_F(Reference, converts) {
  EXPECT_THAT(solve("convert(5xf32)->5xi32", {{1.9, -1.9, 2.5, 0, -7}}),
              ElementsAre(1, -1, 2, 0, -7));
  EXPECT_THAT(solve("convert(3xf64)->3xbool", {{0.25, 0, -3}}),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(solve("convert(2xi64)->2xf32", {{-5, 1 << 20}}),
              ElementsAre(-5, 1 << 20));
  EXPECT_THAT(solve("convert(2xf32)->2xbf16", {{1.00390625, 1.01171875}}),
              ElementsAre(1, 1.015625));
}
