//===- AttentionTest.cpp - Attention against its definition ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"
#include "tarpon/Solver/Solver.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::Each;
using testing::IsNan;

using Elements = std::vector<double>;

static constexpr int64_t kQueries = 30, kKeys = 70, kChannels = 5;
static constexpr double kInfinity = INFINITY;

static const char *const kSolvers[] = {"reference-v1", "attention-fused-v1"};

static Elements makeNumbers(int64_t count, int64_t factor) {
  Elements numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>(i * factor % 13) / 6 - 1);
  return numbers;
}

static const Elements kQuery = makeNumbers(kQueries * kChannels, 5),
                      kKey = makeNumbers(kKeys * kChannels, 7),
                      kValue = makeNumbers(kKeys * kChannels, 11);

static Elements solve(const char *id, const Elements &mask, bool causal) {
  std::string key = "attention(1x30x5xf32, 1x70x5xf32, 1x70x5xf32, "
                    "30x70xf32)->1x30x5xf32 {causal=";
  key += causal ? "1" : "0";
  key += " scale=0.5}";
  auto runner = SolverRunner::create("native");
  auto problem = parseProblem(key);
  const Solver *solver = findSolver(id);
  EXPECT_TRUE(runner && mlir::succeeded(problem) && solver) << key;
  // Several blocks of keys, which are no whole tiles.
  PerfConfig config = solver->defaultConfig(*problem, (*runner)->getTarget());
  if (config.has("key_block"))
    config = {{"key_block", 10}, {"query_block", config.get("query_block")}};
  auto results =
      (*runner)->run(*problem, *solver, config, {kQuery, kKey, kValue, mask});
  EXPECT_TRUE(results) << results.message();
  return results ? results->front() : Elements();
}

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
        score += 0.5 * kQuery[q * kChannels + c] * kKey[k * kChannels + c];
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

static void expectNear(const Elements &actual, const Elements &expected,
                       const char *id) {
  ASSERT_EQ(actual.size(), expected.size()) << id;
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-6) << id << ", element " << i;
}

TEST(Attention, followsItsDefinition) {
  Elements mask = makeNumbers(kQueries * kKeys, 3);
  for (const char *id : kSolvers)
    for (bool causal : {false, true})
      expectNear(solve(id, mask, causal), expectAttention(mask, causal), id);
}

/// Whole blocks of keys may be hidden, the first one among them.
TEST(Attention, hidesKeys) {
  Elements mask(kQueries * kKeys, 0);
  for (int64_t q = 0; q < kQueries; ++q)
    for (int64_t k = 0; k < kKeys; ++k)
      if (k < 25 + q || k % 3 == 0)
        mask[q * kKeys + k] = -kInfinity;
  for (const char *id : kSolvers)
    expectNear(solve(id, mask, false), expectAttention(mask, false), id);
}

/// As the softmax of minus infinities does.
TEST(Attention, givesNanWhereNothingIsSeen) {
  Elements mask(kQueries * kKeys, -kInfinity);
  for (const char *id : kSolvers)
    EXPECT_THAT(solve(id, mask, false), Each(IsNan())) << id;
}
