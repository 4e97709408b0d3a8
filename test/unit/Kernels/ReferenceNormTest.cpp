//===- ReferenceNormTest.cpp - Reference norms and reductions -------------===//
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

namespace {
class ReferenceNorm : public testing::Test {
protected:
  void SetUp() override {
    auto created = SolverRunner::create("native");
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  std::vector<Elements> solve(const std::string &key,
                              std::vector<Elements> operands) {
    std::string fault;
    auto problem = parseProblem(key, &fault);
    EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
    auto results =
        runner->run(*problem, getReferenceSolver(), PerfConfig(), operands);
    EXPECT_TRUE(results) << results.message();
    return results ? *results : std::vector<Elements>(problem->numResults());
  }

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

/// The result of batch normalisation in training, weighted with `weights`.
static double getLoss(const Elements &x, double scale, double epsilon,
                      const Elements &weights) {
  double mean = 0, variance = 0, loss = 0;
  double n = static_cast<double>(x.size());
  for (double value : x)
    mean += value / n;
  for (double value : x)
    variance += (value - mean) * (value - mean) / n;
  for (size_t i = 0; i < x.size(); ++i)
    loss += weights[i] * scale * (x[i] - mean) / std::sqrt(variance + epsilon);
  return loss;
}

TEST_F(ReferenceNorm, gradientsOfBatchNormAreSlopes) {
  Elements x = {0.5, -1, 2, 0.25}, dy = {1, -0.5, 0.25, 2};
  constexpr double scale = 1.5, epsilon = 0.125, step = 1e-5;
  auto results = solve("batch_norm_backward(2x1x2xf64, 2x1x2xf64, 1xf64)->"
                       "(2x1x2xf64, 1xf64, 1xf64) {epsilon=0.125 spatial=1}",
                       {x, dy, {scale}});
  for (size_t i = 0; i < x.size(); ++i) {
    Elements up = x, down = x;
    up[i] += step;
    down[i] -= step;
    double slope =
        (getLoss(up, scale, epsilon, dy) - getLoss(down, scale, epsilon, dy)) /
        (2 * step);
    EXPECT_NEAR(results[0][i], slope, 1e-8);
  }
  EXPECT_NEAR(results[1][0], getLoss(x, 1, epsilon, dy), 1e-12);
  EXPECT_NEAR(results[2][0], 2.75, 1e-12);
}

TEST_F(ReferenceNorm, gradientsTakeSavedStatistics) {
  // Mean 1 and inverse deviation 0.5 instead of the operand's own.
  auto results = solve("batch_norm_backward(2x1xf32, 2x1xf32, 1xf32, 1xf32, "
                       "1xf32)->(2x1xf32, 1xf32, 1xf32) {epsilon=0 spatial=1}",
                       {{3, 5}, {1, 3}, {2}, {1}, {0.5}});
  EXPECT_THAT(results[1], ElementsAre(7));
  EXPECT_THAT(results[2], ElementsAre(4));
  EXPECT_THAT(results[0], ElementsAre(1 - 2 - 3.5, 3 - 2 - 7));
}

TEST_F(ReferenceNorm, normalisesPlacesOfAnImageInInference) {
  EXPECT_THAT(solve("batch_norm_per_activation(2x1x2xf32, 1x1x2xf32, "
                    "1x1x2xf32, 1x1x2xf32, 1x1x2xf32)->2x1x2xf32 {epsilon=0}",
                    {{3, 4, 5, 8}, {1, 2}, {0, 1}, {1, 2}, {4, 1}})[0],
              ElementsAre(1, 5, 2, 13));
}

TEST_F(ReferenceNorm, gradientsOfLrnAreSlopes) {
  Elements x = {0.5, -1, 2, 0.25, 1.5}, dy = {1, -0.5, 0.25, 2, -1};
  constexpr double alpha = 0.5, beta = 0.75, bias = 1.5, step = 1e-5;
  // A window of four channels: one before and two behind.
  auto loss = [&](const Elements &input) {
    double sum = 0;
    for (int c = 0; c < 5; ++c) {
      double squares = 0;
      for (int d = std::max(0, c - 1); d <= std::min(4, c + 2); ++d)
        squares += input[d] * input[d];
      sum += dy[c] * input[c] * std::pow(bias + alpha / 4 * squares, -beta);
    }
    return sum;
  };
  auto results = solve("lrn_backward(1x5x1xf64, 1x5x1xf64)->1x5x1xf64 "
                       "{alpha=0.5 beta=0.75 bias=1.5 size=4}",
                       {x, dy});
  for (size_t i = 0; i < x.size(); ++i) {
    Elements up = x, down = x;
    up[i] += step;
    down[i] -= step;
    EXPECT_NEAR(results[0][i], (loss(up) - loss(down)) / (2 * step), 1e-8);
  }
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

TEST_F(ReferenceNorm, logSoftmaxIsTheLogarithm) {
  Elements x = {0, 1, -2, 300, -300, 299};
  Elements expected;
  for (size_t row = 0; row < 2; ++row) {
    double largest = row == 0 ? 1 : 300, sum = 0;
    for (size_t i = 0; i < 3; ++i)
      sum += std::exp(x[3 * row + i] - largest);
    for (size_t i = 0; i < 3; ++i)
      expected.push_back(x[3 * row + i] - largest - std::log(sum));
  }
  EXPECT_THAT(solve("log_softmax(2x3xf32)->2x3xf32 {axis=1}", {x})[0],
              Pointwise(DoubleNear(1e-4), expected));
}

TEST_F(ReferenceNorm, gradientsOfSoftmax) {
  Elements y = {0.25, 0.75}, dy = {2, 4};
  EXPECT_THAT(
      solve("softmax_backward(2x1xf32, 2x1xf32)->2x1xf32 {axis=0}", {y, dy})[0],
      ElementsAre(0.25 * (2 - 3.5), 0.75 * (4 - 3.5)));
  Elements logs = {std::log(0.25), std::log(0.75)};
  EXPECT_THAT(solve("log_softmax_backward(1x2xf32, 1x2xf32)->1x2xf32 {axis=1}",
                    {logs, dy})[0],
              Pointwise(DoubleNear(1e-6), {2 - 0.25 * 6, 4 - 0.75 * 6}));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TEST_F(ReferenceNorm, reduces) {
  Elements x = {1, -2, 3, 4, 5, -6};
  auto reduce = [&](const std::string &op, const char *result,
                    const char *attrs) {
    return solve("reduce_" + op + "(2x3xf32)->" + result + " {" + attrs + "}",
                 {x})[0];
  };
  const char *rows = "axes=1 keepdims=0", *columns = "axes=0 keepdims=1";
  EXPECT_THAT(reduce("sum", "2xf32", rows), ElementsAre(2, 3));
  EXPECT_THAT(reduce("sum", "1x3xf32", columns), ElementsAre(5, 3, -3));
  EXPECT_THAT(reduce("mean", "2xf32", rows),
              Pointwise(DoubleNear(1e-6), {2 / 3.0, 1.0}));
  EXPECT_THAT(reduce("max", "2xf32", rows), ElementsAre(3, 5));
  EXPECT_THAT(reduce("min", "1x3xf32", columns), ElementsAre(1, -2, -6));
  EXPECT_THAT(reduce("prod", "2xf32", rows), ElementsAre(-6, -120));
  EXPECT_THAT(reduce("l1", "2xf32", rows), ElementsAre(6, 15));
  EXPECT_THAT(reduce("l2", "2xf32", rows),
              Pointwise(DoubleNear(1e-6), {std::sqrt(14), std::sqrt(77)}));
  EXPECT_THAT(reduce("sum_square", "f32", "axes=0,1 keepdims=0"),
              ElementsAre(91));
  EXPECT_THAT(reduce("log_sum", "2xf32", rows),
              Pointwise(DoubleNear(1e-6), {std::log(2), std::log(3)}));
  double first = std::exp(1) + std::exp(-2) + std::exp(3);
  double second = std::exp(4) + std::exp(5) + std::exp(-6);
  EXPECT_THAT(reduce("log_sum_exp", "2xf32", rows),
              Pointwise(DoubleNear(1e-5), {std::log(first), std::log(second)}));
}

TEST_F(ReferenceNorm, reducesIntegersExactly) {
  EXPECT_THAT(solve("reduce_sum(3xi64)->i64 {axes=0 keepdims=0}",
                    {{1LL << 40, 1, -3}})[0],
              ElementsAre((1LL << 40) - 2));
  EXPECT_THAT(
      solve("reduce_l1(3xi32)->1xi32 {axes=0 keepdims=1}", {{-7, 2, -1}})[0],
      ElementsAre(10));
}

TEST_F(ReferenceNorm, findsTheFirstOrTheLast) {
  Elements x = {2, 5, 5, 1, 1, 0};
  auto find = [&](const char *op, bool last) {
    return solve(std::string(op) +
                     "(2x3xf32)->2x1xi64 {axis=1 keepdims=1 "
                     "select_last_index=" +
                     (last ? "1" : "0") + "}",
                 {x})[0];
  };
  EXPECT_THAT(find("arg_max", false), ElementsAre(1, 0));
  EXPECT_THAT(find("arg_max", true), ElementsAre(2, 1));
  EXPECT_THAT(find("arg_min", false), ElementsAre(0, 2));
}
