//===- GpuSolverPropertyTest.cpp ------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every GPU solver agrees with the host's reference on random problems of every
// dtype and layout that it takes, on the emulated device, which also looks for
// races and for accesses outside of buffers.
//
// TARPON_TEST_GPU_PROBLEMS: how many of each (16, which gfx942, gfx1100 and
// sm_90a share; 300 for a long run, which every GPU does); TARPON_TEST_SEED:
// the first one; TARPON_TEST_GPU_SOLVER: the only solver to be tested.
//
//===----------------------------------------------------------------------===//

#include "GpuProblems.h"
#include "SolverTest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <iostream>
#include <map>

using namespace tarpon;
using namespace tarpon::test;

namespace {

std::vector<std::string> combine(std::initializer_list<const char *> dtypes,
                                 std::initializer_list<const char *> layouts) {
  std::vector<std::string> kinds;
  for (std::string dtype : dtypes)
    for (const char *layout : layouts)
      kinds.push_back(dtype + " " + layout);
  return kinds;
}

/// Kinds of problems that solvers must not stop taking.
const std::map<std::string, std::vector<std::string>> &getClaims() {
  static const std::map<std::string, std::vector<std::string>> claims = {
      {"gpu-naive-v1", combine({"f32", "f16", "bf16", "u8q", "i8q"},
                               {"flat", "nchw", "nhwc", "blocked"})},
      {"gpu-fused-conv-v1", combine({"f32", "f16", "bf16"}, {"nhwc"})},
      {"gpu-separate-v1", combine({"f32", "f16", "bf16"}, {"nhwc"})},
      {"gpu-igemm-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-winograd-f2x3-v1", combine({"f32", "f16"}, {"nchw", "nhwc"})},
      {"gpu-gemm-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw"})},
      {"gpu-attention-v1", combine({"f16", "bf16"}, {"nchw"})},
      {"gpu-depthwise-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-elementwise-v1", combine({"f32", "f16", "bf16", "u8q", "i8q"},
                                     {"flat", "nchw", "nhwc", "blocked"})},
      {"gpu-convert-layout-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-global-pool-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-pool-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"nchw", "nhwc"})},
      {"gpu-softmax-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw"})},
      {"gpu-layernorm-v1", combine({"f32", "f16", "bf16"}, {"nchw", "nhwc"})},
      {"gpu-reduce-v1",
       combine({"f32", "f16", "bf16", "u8q", "i8q"}, {"flat", "nchw", "nhwc"})},
  };
  return claims;
}

class GpuSolverProperty : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  void check(const GpuCase &drawn);
  void checkCounts(const GpuProblems &problems);

  uint64_t wanted = 0, firstSeed = 0;
  std::unique_ptr<SolverRunner> host, gpu;
};

void GpuSolverProperty::SetUp() {
  constexpr uint64_t kShortRun = 16;
  wanted = getNumber("TARPON_TEST_GPU_PROBLEMS", kShortRun);
  std::string name = GetParam();
  firstSeed = getNumber("TARPON_TEST_SEED", 1);
  if (wanted <= kShortRun) {
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

void GpuSolverProperty::check(const GpuCase &drawn) {
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

void GpuSolverProperty::checkCounts(const GpuProblems &problems) {
  for (const auto &[solver, kinds] : getClaims())
    EXPECT_TRUE(findSolver(solver)) << solver;
  GpuProblems::Counts counts = problems.getCounts();
  for (const Solver *solver : getTestedGpuSolvers()) {
    std::string id = solver->id().str();
    auto claims = getClaims().find(id);
    ASSERT_TRUE(claims != getClaims().end()) << id;
    for (const std::string &kind : claims->second)
      EXPECT_GT(counts[id][kind], 0u) << id << " on " << kind;
    uint64_t total = 0, numKinds = 0;
    for (const auto &[kind, count] : counts[id]) {
      total += count;
      numKinds += count > 0;
      if (count > 0) {
        EXPECT_GE(count, wanted) << id << " on " << kind;
      }
    }
    EXPECT_GT(total, 0u) << id;
    std::cout << GetParam() << " " << id << ": " << total << " problems of "
              << numKinds << " dtypes and layouts\n";
  }
}

TEST_P(GpuSolverProperty, agreesWithReference) {
  GpuProblems problems(gpu->getTarget(), wanted, firstSeed);
  problems.draw([&](const GpuCase &drawn) {
    check(drawn);
    return !HasFatalFailure();
  });
  ASSERT_FALSE(HasFatalFailure());
  checkCounts(problems);
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuSolverProperty,
                         testing::Values("gfx90a", "gfx942", "gfx950",
                                         "gfx1100", "gfx1201", "sm_90a"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
