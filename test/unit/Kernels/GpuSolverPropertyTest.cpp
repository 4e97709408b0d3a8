//===- GpuSolverPropertyTest.cpp ------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every GPU solver that takes a random problem agrees with the host's reference
// on it, on the emulated device, which also looks for races and for accesses
// outside of buffers.
//
// TARPON_TEST_GPU_PROBLEMS: how many problems per GPU (20; 300 for a long run);
// TARPON_TEST_SEED: the first one.
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"
#include "SolverTest.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class GpuSolverProperty : public testing::TestWithParam<const char *> {};

TEST_P(GpuSolverProperty, agreesWithReference) {
  auto host = SolverRunner::create("native");
  ASSERT_TRUE(host) << host.message();
  auto gpu = SolverRunner::createEmulated(GetParam());
  ASSERT_TRUE(gpu) << gpu.message();
  uint64_t count = getNumber("TARPON_TEST_GPU_PROBLEMS", 20);
  uint64_t first = getNumber("TARPON_TEST_SEED", 1);
  int solved = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + problem.key());
    const TargetInfo &target = (*gpu)->getTarget();
    auto solvers = getApplicableSolvers(problem, target);
    if (solvers.empty())
      continue;
    auto expected = (*host)->run(problem, getReferenceSolver(), {}, {}, seed);
    ASSERT_TRUE(expected) << expected.message();
    for (const Solver *solver : solvers)
      for (const PerfConfig &config : solver->configs(problem, target)) {
        SCOPED_TRACE(solver->id().str() + " {" + config.str() + "}");
        auto actual = (*gpu)->run(problem, *solver, config, {}, seed);
        ASSERT_TRUE(actual) << actual.message();
        EXPECT_EQ(compare(problem, *actual, *expected), "");
        ++solved;
      }
  }
  EXPECT_GT(solved, static_cast<int>(count / 2));
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuSolverProperty,
                         testing::Values("gfx942", "gfx1100"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
