//===- GpuSpillTest.cpp - Kernels of NVIDIA's GPUs stay in registers ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that keeps values in memory is refused by the backend, so that its
// config costs a compilation and brings nothing: solvers do not offer it.
// ptxas finds such kernels where there is no GPU.
//
// TARPON_TEST_GPU_PROBLEMS: how many random problems of each solver, dtype and
// layout have their configs compiled (1; 100 for a long run, which takes an
// hour); TARPON_TEST_SEED: the first one; TARPON_TEST_GPU_SOLVER: the only
// solver to be tested.
//
//===----------------------------------------------------------------------===//

#include "GpuProblems.h"
#include "SolverTest.h"
#include "tarpon/Targets/Compiler/LaunchKernel.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"
#include "tarpon/Targets/NVIDIA/PtxAssembler.h"

#include "gtest/gtest.h"

#include <iostream>
#include <set>

using namespace tarpon;
using namespace tarpon::test;

namespace {

class GpuSpill : public testing::Test {
protected:
  void SetUp() override {
    auto found = PtxAssembler::find();
    ASSERT_TRUE(found) << found.message();
    if (!*found)
      GTEST_SKIP() << "there is no ptxas";
  }

  /// Compiles the kernels of a solution that no other has had.
  void compile(const Solver &solver, const Problem &problem,
               const PerfConfig &config) {
    for (const LaunchPlan &launch :
         solver.plan(problem, target, config).launches) {
      if (!symbols.insert(launch.kernel.symbol).second)
        continue;
      auto compiled = backend->compile(getKernelSource(launch));
      EXPECT_TRUE(compiled) << compiled.message() << "\n{" << config.str()
                            << "} of " << problem.key();
    }
  }

  size_t countKernels() const { return symbols.size(); }

  const GpuTarget gpu = *parseGpuTarget("sm_90a");
  const TargetInfo target = makeGpuTargetInfo(gpu);

private:
  std::unique_ptr<KernelBackend> backend =
      makeNvidiaGpuBackend(gpu, GpuCodeForm::CodeObject);
  std::set<std::string> symbols;
};

} // namespace

TEST_F(GpuSpill, randomProblems) {
  GpuProblems problems(target, getNumber("TARPON_TEST_GPU_PROBLEMS", 1),
                       getNumber("TARPON_TEST_SEED", 1));
  problems.draw([&](const GpuCase &drawn) {
    SCOPED_TRACE(drawn.describe());
    for (const Solver *solver : drawn.solvers)
      for (const PerfConfig &config :
           pickConfigs(*solver, drawn.problem, target, drawn.seed))
        compile(*solver, drawn.problem, config);
    return true;
  });
  std::cout << countKernels() << " kernels\n";
  EXPECT_GT(countKernels(), 0u);
}

/// Kernels that once kept values in memory: long functions of 16 lanes at once,
/// in an epilogue and by themselves; operands of many pixels at once; bytes in
/// workgroups of 512 lanes; limits of registers; attention with a mask, or with
/// many chunks for each lane; and the windows of a depthwise producer.
TEST_F(GpuSpill, knownProblems) {
  const std::string register8 = "block_k=128,block_m=256,block_n=128,"
                                "groups_per_unit=0,inst=16,split_k=1,stages=1,"
                                "swizzle=1,wave_m=64,wave_n=64,waves_per_eu=0";
  auto makeGroups = [](int64_t inst, int64_t m, int64_t n, int64_t waveN,
                       int64_t waves) {
    std::string number = std::to_string(inst);
    return "block_k=128,block_m=" + std::to_string(m) +
           ",block_n=" + std::to_string(n) +
           ",groups_per_unit=0,inst=" + number +
           ",split_k=1,stages=2,swizzle=1,wave_m=" + number +
           ",wave_n=" + std::to_string(waveN) +
           ",waves_per_eu=" + std::to_string(waves);
  };
  const char *strided =
      "conv(2x72x1x30xu8q, 108x4x1x3xi8q:const; "
      "2x108x1x30xbf16)->2x108x1x30xf32 {dilations=2,1 group=18 pads=0,2,0,0 "
      "strides=3,1} | prelu(2,swapped) | erf | sin";
  const char *product =
      "matmul(13x14xi8q, 14x30xi8q:const; 13x30xf32:const)->13x30xf32 "
      "{transpose_lhs=0 transpose_rhs=0} | sigmoid | softplus | add(2)";
  const char *masked =
      "attention(2x33x8xbf16, 2x33x8xbf16, 2x33x40xbf16, 1x33x33xbf16)->"
      "2x33x40xbf16 {causal=1 scale=0.3}";
  const char *heads = "attention(1x8x512x64xf16, 1x8x512x64xf16, "
                      "1x8x512x64xf16)->1x8x512x64xf16 {causal=0 scale=0.125}";
  const char *window =
      "conv(1x56x4x10xbf16:nhwc, 56x1x5x4xbf16:const; 1x56x1x1xbf16:const, "
      "144x56x1x1xbf16:const, 1x144x1x1xf32:const)->1x144x3x3xbf16:nhwc "
      "{dilations=1,2 group=56 pads=2,0,1,1 strides=1,2} | add(2) | sigmoid | "
      "conv(3){dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | "
      "tanh_backward(4) | sigmoid";
  struct Known {
    const char *key, *solver;
    std::string config;
  };
  const Known cases[] = {
      {"asinh(1x40x1x7xu8q)->1x40x1x7xf32", "gpu-elementwise-v1",
       "workgroup=256"},
      {"asinh(1x40x1x7xu8q)->1x40x1x7xf32", "gpu-elementwise-v1",
       "workgroup=128"},
      {strided, "gpu-igemm-v1", register8},
      {strided, "gpu-igemm-v1", makeGroups(64, 64, 256, 128, 4)},
      {strided, "gpu-igemm-v1", makeGroups(128, 128, 192, 64, 0)},
      {strided, "gpu-igemm-v1", makeGroups(128, 128, 256, 64, 4)},
      {product, "gpu-gemm-v1", makeGroups(128, 128, 256, 64, 0)},
      {masked, "gpu-attention-v1", "key_block=128,query_tiles=2,waves=1"},
      {masked, "gpu-attention-v1", "key_block=32,query_tiles=1,waves=1"},
      {heads, "gpu-attention-v1", "key_block=64,query_tiles=2,waves=4"},
      {window, "gpu-fused-conv-v1",
       "block_k=32,block_m=128,block_n=64,groups_per_unit=4,inst=16,split_k=0,"
       "stages=1,swizzle=1,wave_m=32,wave_n=32,waves_per_eu=0"}};
  for (const auto &[key, id, text] : cases) {
    auto problem = parseProblem(key);
    ASSERT_TRUE(mlir::succeeded(problem)) << key;
    auto config = PerfConfig::parse(text);
    ASSERT_TRUE(mlir::succeeded(config)) << text;
    const Solver &solver = *findSolver(id);
    if (solver.isValidConfig(*problem, target, *config))
      compile(solver, *problem, *config);
  }
  EXPECT_GT(countKernels(), 6u);
}
