//===- MathFunctionsTest.cpp - The errors of emitted functions ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the bounds that lib/Kernels/Common/MathFunctions.h states, through
// the elementwise ops that are nothing but the function, with and without fused
// multiply-add.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

using namespace tarpon;
using namespace tarpon::test;

using Elements = std::vector<double>;

namespace {
struct Case {
  const char *op;
  const char *attrs;
  double low, high;
  std::function<double(double)> exact;
  double bound, boundWithoutFma;
  /// The bounds grow by so many ulp per unit of |x|.
  double growth = 0;
};

class MathFunctions : public testing::TestWithParam<const char *> {};
} // namespace

/// Numbers of all magnitudes and both signs between `low` and `high`.
static Elements makeNumbers(double low, double high) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  Elements numbers;
  while (numbers.size() < 60000) {
    numbers.push_back(static_cast<float>(uniform(random)));
    auto bits = static_cast<uint32_t>(random());
    double any = std::bit_cast<float>(bits);
    if (any >= low && any <= high)
      numbers.push_back(any);
  }
  return numbers;
}

/// The error in units of the last place of the exact result as f32.
static double countUlps(double actual, double exact) {
  auto rounded = static_cast<float>(exact);
  if (actual == exact || actual == rounded)
    return 0;
  double magnitude = std::max<double>(std::fabs(rounded), 0x1p-126);
  return std::fabs(actual - exact) / std::ldexp(1, std::ilogb(magnitude) - 23);
}

static double exactSwish(double x) { return x / (1 + std::exp(-x)); }

static std::vector<Case> listCases() {
  return {
      {"exp", "", -104, 88.7, [](double x) { return std::exp(x); }, 1.5, 1.5},
      {"elu", " {alpha=1}", -30, -1e-30, [](double x) { return std::expm1(x); },
       1.5, 2},
      {"log", "", 1e-40, 3e38, [](double x) { return std::log(x); }, 1, 1},
      {"log", "", 0.5, 2, [](double x) { return std::log(x); }, 1, 1},
      {"softplus", "", -80, -1e-30,
       [](double x) { return std::log1p(std::exp(x)); }, 3, 3},
      {"tanh", "", -12, 12, [](double x) { return std::tanh(x); }, 3, 3},
      {"erf", "", -5, 5, [](double x) { return std::erf(x); }, 2.5, 2.5},
      {"sin", "", -1e5, 1e5, [](double x) { return std::sin(x); }, 1.5, 1.5},
      {"cos", "", -1e5, 1e5, [](double x) { return std::cos(x); }, 1.5, 1.5},
      {"sigmoid", "", -80, 80, [](double x) { return 1 / (1 + std::exp(-x)); },
       3, 3},
      {"swish", " {alpha=1}", -87, 87, exactSwish, 3, 3, 2.3},
      {"swish", " {alpha=-1.702}", -51, 51,
       [](double x) { return exactSwish(-1.702 * x) / -1.702; }, 3, 3,
       2.3 * 1.702},
      {"power", " {exponent=2.5 scale=1 shift=0}", 1e-14, 1e14,
       [](double x) { return std::pow(x, 2.5); }, 1, 1},
      {"acos", "", -1, 1, [](double x) { return std::acos(x); }, 1, 1},
      {"acosh", "", 1, 3e38, [](double x) { return std::acosh(x); }, 1, 1},
      {"acosh", "", 1, 2, [](double x) { return std::acosh(x); }, 1, 1},
      {"asin", "", -1, 1, [](double x) { return std::asin(x); }, 1, 1},
      {"asinh", "", -3e38, 3e38, [](double x) { return std::asinh(x); }, 1, 1},
      {"atan", "", -3e38, 3e38, [](double x) { return std::atan(x); }, 1, 1},
      {"atan", "", -3, 3, [](double x) { return std::atan(x); }, 1, 1},
      {"atanh", "", -1, 1, [](double x) { return std::atanh(x); }, 1, 1},
  };
}

TEST_P(MathFunctions, keepTheirBounds) {
  auto runner = SolverRunner::create(GetParam());
  ASSERT_TRUE(runner) << runner.message();
  bool hasFma = (*runner)->getTarget().hasFma;
  for (const Case &c : listCases()) {
    Elements numbers = makeNumbers(c.low, c.high);
    std::string shape = std::to_string(numbers.size()) + "xf32";
    auto problem =
        parseProblem(std::string(c.op) + "(" + shape + ")->" + shape + c.attrs);
    ASSERT_TRUE(mlir::succeeded(problem)) << c.op;
    auto result = (*runner)->run(*problem, *findSolver("elementwise-v1"),
                                 PerfConfig(), {numbers});
    ASSERT_TRUE(result) << result.message();
    const Elements &actual = result->front();
    double worst = 0, worstAt = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      double error = countUlps(actual[i], c.exact(numbers[i])) -
                     c.growth * std::fabs(numbers[i]);
      if (!(error <= worst)) {
        worst = error;
        worstAt = numbers[i];
      }
    }
    EXPECT_LE(worst, hasFma ? c.bound : c.boundWithoutFma)
        << c.op << " at " << worstAt;
    RecordProperty(c.op, std::to_string(worst));
  }
}

static double exactGelu(double x) {
  double tail = std::fabs(x) / 2 * std::erfc(std::fabs(x) / std::sqrt(2.0));
  return std::fmax(x, 0) - tail;
}

static double exactGeluTanh(double x) {
  double twice = 2 * std::sqrt(2 / std::numbers::pi);
  return x / (1 + std::exp(-twice * (x + 0.044715 * x * x * x)));
}

TEST_P(MathFunctions, keepTheBoundOfGelu) {
  auto runner = SolverRunner::create(GetParam());
  ASSERT_TRUE(runner) << runner.message();
  Elements numbers = makeNumbers(-12, 12);
  for (double far : {100.0, 1e30, 3e38})
    numbers.insert(numbers.end(), {far, -far});
  std::string shape = std::to_string(numbers.size()) + "xf32";
  for (auto [op, exact] : {std::pair{"gelu", &exactGelu},
                           std::pair{"gelu_tanh", &exactGeluTanh}}) {
    auto problem = parseProblem(op + ("(" + shape) + ")->" + shape);
    ASSERT_TRUE(mlir::succeeded(problem));
    auto result = (*runner)->run(*problem, *findSolver("elementwise-v1"),
                                 PerfConfig(), {numbers});
    ASSERT_TRUE(result) << result.message();
    for (size_t i = 0; i < numbers.size(); ++i) {
      double x = numbers[i];
      // What f32 rounds is below 4e-8 |x|, and only where x is positive.
      double bound = x < 0 ? 5.1e-7 : 5.1e-7 * std::fmax(1, x);
      EXPECT_NEAR(result->front()[i], exact(x), bound) << op << " of " << x;
    }
  }
}

TEST_P(MathFunctions, knowSpecialValues) {
  auto runner = SolverRunner::create(GetParam());
  ASSERT_TRUE(runner) << runner.message();
  const double inf = INFINITY;
  auto check = [&](const std::string &op, const Elements &x,
                   const Elements &expected, const std::string &attrs = "") {
    for (const char *dtype : {"f32", "f64"}) {
      std::string shape = std::to_string(x.size()) + "x" + dtype;
      auto problem = parseProblem(op + "(" + shape + ")->" + shape + attrs);
      ASSERT_TRUE(mlir::succeeded(problem)) << op;
      // The reference computes with scalars, the other with vectors.
      for (const Solver *solver :
           {&getReferenceSolver(), findSolver("elementwise-v1")}) {
        auto result = (*runner)->run(*problem, *solver, PerfConfig(), {x});
        ASSERT_TRUE(result) << result.message();
        const Elements &actual = result->front();
        for (size_t i = 0; i < x.size(); ++i)
          EXPECT_TRUE(std::fabs(actual[i] - expected[i]) <=
                          1e-14 * std::fabs(expected[i]) ||
                      actual[i] == expected[i] ||
                      (std::isnan(actual[i]) && std::isnan(expected[i])))
              << op << " of " << x[i] << " in " << dtype << " by "
              << solver->id().str() << " is " << actual[i];
      }
    }
  };
  check("exp", {-inf, inf, 0, NAN}, {0, inf, 1, NAN});
  check("log", {0, -1, inf, 1, NAN}, {-inf, NAN, inf, 0, NAN});
  check("tanh", {-inf, inf, 0, NAN}, {-1, 1, 0, NAN});
  check("erf", {-inf, inf, 0, NAN}, {-1, 1, 0, NAN});
  check("sin", {0, inf, NAN}, {0, NAN, NAN});
  check("softplus", {-inf, inf, NAN}, {0, inf, NAN});
  check("acos", {-2, 1, 2, -inf, inf, NAN}, {NAN, 0, NAN, NAN, NAN, NAN});
  check("asin", {-2, 0, 2, -inf, inf, NAN}, {NAN, 0, NAN, NAN, NAN, NAN});
  check("atan", {0, NAN}, {0, NAN});
  check("acosh", {-2, 0.5, 1, -inf, inf, NAN}, {NAN, NAN, 0, NAN, inf, NAN});
  check("asinh", {0, -inf, inf, NAN}, {0, -inf, inf, NAN});
  check("atanh", {-1, 0, 1, 2, -inf, NAN}, {-inf, 0, inf, NAN, NAN, NAN});
  check("sigmoid", {-inf, -1e4, 0, 1e4, inf, NAN}, {0, 0, 0.5, 1, 1, NAN});
  const Elements far = {-inf, -0x1p100, -1e4, 0, 1e4, 0x1p100, inf, NAN};
  // At minus infinity, swish is infinity times 0.
  check("swish", far, {NAN, 0, 0, 0, 1e4, 0x1p100, inf, NAN}, " {alpha=1}");
  check("swish", far, {-inf, -0x1p100, -1e4, 0, 0, 0, NAN, NAN}, " {alpha=-1}");
  check("gelu_tanh", {-1e9, 0, 1e9, inf, -NAN, NAN},
        {0, 0, 1e9, inf, NAN, NAN});
  check("gelu", {-0x1p100, -1e4, 0, 1e4, 0x1p100, inf, -NAN, NAN},
        {0, 0, 0, 1e4, 0x1p100, inf, NAN, NAN});
  check("mish", {inf, NAN}, {inf, NAN});
  check("sign", {-3, 0, 2, NAN}, {-1, 0, 1, NAN});
  check("round", {-2.5, -1.5, 0.5, 2.5}, {-2, -2, 0, 2});
  std::string square = " {exponent=2 scale=1 shift=0}";
  check("power", {-2, 0, 3, inf, NAN}, {4, 0, 9, inf, NAN}, square);
  std::string cube = " {exponent=3 scale=1 shift=0}";
  check("power", {-2, 0, 1, -inf}, {-8, 0, 1, -inf}, cube);
  std::string zero = " {exponent=0 scale=1 shift=0}";
  check("power", {-2, 0, NAN}, {1, 1, 1}, zero);
  check("power", {-2, 0}, {NAN, inf}, " {exponent=-0.5 scale=1 shift=0}");
}

/// Dividends and divisors of all magnitudes, some nearly multiples, and what is
/// special.
static std::array<Elements, 2> makeDivisions(bool isF64) {
  std::mt19937_64 random(3);
  std::array<Elements, 2> result;
  auto any = [&] {
    uint64_t bits = random();
    return isF64 ? std::bit_cast<double>(bits)
                 : double(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  };
  auto round = [&](double x) { return isF64 ? x : double(float(x)); };
  for (int i = 0; i < 3000; ++i) {
    double x = any(), y = any();
    if (i % 3 == 0)
      y = round(x / double(random() % 1000000 + 1));
    result[0].push_back(x);
    result[1].push_back(y);
  }
  const double specials[] = {0.0,
                             -0.0,
                             1,
                             -3,
                             INFINITY,
                             -INFINITY,
                             NAN,
                             isF64 ? 5e-324 : 0x1p-149,
                             isF64 ? 1.7e308 : 0x1.fffffep127};
  for (double x : specials)
    for (double y : specials) {
      result[0].push_back(x);
      result[1].push_back(y);
    }
  return result;
}

TEST_P(MathFunctions, divideWithExactRemainders) {
  auto runner = SolverRunner::create(GetParam());
  ASSERT_TRUE(runner) << runner.message();
  for (const char *dtype : {"f32", "f64"}) {
    auto [x, y] = makeDivisions(dtype[1] == '6');
    std::string shape = std::to_string(x.size()) + "x" + dtype;
    auto problem = parseProblem("fmod(" + shape + ", " + shape + ")->" + shape);
    ASSERT_TRUE(mlir::succeeded(problem));
    for (const Solver *solver :
         {&getReferenceSolver(), findSolver("elementwise-v1")}) {
      auto result = (*runner)->run(*problem, *solver, PerfConfig(), {x, y});
      ASSERT_TRUE(result) << result.message();
      for (size_t i = 0; i < x.size(); ++i) {
        double expected = std::fmod(x[i], y[i]), actual = result->front()[i];
        bool isSame = std::isnan(expected)
                          ? std::isnan(actual)
                          : actual == expected &&
                                std::signbit(actual) == std::signbit(expected);
        EXPECT_TRUE(isSame) << x[i] << " by " << y[i] << " in " << dtype
                            << " by " << solver->id().str() << " leaves "
                            << actual << ", not " << expected;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, MathFunctions,
                         testing::Values("native", "x86-64-v3", "x86-64-v2"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
