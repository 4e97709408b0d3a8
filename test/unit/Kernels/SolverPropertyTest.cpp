//===- SolverPropertyTest.cpp - Every solver against the reference --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random problems are solved by every solver that takes them and compared with
// the reference, on this machine's vectors and on narrower ones.
//   TARPON_TEST_PROBLEMS  problems per CPU (67)
//   TARPON_TEST_SEED      the first seed (1)
//   TARPON_TEST_SOLVER    only problems that this solver takes
//   TARPON_TEST_VERBOSE   print each solution before it runs, to find a crash
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"
#include "SolverTest.h"

#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>

using namespace tarpon;
using namespace tarpon::test;

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The default config and up to two others of the solver's, which differ from
/// problem to problem.
static std::vector<PerfConfig> chooseConfigs(const Solver &solver,
                                             const Problem &problem,
                                             const TargetInfo &target,
                                             uint64_t seed) {
  std::vector<PerfConfig> chosen = {solver.defaultConfig(problem, target)};
  std::vector<PerfConfig> all = solver.configs(problem, target);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2 && all.size() > 1; ++i) {
    const PerfConfig &config = all[random() % all.size()];
    if (std::find(chosen.begin(), chosen.end(), config) == chosen.end())
      chosen.push_back(config);
  }
  return chosen;
}

/// The solvers to compare with the reference; none if the problem is left out.
static std::vector<const Solver *> chooseSolvers(const Problem &problem,
                                                 const TargetInfo &target) {
  const char *only = std::getenv("TARPON_TEST_SOLVER");
  std::vector<const Solver *> solvers;
  for (const Solver *solver : getApplicableSolvers(problem, target))
    if (!only || solver->id() == only)
      solvers.push_back(solver);
  return solvers;
}

/// Counted beside the solvers.
static constexpr const char *kInPlace = "in place";

static constexpr const char *kCpus[] = {"native", "x86-64-v3", "x86-64-v2"};

namespace {
class SolverProperty : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override;
  void check(const Problem &problem, uint64_t seed);
  void checkKey(const char *key, uint64_t seed);
  /// Draws problems from `seed` on until each solver has solved one.
  void coverEverySolver(uint64_t seed);
  /// The result lies where each operand does that the solver may overwrite.
  void checkInPlace(const Problem &problem, const Solver &solver,
                    const PerfConfig &config,
                    const std::vector<std::vector<double>> &expected,
                    uint64_t seed);

  /// The place of the CPU in the list of all.
  static uint64_t getLevel() {
    return llvm::find(kCpus, llvm::StringRef(GetParam())) - std::begin(kCpus);
  }

  std::unique_ptr<SolverRunner> runner;
  std::map<std::string, int> solved;
};
} // namespace

void SolverProperty::SetUp() {
  auto created = SolverRunner::create(GetParam());
  ASSERT_TRUE(created) << created.message();
  runner = std::move(*created);
}

void SolverProperty::checkKey(const char *key, uint64_t seed) {
  SCOPED_TRACE(key);
  auto problem = parseProblem(key);
  ASSERT_TRUE(mlir::succeeded(problem));
  check(*problem, seed);
}

void SolverProperty::check(const Problem &problem, uint64_t seed) {
  const TargetInfo &target = runner->getTarget();
  std::vector<const Solver *> solvers = chooseSolvers(problem, target);
  if (solvers.empty())
    return;
  const Solver &reference = getReferenceSolver();
  auto expected = runner->run(problem, reference, PerfConfig(), {}, seed);
  ASSERT_TRUE(expected) << expected.message();
  ++solved[reference.id().str()];
  for (const Solver *solver : solvers) {
    if (solver == &reference)
      continue;
    for (const PerfConfig &config :
         chooseConfigs(*solver, problem, target, seed)) {
      SCOPED_TRACE("solver " + solver->id().str() + " {" + config.str() + "}");
      ASSERT_TRUE(solver->isValidConfig(problem, target, config));
      if (std::getenv("TARPON_TEST_VERBOSE"))
        std::cerr << problem.key() << ": " << solver->id().str() << " {"
                  << config.str() << "}\n";
      auto actual = runner->run(problem, *solver, config, {}, seed);
      ASSERT_TRUE(actual) << actual.message();
      EXPECT_EQ(compare(problem, *actual, *expected), "");
      ++solved[solver->id().str()];
      checkInPlace(problem, *solver, config, *expected, seed);
    }
  }
}

void SolverProperty::checkInPlace(
    const Problem &problem, const Solver &solver, const PerfConfig &config,
    const std::vector<std::vector<double>> &expected, uint64_t seed) {
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    if (problem.numResults() != 1 || problem.operands[i].constant ||
        !solver.mayOverwrite(problem, runner->getTarget(), i))
      continue;
    SCOPED_TRACE("in place of operand " + std::to_string(i));
    auto actual = runner->run(problem, solver, config, {}, seed, i);
    ASSERT_TRUE(actual) << actual.message();
    EXPECT_EQ(compare(problem, *actual, expected), "");
    ++solved[kInPlace];
  }
}

void SolverProperty::coverEverySolver(uint64_t seed) {
  constexpr uint64_t kMaxDraws = 20000;
  const TargetInfo &target = runner->getTarget();
  for (const Solver *solver : getHostSolvers()) {
    std::string id = solver->id().str();
    for (uint64_t draw = seed; !solved.count(id) && draw < seed + kMaxDraws;
         ++draw) {
      Problem problem = ProblemGenerator(draw).next();
      SCOPED_TRACE("seed " + std::to_string(draw) + ": " + problem.key());
      if (solver->isApplicable(problem, target))
        ASSERT_NO_FATAL_FAILURE(check(problem, draw));
    }
    EXPECT_TRUE(solved.count(id)) << id << " has solved no problem";
  }
}

TEST_P(SolverProperty, agreesWithReference) {
  // Each level has problems of its own.
  uint64_t count = getNumber("TARPON_TEST_PROBLEMS", 67);
  uint64_t first = getNumber("TARPON_TEST_SEED", 1) + getLevel() * count;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + problem.key());
    ASSERT_NO_FATAL_FAILURE(check(problem, seed));
  }
  if (getLevel() == 0 && !std::getenv("TARPON_TEST_SOLVER"))
    ASSERT_NO_FATAL_FAILURE(coverEverySolver(first + 3 * count));
  for (const auto &[solver, problems] : solved)
    RecordProperty(solver, problems);
}

/// Problems on which longer runs have failed.
TEST_P(SolverProperty, agreesOnWhatOnceFailed) {
  static const char *const kKeys[] = {
      // Each element three times, but only of the first two.
      "resize(3x33x3xi8q)->3x33x6xi8q {coordinates=0 cubic_a=-0.75 "
      "exclude_outside=0 extrapolation=0.5 mode=0 roi= rounding=2 "
      "scales=1,1,2.25 sizes=3,33,6}",
  };
  for (const char *key : kKeys)
    ASSERT_NO_FATAL_FAILURE(checkKey(key, /*seed=*/1));
}

/// Alone, behind whole tiles, of a batch, of one image each, and with sums that
/// are kept between blocks of a long K.
TEST_P(SolverProperty, multipliesLoneRows) {
  static const char *const kKeys[] = {
      "matmul(1x3000xf32, 70x3000xf32:const; 70xf32:const)->1x70xf32 "
      "{transpose_lhs=0 transpose_rhs=1} | add(2) | relu",
      "matmul(57x9000xf32, 9000x70xf32:const)->57x70xf32 "
      "{transpose_lhs=0 transpose_rhs=0}",
      "matmul(1x300xi8q, 70x300xi8q:const)->1x70xi8q "
      "{transpose_lhs=0 transpose_rhs=1}",
      "matmul(3x1x40xf32, 3x40x50xf32)->3x1x50xf32 "
      "{transpose_lhs=0 transpose_rhs=0}",
      "conv(2x32x1x1xf32, 48x32x1x1xf32:const)->2x48x1x1xf32 "
      "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}",
      "conv(1x32x7x7xbf16:nhwc, 48x32x1x1xbf16:const)->1x48x7x7xbf16:nhwc "
      "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1} | relu",
  };
  for (const char *key : kKeys)
    for (uint64_t seed : {1, 2, 3})
      ASSERT_NO_FATAL_FAILURE(checkKey(key, seed));
}

/// Tiles of pixels that read only padding by some taps: of groups, strides and
/// three dimensions, with the sums kept between blocks of a long K, and a pixel
/// that no tap reads input for.
TEST_P(SolverProperty, skipsTapsOfPadding) {
  static const char *const kKeys[] = {
      "conv(2x64x9x9xf32:nhwc, 35x64x3x3xf32:const; 35x1x1xf32)->"
      "2x35x9x9xf32:nhwc {dilations=7,5 group=1 pads=7,5,7,5 strides=1,1} | "
      "add(2) | relu",
      "conv(1x512x10x10xf32:nhwc, 70x512x3x3xf32:const; 1x70x10x10xf32:nhwc)->"
      "1x70x10x10xf32:nhwc {dilations=8,8 group=1 pads=8,8,8,8 strides=1,1} | "
      "add(2)",
      "conv(1x128x13x5xbf16:nhwc, 16x128x3x3xbf16:const)->"
      "1x16x13x5xbf16:nhwc {dilations=6,4 group=1 pads=6,4,6,4 strides=1,1}",
      "conv(1x192x11x12xf16, 40x192x3x3xf16:const)->1x40x6x12xf16 "
      "{dilations=9,10 group=1 pads=9,10,9,10 strides=2,1}",
      "conv(1x128x7x7xf32:nchw16c, 32x64x3x3xf32:const)->1x32x7x7xf32:nchw16c "
      "{dilations=5,6 group=2 pads=5,6,5,6 strides=1,1}",
      "conv(1x64x5x6x7xf32:nhwc, 8x64x3x2x3xf32:const)->1x8x5x6x7xf32:nhwc "
      "{dilations=4,6,5 group=1 pads=4,6,5,4,0,5 strides=1,1,1}",
      "conv(1x64x3xf32:nhwc, 20x64x2xf32)->1x20x9xf32:nhwc "
      "{dilations=2 group=1 pads=4,4 strides=1}",
  };
  for (const char *key : kKeys)
    ASSERT_NO_FATAL_FAILURE(checkKey(key, /*seed=*/1));
}

/// Whole vectors, which may lie in place on every CPU.
TEST_P(SolverProperty, worksInPlace) {
  static const char *const kKeys[] = {
      "add(2x64x5x5xf32:nhwc, 2x64x5x5xf32:nhwc)->2x64x5x5xf32:nhwc {}",
      "add(2x64x5x5xf32:nhwc, 64x1x1xf32)->2x64x5x5xf32:nhwc {} | relu",
      "mul(2x3x8x8xf16, 3x1x1xf16; 2x3x8x8xf16)->2x3x8x8xf16 {} | add(2)",
      "sigmoid(40000xf32)->40000xf32 {}",
  };
  for (const char *key : kKeys) {
    int before = solved[kInPlace];
    ASSERT_NO_FATAL_FAILURE(checkKey(key, /*seed=*/1));
    EXPECT_GT(solved[kInPlace], before);
  }
}

/// Kernels are cached and linked by their symbols: two that differ must not
/// have the same one, within a solver or across solvers.
TEST(KernelSymbols, nameTheirCode) {
  auto target = getHostTarget(/*threads=*/2, "x86-64-v3");
  ASSERT_TRUE(target) << target.message();
  KernelCompiler compiler = makeHostCompiler(*target, nullptr);
  std::map<std::string, std::pair<std::string, std::string>> seen;
  uint64_t count = 4 * getNumber("TARPON_TEST_PROBLEMS", 67);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    Problem problem = ProblemGenerator(seed).next();
    for (const Solver *solver : getApplicableSolvers(problem, *target)) {
      PerfConfig config = solver->defaultConfig(problem, *target);
      for (const LaunchPlan &launch :
           solver->plan(problem, *target, config).launches) {
        const std::string &symbol = launch.kernel.symbol;
        EXPECT_TRUE(std::all_of(symbol.begin(), symbol.end(), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        })) << symbol;
        std::string code = compiler.printMlir(launch.kernel);
        auto [entry, isNew] = seen.try_emplace(symbol, code, problem.key());
        EXPECT_TRUE(isNew || entry->second.first == code)
            << symbol << " is other code for " << problem.key() << " than for "
            << entry->second.second;
      }
    }
  }
}

/// Steps that are named as others are, or that take their operands in another
/// order.
TEST(KernelSymbols, tellStepsApart) {
  auto target = getHostTarget(/*threads=*/1, "x86-64-v3");
  ASSERT_TRUE(target) << target.message();
  auto getSymbol = [&](const std::string &epilogue,
                       const std::string &operands = "") {
    auto problem = parseProblem("relu(1x16x4x4xf32" + operands +
                                ")->1x16x4x4xf32 {} | " + epilogue);
    EXPECT_TRUE(mlir::succeeded(problem));
    const Solver *solver = findSolver("elementwise-v1");
    return solver->plan(*problem, *target, {}).launches.front().kernel.symbol;
  };
  EXPECT_NE(getSymbol("gelu_tanh"), getSymbol("gelu | tanh"));
  std::string one = "; 1x16x4x4xf32";
  EXPECT_NE(getSymbol("sub(1)", one), getSymbol("sub(1,swapped)", one));
  std::string two = "; 1x16x4x4xf32, 1x16x4x4xf32";
  EXPECT_NE(getSymbol("add(1) | mul(2)", two),
            getSymbol("add(2) | mul(1)", two));
}

INSTANTIATE_TEST_SUITE_P(Cpus, SolverProperty, testing::ValuesIn(kCpus),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
