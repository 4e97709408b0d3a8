//===- GpuWinogradTest.cpp - Winograd convolution on GPUs -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edges of images, errors against sums that are nearly exact, what is refused,
// and the machine code. Random problems are GpuSolverPropertyTest.cpp's.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include "tarpon/Kernels/GPU/GpuProductWork.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::Not;

static const Solver &getSolver() { return *findSolver("gpu-winograd-f2x3-v1"); }

/// Tiles and filters are rounded when they are transformed, too.
static constexpr double kStorageUlps = 2;

static Problem parse(const std::string &key) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  return *problem;
}

/// An image to one of as many pixels, with padding of one.
static Problem makeProblem(int64_t channels, int64_t outChannels, int64_t size,
                           const std::string &dtype,
                           const std::string &layout = ":nhwc",
                           int64_t batch = 1) {
  return parse(llvm::formatv(
      "conv({5}x{0}x{2}x{2}x{3}{4}, {1}x{0}x3x3x{3}:const)->"
      "{5}x{1}x{2}x{2}x{3}{4} {{dilations=1,1 group=1 pads=1,1,1,1 "
      "strides=1,1}",
      channels, outChannels, size, dtype, layout, batch));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

class GpuWinograd : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto hostRunner = SolverRunner::create("native");
    auto gpuRunner = SolverRunner::createEmulated(GetParam());
    ASSERT_TRUE(hostRunner && gpuRunner);
    host = std::move(*hostRunner);
    gpu = std::move(*gpuRunner);
  }

  std::vector<double> solve(const Problem &problem,
                            const std::vector<std::vector<double>> &operands) {
    const TargetInfo &target = gpu->getTarget();
    Applicability answer = checkApplicable(getSolver(), problem, target);
    EXPECT_TRUE(answer) << answer.getReason().str();
    auto actual =
        gpu->run(problem, getSolver(),
                 getSolver().defaultConfig(problem, target), operands);
    EXPECT_TRUE(actual) << actual.message();
    return actual ? actual->front() : std::vector<double>();
  }

  std::vector<double>
  solveOnHost(const Problem &problem,
              const std::vector<std::vector<double>> &operands) {
    auto expected =
        host->run(problem, getReferenceSolver(), PerfConfig(), operands);
    EXPECT_TRUE(expected) << expected.message();
    return expected->front();
  }

  void check(const Problem &problem) {
    SCOPED_TRACE(problem.key());
    std::vector<std::vector<double>> operands;
    for (size_t i = 0; i < problem.operands.size(); ++i)
      operands.push_back(makeOperand(problem, i, /*seed=*/5));
    EXPECT_EQ(compare(problem, {solve(problem, operands)},
                      {solveOnHost(problem, operands)}, kStorageUlps),
              "");
  }

  std::unique_ptr<SolverRunner> host, gpu;
};

} // namespace

/// Tiles that reach beyond the image, channels that fill no vector, and layouts
/// that differ.
TEST_P(GpuWinograd, computesEdges) {
  struct Conv {
    int64_t batch, channels, height, width, outChannels;
    std::array<int64_t, 4> pads;
  };
  const Conv convs[] = {
      {2, 16, 6, 6, 16, {1, 1, 1, 1}},  {1, 8, 7, 9, 24, {0, 0, 0, 0}},
      {1, 20, 5, 12, 12, {2, 0, 1, 5}}, {3, 3, 9, 4, 9, {1, 2, 1, 2}},
      {1, 5, 18, 3, 35, {0, 1, 0, 1}},
  };
  const std::pair<const char *, const char *> layouts[] = {
      {":nhwc", ":nhwc"}, {"", ""}, {":nhwc", ""}, {"", ":nhwc"}};
  for (const char *dtype : {"f32", "f16"})
    for (const Conv &c : convs)
      for (auto [from, to] : layouts) {
        std::string result =
            llvm::formatv("{0}x{1}x{2}x{3}x{4}{5}", c.batch, c.outChannels,
                          c.height + c.pads[0] + c.pads[2] - 2,
                          c.width + c.pads[1] + c.pads[3] - 2, dtype, to);
        std::string bias = llvm::formatv("1x{0}x1x1xf32:const", c.outChannels);
        check(parse(llvm::formatv(
            "conv({0}x{1}x{2}x{3}x{4}{5}, {6}x{1}x3x3x{4}:const; {7}, "
            "{8})->{8} {{dilations=1,1 group=1 pads={9},{10},{11},{12} "
            "strides=1,1} | add(2) | add(3) | relu",
            c.batch, c.channels, c.height, c.width, dtype, from, c.outChannels,
            bias, result, c.pads[0], c.pads[1], c.pads[2], c.pads[3])));
      }
}

TEST_P(GpuWinograd, readsAndWritesSlices) {
  check(parse(
      "conv(1x16x7x5xf16:nhwc/40, 24x16x3x3xf16:const)->1x24x7x5xf16:nhwc/56 "
      "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | relu"));
}

/// Sums of splits go through a third part of the workspace.
TEST_P(GpuWinograd, splitsSums) {
  Problem problem = makeProblem(256, 16, 8, "f16");
  const TargetInfo &target = gpu->getTarget();
  PerfConfig config = getSolver().defaultConfig(problem, target);
  config.set("split_k", 2);
  ASSERT_TRUE(getSolver().isValidConfig(problem, target, config));
  SolutionPlan plan = getSolver().plan(problem, target, config);
  EXPECT_EQ(plan.launches.size(), 4u);
  EXPECT_LE(plan.workspaceBytes, getSolver().workspaceSize(problem, target));
  auto actual = gpu->run(problem, getSolver(), config, {}, 3);
  auto expected = host->run(problem, getReferenceSolver(), {}, {}, 3);
  ASSERT_TRUE(actual && expected);
  EXPECT_EQ(compare(problem, *actual, *expected, kStorageUlps), "");
}

static double getRelativeL2(const std::vector<double> &actual,
                            const std::vector<double> &expected) {
  double errors = 0, squares = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    errors += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    squares += expected[i] * expected[i];
  }
  return std::sqrt(errors / squares);
}

/// The bounds that GpuWinogradF2x3.cpp speaks of, whatever the channels.
TEST_P(GpuWinograd, keepsErrorsWithinTheirBounds) {
  for (int64_t channels : {1, 16, 67, 256}) {
    Problem half = makeProblem(channels, 16, 12, "f16");
    std::vector<std::vector<double>> operands = {
        makeOperand(half, 0, /*seed=*/1), {}};
    for (double &value : operands[0])
      value = std::round(value * 1024) / 1024;
    // f32 sums of the same numbers.
    Problem exact = half;
    exact.result.dtype = DType::F32;
    double error =
        getRelativeL2(solve(half, operands), solveOnHost(exact, operands));
    EXPECT_LT(error, 6e-4) << channels;
    EXPECT_GT(error, 2e-4) << "the test measures nothing";

    Problem single = makeProblem(channels, 16, 12, "f32");
    Problem wide = single;
    wide.operands[0].dtype = wide.operands[1].dtype = wide.result.dtype =
        DType::F64;
    EXPECT_LT(
        getRelativeL2(solve(single, operands), solveOnHost(wide, operands)),
        4e-7 * std::sqrt(std::max(1.0, channels / 64.0)))
        << channels;
  }
}

/// Tiles of the greatest f16, of alternating sign, do not overflow.
TEST_P(GpuWinograd, takesLargeNumbers) {
  Problem problem = makeProblem(8, 16, 8, "f16");
  problem.result.dtype = DType::BF16;
  std::vector<double> pixels(8 * 64);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = (i + i / 8) % 4 < 2 ? 65504 : -65504;
  EXPECT_EQ(compare(problem, {solve(problem, {pixels, {}})},
                    {solveOnHost(problem, {pixels, {}})}),
            "");
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuWinograd,
                         testing::Values("gfx942", "gfx1100"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

/// Runs a kernel whose symbol holds `kernel`, with all `from` replaced by `to`:
/// returns the emulator's complaint, or the first wrong result, or "".
static std::string runEdited(const std::string &kernel, const std::string &from,
                             const std::string &to) {
  Problem problem = makeProblem(16, 24, 9, "f16", ":nhwc", 2);
  bool isEdited = false;
  auto host = SolverRunner::create("native");
  auto gpu = SolverRunner::createEmulated("gfx942", [&](std::string text) {
    if (text.find(kernel) == std::string::npos)
      return text;
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
      isEdited = true;
    }
    return text;
  });
  EXPECT_TRUE(host && gpu);
  const TargetInfo &target = (*gpu)->getTarget();
  auto expected = (*host)->run(problem, getReferenceSolver(), {}, {}, 3);
  auto actual = (*gpu)->run(problem, getSolver(),
                            getSolver().defaultConfig(problem, target), {}, 3);
  EXPECT_TRUE(isEdited);
  EXPECT_TRUE(expected) << expected.message();
  return actual ? compare(problem, *actual, *expected, kStorageUlps)
                : actual.message();
}

/// Returns true if the fault concerns the kernel's behaviour and not its text.
static bool isCaught(const std::string &fault) {
  return fault.starts_with("result ") ||
         fault.find(" bytes at ") != std::string::npos ||
         fault.find("race") != std::string::npos;
}

TEST(GpuWinogradSolver, plantedFaults) {
  EXPECT_EQ(runEdited("winograd_f2_input", "cmpi ult", "cmpi ult"), "");
  // Pixels behind the edge count as inside, and are stored.
  std::string input = runEdited("winograd_f2_input", "cmpi ult", "cmpi ule");
  EXPECT_TRUE(isCaught(input)) << input;
  std::string output = runEdited("winograd_f2_output", "cmpi slt", "cmpi sle");
  EXPECT_TRUE(isCaught(output)) << output;
  // A sum where there should be a difference.
  std::string sign =
      runEdited("winograd_f2_output", "arith.subf", "arith.addf");
  EXPECT_TRUE(isCaught(sign)) << sign;
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static std::string getReason(const Problem &problem) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  return getSolver().isApplicable(problem, target).getReason().str();
}

TEST(GpuWinogradSolver, saysWhatItDoesNotTake) {
  Problem problem = makeProblem(16, 16, 8, "f16");
  EXPECT_EQ(getReason(problem), "");
  auto change = [&](auto edit) {
    Problem changed = problem;
    edit(changed);
    return getReason(changed);
  };
  EXPECT_EQ(change([](Problem &p) { p.attrs["strides"] = {2, 1}; }),
            "needs strides and dilations of 1");
  EXPECT_EQ(change([](Problem &p) { p.operands[1].shape[3] = 5; }),
            "needs a 3x3 filter");
  EXPECT_EQ(change([](Problem &p) { p.attrs["group"] = {2}; }),
            "needs one group");
  EXPECT_EQ(change([](Problem &p) { p.operands[1].constant = false; }),
            "needs a constant filter");
  EXPECT_EQ(
      change([](Problem &p) { p.operands[0].layout = {Layout::Blocked, 8}; }),
      "needs nchw or nhwc");
  EXPECT_EQ(change([](Problem &p) {
              p.operands[0].dtype = p.operands[1].dtype = DType::BF16;
            }),
            "needs an f16 or f32 input: the transforms amplify rounding "
            "errors");
  // These problems would show the errors of f16.
  EXPECT_THAT(change([](Problem &p) { p.result.dtype = DType::F32; }),
              HasSubstr("f16 or bf16 result"));
  EXPECT_THAT(getReason(makeProblem(16, 16, 3, "f16")),
              HasSubstr("256 results"));
  EXPECT_EQ(getReason(makeProblem(16, 16, 3, "f32")), "");
  auto withSteps = [&](std::vector<OpKind> ops) {
    return change([&](Problem &p) {
      for (OpKind op : ops) {
        EpilogueStep step;
        step.op = op;
        p.epilogue.push_back(step);
      }
    });
  };
  EXPECT_EQ(withSteps({OpKind::Relu}), "");
  EXPECT_EQ(withSteps({OpKind::Swish}), "");
  EXPECT_THAT(withSteps({OpKind::Sigmoid}), HasSubstr("magnitude"));
  EXPECT_THAT(withSteps({OpKind::Neg, OpKind::Elu}), HasSubstr("magnitude"));
  // M is eight times the result here.
  EXPECT_EQ(getReason(makeProblem(512, 512, 256, "f16", ":nhwc", 2)), "");
  EXPECT_THAT(getReason(makeProblem(512, 512, 256, "f16", ":nhwc", 4)),
              HasSubstr("2 GiB"));
}

TEST(GpuWinogradSolver, hasConfigs) {
  Problem problem = makeProblem(64, 64, 56, "f16", ":nhwc", 8);
  for (const std::string &chip : getGpuChips(GpuVendor::AMD)) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(chip));
    PerfConfig good = getSolver().defaultConfig(problem, target);
    std::vector<PerfConfig> configs = getSolver().configs(problem, target);
    EXPECT_EQ(configs.front(), good);
    EXPECT_GT(configs.size(), 4u);
    for (const PerfConfig &config : configs)
      EXPECT_TRUE(getSolver().isValidConfig(problem, target, config))
          << chip << " " << config.str();
    for (auto [field, value] : {std::pair<const char *, int64_t>{"out_tile", 4},
                                {"stages", 6},
                                {"more", 1}}) {
      PerfConfig bad = good;
      bad.set(field, value);
      EXPECT_FALSE(getSolver().isValidConfig(problem, target, bad)) << field;
      EXPECT_NE(getSolver().explainConfig(problem, target, bad), "");
    }
    PerfConfig ofEngine =
        findSolver("gpu-igemm-v1")->defaultConfig(problem, target);
    EXPECT_FALSE(getSolver().isValidConfig(problem, target, ofEngine));
  }
}

/// Products are what f32 waits for, and memory what f16 does.
TEST(GpuWinogradSolver, isRankedByWhatBinds) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  auto getFirst = [&](const Problem &problem) {
    return getApplicableSolvers(problem, target).front()->id().str();
  };
  EXPECT_EQ(getFirst(makeProblem(512, 512, 28, "f32", ":nhwc", 32)),
            "gpu-winograd-f2x3-v1");
  EXPECT_EQ(getFirst(makeProblem(256, 256, 14, "f16", ":nhwc", 64)),
            "gpu-igemm-v1");
  EXPECT_EQ(getFirst(makeProblem(8, 8, 4, "f32")), "gpu-igemm-v1");
}

/// 16 products for four results, and the transformed filter.
TEST(GpuWinogradSolver, tellsItsWork) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  Problem problem = makeProblem(64, 32, 14, "f32", ":nhwc", 2);
  GpuProductWork direct = getGpuProductWork(
      problem, findSolver("gpu-igemm-v1")->defaultConfig(problem, target));
  EXPECT_EQ(direct.flops, problem.flops());
  EXPECT_EQ(direct.results, 2 * 32 * 14 * 14);
  EXPECT_EQ(direct.constantBytes, 32 * 64 * 9 * 4);
  GpuProductWork work =
      getGpuProductWork(problem, getSolver().defaultConfig(problem, target));
  EXPECT_EQ(work.flops * 9, problem.flops() * 4);
  EXPECT_EQ(work.results, direct.results * 4);
  EXPECT_EQ(work.constantBytes * 9, direct.constantBytes * 16);
}

/// A 3 x 3 layer of ResNet-50, as compile-only tuning sees it.
TEST(GpuWinogradSolver, isModelled) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget("gfx942"));
  KernelCompiler compiler(target, nullptr, makeAmdGpuBackend(*target.gpu));
  Problem problem = makeProblem(256, 256, 14, "f32", ":nhwc", 64);
  auto estimate = [&](const Solver &solver) {
    auto result = compiler.estimate(problem, solver,
                                    solver.defaultConfig(problem, target));
    EXPECT_TRUE(result) << result.message();
    return *result;
  };
  SolutionEstimate winograd = estimate(getSolver());
  EXPECT_THAT(winograd.report, HasSubstr("kernel gpu_winograd_f2_input"));
  EXPECT_THAT(winograd.report, HasSubstr("kernel gpu_igemm_f32"));
  EXPECT_THAT(winograd.report, HasSubstr("kernel gpu_winograd_f2_output"));
  SolutionEstimate direct = estimate(*findSolver("gpu-igemm-v1"));
  EXPECT_LT(winograd.milliseconds, direct.milliseconds) << winograd.report;
  // No faster than the products that it saves.
  EXPECT_GT(winograd.milliseconds, direct.milliseconds / 2.25)
      << winograd.report;
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

/// Nothing is spilled, and where the channels allow it, transforms access 16
/// bytes at a time.
TEST(GpuWinogradSolver, hasWideAccesses) {
  for (const std::string &chip : getGpuChips(GpuVendor::AMD))
    for (const char *dtype : {"f16", "f32"})
      for (const char *layout : {":nhwc", ""}) {
        GpuTarget gpu = *parseGpuTarget(chip);
        TargetInfo target = makeGpuTargetInfo(gpu);
        Problem problem = makeProblem(64, 64, 14, dtype, layout, 8);
        SolutionPlan plan = getSolver().plan(
            problem, target, getSolver().defaultConfig(problem, target));
        ASSERT_EQ(plan.launches.front().buffers.size(), 2u);
        for (bool isInput : {true, false}) {
          const LaunchPlan &launch =
              isInput ? plan.launches.front() : plan.launches.back();
          KernelSource kernel = launch.kernel;
          SCOPED_TRACE(chip + " " + kernel.symbol);
          kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
          kernel.numParams = static_cast<int64_t>(launch.params.size());
          auto object = compileGpuKernel(kernel, gpu);
          ASSERT_TRUE(object) << object.message();
          const KernelResources &resources = object->kernels.front();
          EXPECT_EQ(resources.vectorSpills + resources.scalarSpills, 0);
          auto assembly = makeAmdGpuBackend(gpu)->printAssembly(kernel);
          ASSERT_TRUE(assembly) << assembly.message();
          EXPECT_THAT(*assembly, Not(HasSubstr("scratch_load")));
          EXPECT_THAT(*assembly, Not(HasSubstr("v_rcp_iflag")));
          bool isCdna = gpu.matrixUnit == MatrixUnit::Mfma;
          auto has = [&](const char *access) {
            EXPECT_THAT(*assembly, HasSubstr(std::string("global_") + access +
                                             (isCdna ? "_dwordx4" : "_b128")));
          };
          // In nchw the image's side is a channel at a time.
          if (*layout || !isInput)
            has("load");
          if (*layout || isInput)
            has("store");
        }
      }
}
