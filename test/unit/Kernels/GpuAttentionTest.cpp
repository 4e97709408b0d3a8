//===- GpuAttentionTest.cpp - Attention on GPUs against its definition ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/Solver.h"

#include <gmock/gmock.h>

#include <cmath>
#include <tuple>

using namespace tarpon;
using namespace tarpon::test;
using testing::Each;
using testing::HasSubstr;
using testing::IsNan;

using Elements = std::vector<double>;

static constexpr int64_t kQueries = 45, kKeys = 150, kChannels = 24;
static constexpr double kInfinity = INFINITY;

/// Numbers that f16 and bf16 have.
static Elements makeNumbers(int64_t count, int64_t factor) {
  Elements numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>(i * factor % 13) / 4 - 1.5);
  return numbers;
}

static const Elements kQuery = makeNumbers(kQueries * kChannels, 5),
                      kKey = makeNumbers(kKeys * kChannels, 7),
                      kValue = makeNumbers(kKeys * kChannels, 11);

/// The definition, in f64.
static Elements expectAttention(const Elements &mask, bool causal) {
  Elements result(kQueries * kChannels, 0);
  for (int64_t q = 0; q < kQueries; ++q) {
    Elements weights(kKeys, 0);
    double sum = 0;
    int64_t seen = causal ? q + kKeys - kQueries + 1 : kKeys;
    for (int64_t k = 0; k < seen; ++k) {
      double score = mask[q * kKeys + k];
      for (int64_t c = 0; c < kChannels; ++c)
        score += 0.25 * kQuery[q * kChannels + c] * kKey[k * kChannels + c];
      weights[k] = std::exp(score);
      sum += weights[k];
    }
    for (int64_t k = 0; k < kKeys; ++k)
      for (int64_t c = 0; c < kChannels; ++c)
        result[q * kChannels + c] +=
            weights[k] / sum * kValue[k * kChannels + c];
  }
  return result;
}

namespace {

/// Attention of one dtype on an emulated GPU.
class GpuAttention
    : public testing::TestWithParam<std::tuple<const char *, const char *>> {
protected:
  void SetUp() override {
    auto created = SolverRunner::createEmulated(std::get<0>(GetParam()));
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  Elements solve(const Elements &mask, bool causal, const PerfConfig &config,
                 const std::string &result = "f32") {
    auto results = runner->run(getProblem(causal, result), *solver, config,
                               {kQuery, kKey, kValue, mask});
    EXPECT_TRUE(results) << results.message();
    return results ? results->front() : Elements();
  }

  std::string getDtype() { return std::get<1>(GetParam()); }

  Problem getProblem(bool causal, const std::string &result) {
    std::string dtype = getDtype();
    std::string rows = "x24x" + dtype;
    std::string key = "attention(1x45" + rows + ", 1x150" + rows + ", 1x150" +
                      rows + ", 45x150xf32)->1x45x24x" + result + " {causal=";
    key += causal ? "1" : "0";
    key += " scale=0.25}";
    auto problem = parseProblem(key);
    EXPECT_TRUE(mlir::succeeded(problem)) << key;
    return *problem;
  }

  void expectNear(const Elements &actual, const Elements &expected,
                  const PerfConfig &config, double tolerance = 2e-5) {
    ASSERT_EQ(actual.size(), expected.size()) << config.str();
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], tolerance)
          << config.str() << ", element " << i;
  }

  /// Every block of keys, and every number of tiles of queries.
  std::vector<PerfConfig> getConfigs() {
    std::vector<PerfConfig> picked;
    for (const PerfConfig &config :
         solver->configs(getProblem(false, getDtype()), runner->getTarget()))
      if (config.get("waves") == 2)
        picked.push_back(config);
    EXPECT_FALSE(picked.empty());
    return picked;
  }

  const Solver *solver = findSolver("gpu-attention-v1");
  std::unique_ptr<SolverRunner> runner;
};

TEST_P(GpuAttention, followsItsDefinition) {
  Elements mask = makeNumbers(kQueries * kKeys, 3);
  // Probabilities are rounded to the dtype.
  double tolerance = getDtype() == "f16" ? 2e-3 : 2e-2;
  for (const PerfConfig &config : getConfigs())
    for (bool causal : {false, true})
      expectNear(solve(mask, causal, config, getDtype()),
                 expectAttention(mask, causal), config, tolerance);
}

/// They are sums of several numbers where the result is more exact.
TEST_P(GpuAttention, isExactInF32) {
  Elements mask = makeNumbers(kQueries * kKeys, 3);
  PerfConfig config =
      solver->defaultConfig(getProblem(true, "f32"), runner->getTarget());
  expectNear(solve(mask, true, config), expectAttention(mask, true), config);
}

/// Whole blocks of keys may be hidden, the first one among them.
TEST_P(GpuAttention, hidesKeys) {
  Elements mask(kQueries * kKeys, 0);
  for (int64_t q = 0; q < kQueries; ++q)
    for (int64_t k = 0; k < kKeys; ++k)
      if (k < 95 + q || k % 3 == 0)
        mask[q * kKeys + k] = -kInfinity;
  for (const PerfConfig &config : getConfigs())
    if (solver->isValidConfig(getProblem(false, "f32"), runner->getTarget(),
                              config))
      expectNear(solve(mask, false, config), expectAttention(mask, false),
                 config);
}

/// As the softmax of minus infinities does.
TEST_P(GpuAttention, givesNanWhereNothingIsSeen) {
  Elements mask(kQueries * kKeys, -kInfinity);
  EXPECT_THAT(solve(mask, false, getConfigs().front(), getDtype()),
              Each(IsNan()));
}

/// Exporters hide keys with the least finite number: a query that sees none
/// then has the mean of all values, as it has from the products and a softmax.
TEST_P(GpuAttention, weighsAllAlikeBehindTheLeastNumber) {
  Elements mask(kQueries * kKeys, -3.4028234663852886e38);
  Elements expected(kQueries * kChannels, 0);
  for (int64_t k = 0; k < kKeys; ++k)
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += kValue[k * kChannels + i % kChannels] / kKeys;
  PerfConfig config =
      solver->defaultConfig(getProblem(false, "f32"), runner->getTarget());
  expectNear(solve(mask, false, config), expected, config);
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, GpuAttention,
    testing::Combine(testing::Values("gfx90a", "gfx942", "gfx950", "gfx1100",
                                     "gfx1201", "sm_80", "sm_90a"),
                     testing::Values("f16", "bf16")),
    [](const auto &info) {
      return std::string(std::get<0>(info.param)) + "_" +
             std::get<1>(info.param);
    });

} // namespace

/// Says why it does not take a problem.
TEST(GpuAttentionSolver, refuses) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("sm_90a"));
  auto expectReason = [&](const char *key, const char *reason) {
    auto problem = parseProblem(key);
    ASSERT_TRUE(mlir::succeeded(problem)) << key;
    Applicability answer =
        checkApplicable(*findSolver("gpu-attention-v1"), *problem, target);
    EXPECT_FALSE(answer) << key;
    EXPECT_THAT(answer.getReason().str(), HasSubstr(reason)) << key;
  };
  expectReason("relu(1x8xf16)->1x8xf16", "is not an attention");
  expectReason("attention(1x8x8xf32, 1x8x8xf32, 1x8x8xf32)->1x8x8xf32 "
               "{causal=0 scale=1}",
               "needs a matrix instruction for f16 or bf16");
  expectReason("attention(1x8x8xf16, 1x8x8xbf16, 1x8x8xf16)->1x8x8xf16 "
               "{causal=0 scale=1}",
               "queries, keys and values differ in dtype");
  expectReason("attention(1x8x12xf16, 1x8x12xf16, 1x8x8xf16)->1x8x8xf16 "
               "{causal=0 scale=1}",
               "needs channels in multiples of 8");
  expectReason("attention(1x8x8xf16, 1x8x8xf16, 1x8x1024xf16)->1x8x1024xf16 "
               "{causal=0 scale=1}",
               "needs more registers for its channels than there are");
  expectReason("attention(1x8x64xf16, 1x30000000x64xf16, "
               "1x30000000x8xf16)->1x8x8xf16 {causal=0 scale=1}",
               "needs offsets of more than 31 bits");
}
