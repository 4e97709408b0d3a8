//===- GpuPropertyTest.cpp - GPU solvers on random problems ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuPropertyTest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using namespace tarpon::test;

void GpuPropertyTest::SetUp() {
  wanted = getNumber("TARPON_TEST_GPU_PROBLEMS", shortRun);
  std::string name = GetParam();
  firstSeed = getNumber("TARPON_TEST_SEED", 1);
  if (wanted <= shortRun) {
    static constexpr const char *kTested[] = {"gfx942", "gfx1100", "sm_90a"};
    auto index = llvm::find(kTested, name) - std::begin(kTested);
    if (index == std::ssize(kTested))
      GTEST_SKIP() << "tested in long runs";
    // Each of them has a share of the problems.
    wanted = llvm::divideCeil(wanted, std::size(kTested));
    firstSeed += index * 1000000;
  }
  auto hostRunner = SolverRunner::create("native");
  ASSERT_TRUE(hostRunner) << hostRunner.message();
  auto gpuRunner = SolverRunner::createEmulated(name);
  ASSERT_TRUE(gpuRunner) << gpuRunner.message();
  host = std::move(*hostRunner);
  gpu = std::move(*gpuRunner);
}

void GpuPropertyTest::check(const GpuCase &drawn) {
  SCOPED_TRACE(drawn.describe());
  auto expected =
      host->run(drawn.problem, getReferenceSolver(), {}, {}, drawn.seed);
  ASSERT_TRUE(expected) << expected.message();
  for (const Solver *solver : drawn.solvers) {
    std::vector<PerfConfig> configs =
        pickConfigs(*solver, drawn.problem, gpu->getTarget(), drawn.seed);
    EXPECT_FALSE(configs.empty()) << solver->id().str();
    for (const PerfConfig &config : configs) {
      SCOPED_TRACE(solver->id().str() + " {" + config.str() + "}");
      auto actual = gpu->run(drawn.problem, *solver, config, {}, drawn.seed);
      ASSERT_TRUE(actual) << actual.message();
      EXPECT_EQ(
          compare(drawn.problem, *actual, *expected, getStorageUlps(*solver)),
          "");
    }
  }
}
