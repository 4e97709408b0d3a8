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
// TARPON_TEST_GPU_PROBLEMS: how many of each (16; 300 for a long run);
// TARPON_TEST_GPU_SOLVER: the only solver to be tested; GpuPropertyTest.h has
// the rest.
//
//===----------------------------------------------------------------------===//

#include "GpuPropertyTest.h"

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

class GpuSolverProperty : public GpuPropertyTest {
protected:
  GpuSolverProperty() : GpuPropertyTest(/*shortRun=*/16) {}
  void checkCounts(const GpuProblems &problems);
};

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
                         testing::ValuesIn(kEmulatedGpus),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
