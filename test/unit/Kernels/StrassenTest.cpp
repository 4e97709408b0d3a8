//===- StrassenTest.cpp - The scheme, its errors and what it takes --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"
#include "Host/Strassen/BilinearScheme.h"
#include "SolverTest.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

using namespace tarpon;
using namespace tarpon::test;

static const Solver &getSolver() { return *findSolver("strassen-v1"); }

//===----------------------------------------------------------------------===//
// The scheme
//===----------------------------------------------------------------------===//

namespace {
class StrassenScheme : public testing::TestWithParam<int64_t> {};
} // namespace

/// Each block of the result is the sum of left(i, k) * right(k, j), and of
/// nothing else.
TEST_P(StrassenScheme, multiplies) {
  strassen::BilinearScheme scheme = strassen::makeStrassenScheme(GetParam());
  int64_t parts = scheme.parts;
  EXPECT_EQ(parts, int64_t(1) << GetParam());
  EXPECT_EQ(scheme.rank(), GetParam() == 1 ? 7 : 49);
  std::map<std::array<int64_t, 3>, int> sums;
  for (const strassen::Product &product : scheme.products) {
    EXPECT_EQ(product.left.front().sign, 1);
    for (const strassen::Term &a : product.left)
      for (const strassen::Term &b : product.right)
        for (const strassen::Term &c : product.result)
          sums[{a.block, b.block, c.block}] += a.sign * b.sign * c.sign;
  }
  for (const auto &[blocks, sum] : sums) {
    auto [a, b, c] = blocks;
    bool belongs = a % parts == b / parts && a / parts == c / parts &&
                   b % parts == c % parts;
    EXPECT_EQ(sum, belongs ? 1 : 0) << a << " * " << b << " in " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, StrassenScheme, testing::Values(1, 2));

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Problem makeMatMul(int64_t rows, int64_t depth, int64_t columns) {
  std::string m = std::to_string(rows), k = std::to_string(depth),
              n = std::to_string(columns);
  return *parseProblem("matmul(" + m + "x" + k + "xf32, " + k + "x" + n +
                       "xf32:const)->" + m + "x" + n +
                       "xf32 {transpose_lhs=0 transpose_rhs=0}");
}

namespace {
class StrassenResult : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto created = SolverRunner::create(GetParam());
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

/// All configs that are offered, on blocks that are incomplete in all ways.
TEST_P(StrassenResult, agreesWithReference) {
  const TargetInfo &target = runner->getTarget();
  int tested = 0;
  for (uint64_t seed = 1; tested < 16; ++seed) {
    ProblemGenerator generator(seed);
    Problem problem = makeStrassenProblem(generator);
    if (!getSolver().isApplicable(problem, target))
      continue;
    ++tested;
    SCOPED_TRACE(problem.key());
    auto expected =
        runner->run(problem, getReferenceSolver(), PerfConfig(), {}, seed);
    ASSERT_TRUE(expected) << expected.message();
    std::vector<PerfConfig> configs = getSolver().configs(problem, target);
    for (size_t i : {seed % configs.size(), configs.size() - 1}) {
      SCOPED_TRACE(configs[i].str());
      ASSERT_TRUE(getSolver().isValidConfig(problem, target, configs[i]));
      auto actual = runner->run(problem, getSolver(), configs[i], {}, seed);
      ASSERT_TRUE(actual) << actual.message();
      EXPECT_EQ(compare(problem, *actual, *expected), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, StrassenResult,
                         testing::Values("native", "x86-64-v3"),
                         [](const auto &info) {
                           return std::string(info.index ? "avx2" : "native");
                         });

/// The error against sums in f64, which the header promises.
TEST(Strassen, keepsTheErrorBelowItsBound) {
  auto runner = SolverRunner::create("native");
  ASSERT_TRUE(runner) << runner.message();
  Problem problem = makeMatMul(48, 1024, 128);
  Problem exact = problem;
  for (TensorDesc *desc :
       {&exact.operands[0], &exact.operands[1], &exact.result})
    desc->dtype = DType::F64;
  std::vector<std::vector<double>> operands(2);
  operands[0] = makeOperand(problem, 0, /*seed=*/1);
  for (double &value : operands[0])
    value = static_cast<float>(value);
  auto expected =
      (*runner)->run(exact, getReferenceSolver(), PerfConfig(), operands);
  ASSERT_TRUE(expected) << expected.message();
  const TargetInfo &target = (*runner)->getTarget();
  std::string n = std::to_string(target.lanes());
  for (auto [levels, bound] : {std::pair("1", 8e-7), std::pair("2", 2.4e-6)}) {
    std::string text =
        std::string("block_m=1,levels=") + levels + ",tile_m=6,tile_n=" + n;
    auto actual = (*runner)->run(problem, getSolver(), *PerfConfig::parse(text),
                                 operands);
    ASSERT_TRUE(actual) << actual.message();
    double errors = 0, squares = 0;
    for (size_t i = 0; i < actual->front().size(); ++i) {
      double wanted = expected->front()[i];
      errors += std::pow(actual->front()[i] - wanted, 2);
      squares += wanted * wanted;
    }
    EXPECT_LT(std::sqrt(errors / squares), bound) << levels << " levels";
  }
}

//===----------------------------------------------------------------------===//
// What it takes
//===----------------------------------------------------------------------===//

static std::string getReason(const char *key) {
  auto problem = parseProblem(key);
  EXPECT_TRUE(mlir::succeeded(problem)) << key;
  return getSolver().isApplicable(*problem, TargetInfo()).getReason().str();
}

TEST(Strassen, saysWhatItDoesNotTake) {
  EXPECT_EQ(getReason("matmul(16x64xf32, 64x64xf32:const)->16x64xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "");
  EXPECT_EQ(getReason("matmul(16x48xf32, 48x64xf32:const)->16x64xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "needs halves of the depth in whole lines");
  EXPECT_EQ(getReason("matmul(2x4096xf32, 4096x4096xf32:const)->2x4096xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "would pack more than 64 MiB of weights");
  EXPECT_EQ(getReason("matmul(15x64xf32, 64x64xf32:const)->15x64xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "needs 16 rows, and two vectors of columns");
  EXPECT_EQ(getReason("matmul(64x16xf32, 64x64xf32:const)->16x64xf32 "
                      "{transpose_lhs=1 transpose_rhs=0}"),
            "needs rows of the left-hand matrix");
  EXPECT_EQ(getReason("matmul(3x2x64xf32, 3x64x64xf32:const)->3x2x64xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "needs one right-hand matrix");
  EXPECT_EQ(getReason("matmul(2x64xf16, 64x64xf16:const)->2x64xf16 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "multiplies f32 only");
  EXPECT_EQ(getReason("matmul(16x64xf32, 64x64xf32)->16x64xf32 "
                      "{transpose_lhs=0 transpose_rhs=0}"),
            "needs a constant filter");
  EXPECT_EQ(getReason("conv(1x64x4x4xf32, 64x64x1x1xf32:const)->1x64x4x4xf32 "
                      "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}"),
            "needs an nhwc input and result");
  EXPECT_EQ(getReason("conv(1x64x4x4xf32:nhwc, 64x64x3x3xf32:const)->"
                      "1x64x4x4xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 "
                      "strides=1,1}"),
            "needs windows of one pixel, a stride of 1, no padding and one "
            "group");
  EXPECT_EQ(getReason("relu(1x8xf32)->1x8xf32"),
            "needs a convolution or a matrix product");
}

TEST(Strassen, ConfigsAreChecked) {
  Problem problem = makeMatMul(16, 96, 64);
  TargetInfo target;
  auto isValid = [&](const char *text) {
    return getSolver().isValidConfig(problem, target, *PerfConfig::parse(text));
  };
  EXPECT_TRUE(isValid("block_m=1,levels=1,tile_m=4,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=1,levels=2,tile_m=4,tile_n=8"))
      << "a quarter of the depth is no whole line";
  EXPECT_FALSE(getSolver().isValidConfig(
      makeMatMul(16, 2048, 4096), target,
      *PerfConfig::parse("block_m=1,levels=2,tile_m=4,tile_n=8")))
      << "too much memory";
  EXPECT_FALSE(isValid("block_m=1,levels=0,tile_m=4,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=1,levels=3,tile_m=4,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=0,levels=1,tile_m=4,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=65,levels=1,tile_m=4,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=1,levels=1,tile_m=64,tile_n=8"));
  EXPECT_FALSE(isValid("block_m=1,tile_m=4,tile_n=8"));
}
