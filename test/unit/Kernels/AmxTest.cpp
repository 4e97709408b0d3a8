//===- AmxTest.cpp - Products in AMX's tile registers -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with AMX run on this machine, with their tile instructions replaced
// by calls (AmxEmulation.h), and are compared with the reference. Instructions
// are looked at in AmxInnerLoopTest.cpp.
//   TARPON_TEST_PROBLEMS  random problems that AMX solves (25)
//   TARPON_TEST_SEED      the first seed (1)
//
//===----------------------------------------------------------------------===//

#include "AmxEmulation.h"
#include "ProblemGenerator.h"
#include "SolverTest.h"

#include "Host/Solvers.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace tarpon;
using namespace tarpon::test;

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

static bool usesAmx(const PerfConfig &config) { return config.has("amx"); }

/// All tiles of AMX with blocks of 1 and 3 tiles of pixels, if the solver has
/// configs with AMX.
static std::vector<PerfConfig> makeAmxConfigs(const Solver &solver,
                                              const Problem &problem,
                                              const TargetInfo &target) {
  std::vector<PerfConfig> configs;
  if (llvm::none_of(solver.configs(problem, target), usesAmx))
    return configs;
  for (int64_t m : {16, 32})
    for (int64_t n : {16, 32})
      for (int64_t block : {1, 3})
        configs.push_back(
            {{"amx", 1}, {"tile_m", m}, {"tile_n", n}, {"block_m", block}});
  return configs;
}

namespace {
class Amx : public testing::Test {
protected:
  void SetUp() override;
  /// Solves the problem with up to `count` configs of each solver that has some
  /// with AMX; returns the number of solutions.
  int check(const Problem &problem, uint64_t seed, size_t count);
  void checkKeys(llvm::ArrayRef<const char *> keys);

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

void Amx::SetUp() {
  auto created = SolverRunner::createEmulatingAmx();
  ASSERT_TRUE(created) << created.message();
  runner = std::move(*created);
  if (!runner)
    GTEST_SKIP() << "this CPU has no vectors of 512 bits";
}

int Amx::check(const Problem &problem, uint64_t seed, size_t count) {
  const TargetInfo &target = runner->getTarget();
  std::optional<std::vector<std::vector<double>>> expected;
  int solutions = 0;
  std::mt19937_64 random(seed);
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    std::vector<PerfConfig> configs = makeAmxConfigs(*solver, problem, target);
    std::shuffle(configs.begin(), configs.end(), random);
    configs.resize(std::min(configs.size(), count));
    for (const PerfConfig &config : configs) {
      SCOPED_TRACE("solver " + solver->id().str() + " {" + config.str() + "}");
      EXPECT_TRUE(solver->isValidConfig(problem, target, config));
      if (!expected) {
        auto reference =
            runner->run(problem, getReferenceSolver(), {}, {}, seed);
        EXPECT_TRUE(reference) << reference.message();
        if (!reference)
          return solutions;
        expected = std::move(*reference);
      }
      int64_t before = countEmulatedProducts();
      auto actual = runner->run(problem, *solver, config, {}, seed);
      EXPECT_TRUE(actual) << actual.message();
      if (!actual)
        return solutions;
      EXPECT_EQ(compare(problem, *actual, *expected), "");
      EXPECT_GT(countEmulatedProducts(), before);
      ++solutions;
    }
  }
  return solutions;
}

void Amx::checkKeys(llvm::ArrayRef<const char *> keys) {
  for (const char *key : keys)
    for (uint64_t seed : {1, 2}) {
      SCOPED_TRACE(key);
      std::string fault;
      auto problem = parseProblem(key, &fault);
      ASSERT_TRUE(mlir::succeeded(problem)) << fault;
      EXPECT_GT(check(*problem, seed, /*count=*/4), 0);
    }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// With tails of K, pixels and channels; padding, strides and taps in one run;
/// groups; every layout; residuals and requantisation.
TEST_F(Amx, convolvesBytes) {
  checkKeys(
      {"conv(2x64x7x5xu8q:nhwc, 70x64x1x1xi8q:const; 70x1x1xf32, "
       "2x70x7x5xi8q:nhwc)->2x70x7x5xu8q:nhwc {dilations=1,1 group=1 "
       "pads=0,0,0,0 strides=1,1} | add(2) | add(3) | relu",
       "conv(1x3x20x19xi8q:nhwc, 33x3x5x7xi8q:const)->1x33x10x10xf32:nhwc "
       "{dilations=1,1 group=1 pads=2,3,2,3 strides=2,2} | relu",
       "conv(1x70x9x9xi8q, 20x70x3x3xi8q:const; 1x20x9x9xf32)->1x20x9x9xi8q "
       "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | add(2)",
       "conv(1x96x6x7xu8q:nhwc, 30x32x3x2xi8q:const)->1x30x6x6xf16:nhwc "
       "{dilations=2,1 group=3 pads=2,0,2,0 strides=1,1}",
       "conv(1x64x5x5xi8q:nchw16c, 48x64x3x3xi8q:const)->"
       "1x48x5x5xi8q:nchw16c {dilations=1,1 group=1 pads=1,1,1,1 "
       "strides=1,1} | relu"});
}

TEST_F(Amx, convolvesBf16) {
  checkKeys(
      {"conv(2x40x7x5xbf16:nhwc, 70x40x1x1xbf16:const; 70x1x1xf32, "
       "2x70x7x5xbf16:nhwc)->2x70x7x5xbf16:nhwc {dilations=1,1 group=1 "
       "pads=0,0,0,0 strides=1,1} | add(2) | add(3) | relu",
       "conv(1x3x20x19xbf16:nhwc, 33x3x5x7xbf16:const)->"
       "1x33x10x10xf32:nhwc {dilations=1,1 group=1 pads=2,3,2,3 strides=2,2}",
       "conv(1x35x9x9xbf16, 20x35x3x3xbf16:const; 1x20x9x9xf32)->"
       "1x20x9x9xbf16 {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | "
       "add(2)",
       "conv(1x48x6x7xbf16:nhwc, 30x16x3x2xbf16)->1x30x6x6xbf16:nhwc "
       "{dilations=2,1 group=3 pads=2,0,2,0 strides=1,1} | sigmoid",
       "conv(1x40x5x5xbf16:nchw16c, 48x40x3x3xbf16:const)->"
       "1x48x5x5xbf16:nchw16c {dilations=1,1 group=1 pads=1,1,1,1 "
       "strides=1,1}",
       "conv(1x32x3x4x5xbf16:nhwc, 18x32x2x3x3xbf16:const)->"
       "1x18x2x4x5xbf16:nhwc {dilations=1,1,1 group=1 pads=0,1,1,0,1,1 "
       "strides=1,1,1}"});
}

/// Of a batch, with run-time filters, a single row, and sums that are kept
/// between blocks of a long K.
TEST_F(Amx, multipliesMatrices) {
  checkKeys(
      {"matmul(57x3000xbf16, 3000x70xbf16:const; 70xf32:const)->57x70xf32 "
       "{transpose_lhs=0 transpose_rhs=0} | add(2)",
       "matmul(57x5000xi8q, 70x5000xi8q:const)->57x70xf32 "
       "{transpose_lhs=0 transpose_rhs=1}",
       "matmul(1x300xu8q, 70x300xi8q:const)->1x70xu8q "
       "{transpose_lhs=0 transpose_rhs=1}",
       "matmul(3x20x41xbf16, 3x41x50xbf16; 3x1x50xf32)->3x20x50xbf16 "
       "{transpose_lhs=0 transpose_rhs=0} | add(2) | gelu",
       "matmul(2x33x65xi8q, 65x17xi8q)->2x33x17xi8q "
       "{transpose_lhs=0 transpose_rhs=0}"});
}

TEST_F(Amx, skipsTapsOfPadding) {
  checkKeys(
      {"conv(1x128x13x5xbf16:nhwc, 16x128x3x3xbf16:const)->"
       "1x16x13x5xbf16:nhwc {dilations=6,4 group=1 pads=6,4,6,4 "
       "strides=1,1}",
       "conv(1x1024x10x10xbf16:nhwc, 40x1024x3x3xbf16:const; "
       "1x40x10x10xbf16:nhwc)->1x40x10x10xbf16:nhwc {dilations=8,8 group=1 "
       "pads=8,8,8,8 strides=1,1} | add(2)"});
}

/// Problems of the generator that all solvers are tested with.
TEST_F(Amx, agreesWithReference) {
  constexpr uint64_t kMaxDraws = 100000;
  uint64_t wanted = getNumber("TARPON_TEST_PROBLEMS", 25), solved = 0;
  uint64_t first = getNumber("TARPON_TEST_SEED", 1), seed = first;
  for (; solved < wanted && seed < first + kMaxDraws; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + problem.key());
    solved += check(problem, seed, /*count=*/2) > 0;
    if (HasFatalFailure())
      return;
  }
  EXPECT_EQ(solved, wanted);
  RecordProperty("draws", static_cast<int>(seed - first));
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

static const char *const kBytes =
    "conv(1x64x14x14xu8q:nhwc, 64x64x3x3xi8q:const)->1x64x14x14xu8q:nhwc "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}";
static const char *const kBf16 =
    "conv(1x64x14x14xbf16:nhwc, 64x64x3x3xbf16:const)->1x64x14x14xbf16:nhwc "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}";
static const char *const kF32 =
    "conv(1x64x14x14xf32:nhwc, 64x64x3x3xf32:const)->1x64x14x14xf32:nhwc "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}";

/// An untuned model must not depend on kernels that have not been timed.
TEST(AmxConfigs, areBehindAllOthers) {
  TargetInfo target = *getCpuTarget("sapphirerapids", /*threads=*/1);
  ASSERT_TRUE(target.hasAmxInt8 && target.hasAmxBf16);
  TargetInfo without = target;
  without.hasAmxInt8 = without.hasAmxBf16 = false;
  const Solver &solver = getConvImplicitGemm();
  for (const char *key : {kBytes, kBf16}) {
    Problem problem = *parseProblem(key);
    std::vector<PerfConfig> all = solver.configs(problem, target),
                            others = solver.configs(problem, without);
    ASSERT_GT(all.size(), others.size());
    EXPECT_TRUE(std::equal(others.begin(), others.end(), all.begin()));
    EXPECT_TRUE(std::all_of(all.begin() + others.size(), all.end(), usesAmx));
    EXPECT_EQ(solver.defaultConfig(problem, target),
              solver.defaultConfig(problem, without));
    EXPECT_EQ(solver.expectedFraction(problem, target),
              solver.expectedFraction(problem, without));
  }
}

TEST(AmxConfigs, needTheCpu) {
  const Solver &solver = getConvImplicitGemm();
  PerfConfig config{{"amx", 1}, {"tile_m", 32}, {"tile_n", 32}, {"block_m", 1}};
  for (const char *cpu : {"x86-64-v3", "cascadelake", "icelake-server",
                          "cooperlake", "znver4", "znver5"}) {
    TargetInfo target = *getCpuTarget(cpu, /*threads=*/1);
    for (const char *key : {kBytes, kBf16}) {
      Problem problem = *parseProblem(key);
      EXPECT_FALSE(solver.isValidConfig(problem, target, config)) << cpu;
      EXPECT_TRUE(llvm::none_of(solver.configs(problem, target), usesAmx));
    }
  }
  TargetInfo target = *getCpuTarget("graniterapids", /*threads=*/1);
  EXPECT_TRUE(solver.isValidConfig(*parseProblem(kBytes), target, config));
  EXPECT_TRUE(solver.isValidConfig(*parseProblem(kBf16), target, config));
  EXPECT_FALSE(solver.isValidConfig(*parseProblem(kF32), target, config));
}

TEST(AmxConfigs, haveTilesOfAmx) {
  const Solver &solver = getConvImplicitGemm();
  TargetInfo target = *getCpuTarget("sapphirerapids", /*threads=*/1);
  Problem problem = *parseProblem(kBytes);
  auto isValid = [&](const char *text) {
    return solver.isValidConfig(problem, target, *PerfConfig::parse(text));
  };
  EXPECT_TRUE(isValid("amx=1,block_m=64,tile_m=16,tile_n=32"));
  EXPECT_FALSE(isValid("amx=1,block_m=65,tile_m=16,tile_n=32"));
  EXPECT_FALSE(isValid("amx=1,block_m=1,tile_m=14,tile_n=32"));
  EXPECT_FALSE(isValid("amx=1,block_m=1,tile_m=48,tile_n=16"));
  EXPECT_FALSE(isValid("amx=1,block_m=1,tile_m=32,tile_n=48"));
  EXPECT_FALSE(isValid("amx=0,block_m=1,tile_m=32,tile_n=32"));
  EXPECT_FALSE(isValid("amx=1,block_m=1,tile_m=32"));
  // This many vectors are no tile of registers.
  EXPECT_FALSE(isValid("block_m=1,tile_m=32,tile_n=32"));
}
