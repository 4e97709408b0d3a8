//===- LongSumTest.cpp - Sums of many terms -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference and every other solver must be right however many elements a
// sum has: a candidate that differs from a reference whose sums lost terms is
// called wrong. All are compared with the reference of the same problem in f64.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tarpon;
using namespace tarpon::test;

using Elements = std::vector<double>;

namespace {
struct LongSum {
  const char *name, *key;
  /// The solvers beside the reference that take the problem.
  int64_t solvers;
};

class LongSumTest : public testing::TestWithParam<LongSum> {
protected:
  void SetUp() override {
    auto created = SolverRunner::create("native");
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  std::vector<Elements> solve(const Problem &problem, const Solver &solver,
                              const std::vector<Elements> &operands) {
    auto results = runner->run(
        problem, solver, solver.defaultConfig(problem, runner->getTarget()),
        operands);
    EXPECT_TRUE(results) << results.message();
    return results ? *results : std::vector<Elements>(problem.numResults());
  }

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

/// Numbers from 0.5 to 1.5, which f32 represents: their sums grow steadily.
static std::vector<Elements> makeOperands(const Problem &problem) {
  std::mt19937_64 generator(1);
  std::vector<Elements> operands;
  for (const TensorDesc &desc : problem.operands) {
    Elements elements(desc.numElements());
    for (double &element : elements)
      element = 0.5 + static_cast<double>(generator() >> 41) * 0x1p-23;
    operands.push_back(std::move(elements));
  }
  return operands;
}

static Problem parse(const std::string &key) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  return *problem;
}

static double getError(const Elements &actual, const Elements &expected) {
  double error = 0, largest = 0;
  for (auto [got, wanted] : llvm::zip_equal(actual, expected)) {
    error = std::max(error, std::abs(got - wanted));
    largest = std::max(largest, std::abs(wanted));
  }
  return error / largest;
}

TEST_P(LongSumTest, everySolverIsRight) {
  std::string key = GetParam().key, wide = key;
  for (size_t at = 0; (at = wide.find("f32", at)) != std::string::npos;)
    wide.replace(at, 3, "f64");
  Problem problem = parse(key);
  std::vector<Elements> operands = makeOperands(problem);
  std::vector<Elements> expected =
      solve(parse(wide), getReferenceSolver(), operands);
  int64_t others = 0;
  for (const Solver *solver :
       getApplicableSolvers(problem, runner->getTarget())) {
    others += solver != &getReferenceSolver();
    std::vector<Elements> actual = solve(problem, *solver, operands);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(getError(actual[i], expected[i]), 4e-6)
          << solver->id().str() << ", result " << i << " of " << key;
  }
  EXPECT_EQ(others, GetParam().solvers);
}

INSTANTIATE_TEST_SUITE_P(
    Sums, LongSumTest,
    testing::Values(
        LongSum{"batchNormTraining",
                "batch_norm_training(4x2x512x512xf32, 2xf32, 2xf32)->"
                "(4x2x512x512xf32, 2xf32, 2xf32) {epsilon=1e-05 spatial=1}",
                1},
        LongSum{"batchNormTrainingNhwc",
                "batch_norm_training(4x2x512x512xf32:nhwc, 2xf32, 2xf32)->"
                "(4x2x512x512xf32:nhwc, 2xf32, 2xf32) {epsilon=1e-05 "
                "spatial=1}",
                1},
        LongSum{"batchNormTrainingPerActivation",
                "batch_norm_training(1048576x2xf32, 1x2xf32, 1x2xf32)->"
                "(1048576x2xf32, 1x2xf32, 1x2xf32) {epsilon=1e-05 spatial=0}",
                1},
        LongSum{"batchNormBackward",
                "batch_norm_backward(4x2x512x512xf32, 4x2x512x512xf32, 2xf32, "
                "2xf32, 2xf32)->(4x2x512x512xf32, 2xf32, 2xf32) "
                "{epsilon=1e-05 spatial=1}",
                1},
        LongSum{"batchNormBackwardNhwc",
                "batch_norm_backward(4x2x512x512xf32:nhwc, "
                "4x2x512x512xf32:nhwc, 2xf32, 2xf32, 2xf32)->"
                "(4x2x512x512xf32:nhwc, 2xf32, 2xf32) {epsilon=1e-05 "
                "spatial=1}",
                1},
        LongSum{"groupNormNhwc",
                "group_norm(1x4x512x512xf32:nhwc)->1x4x512x512xf32:nhwc "
                "{epsilon=1e-05 groups=1}",
                1},
        LongSum{"layerNorm",
                "layer_norm(2x1048576xf32)->2x1048576xf32 {axis=1 "
                "epsilon=1e-05}",
                1},
        LongSum{"softmax", "softmax(2x1048576xf32)->2x1048576xf32 {axis=1}", 2},
        LongSum{"softmaxOfColumns", "softmax(4096x4xf32)->4096x4xf32 {axis=0}",
                1},
        LongSum{"logSoftmax",
                "log_softmax(2x1048576xf32)->2x1048576xf32 {axis=1}", 1},
        LongSum{"softmaxBackward",
                "softmax_backward(2x1048576xf32, 2x1048576xf32)->"
                "2x1048576xf32 {axis=1}",
                1},
        LongSum{"logSoftmaxBackward",
                "log_softmax_backward(4096x2xf32, 4096x2xf32)->4096x2xf32 "
                "{axis=0}",
                1},
        LongSum{"reduceSum", "reduce_sum(4194304xf32)->f32 {axes=0 keepdims=0}",
                1},
        LongSum{"reduceMeanOfColumns",
                "reduce_mean(1048576x4xf32)->4xf32 {axes=0 keepdims=0}", 1},
        LongSum{"reduceL2OfRows",
                "reduce_l2(262144x2x8xf32)->2xf32 {axes=0,2 keepdims=0}", 1},
        LongSum{"reduceLogSumExp",
                "reduce_log_sum_exp(1048576xf32)->f32 {axes=0 keepdims=0}", 1},
        LongSum{"globalAveragePool",
                "global_avg_pool(1x2x1024x1024xf32)->1x2x1x1xf32", 1},
        LongSum{"convBackwardWeights",
                "conv_backward_weights(1x2x1024x1024xf32, 1x2x1024x1024xf32)->"
                "2x2x1x1xf32 {dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
                1}),
    [](const auto &info) { return std::string(info.param.name); });
