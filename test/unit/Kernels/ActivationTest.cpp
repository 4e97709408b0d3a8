//===- ActivationTest.cpp - Elementwise operations against libm -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation against its definition, and each gradient against difference
// quotients of the definition.
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace tarpon;
using namespace tarpon::test;

using Elements = std::vector<double>;

namespace {
struct Operation {
  const char *op;
  const char *attrs;
  std::function<double(double)> define;
  bool isPositive = false; ///< defined on positive numbers only
};

class Activations : public testing::Test {
protected:
  void SetUp() override {
    auto created = SolverRunner::create("native");
    ASSERT_TRUE(created) << created.message();
    runner = std::move(*created);
  }

  Elements solve(const std::string &key, std::vector<Elements> operands) {
    auto problem = parseProblem(key);
    EXPECT_TRUE(mlir::succeeded(problem)) << key;
    auto result =
        runner->run(*problem, getReferenceSolver(), PerfConfig(), operands);
    EXPECT_TRUE(result) << result.message();
    return result ? result->front() : Elements();
  }

  std::unique_ptr<SolverRunner> runner;
};
} // namespace

static std::vector<Operation> listOperations() {
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  auto unit = [](double x) { return std::fmin(std::fmax(x, 0), 1); };
  auto elu = [](double x, double width) {
    return x < 0 ? std::expm1(x / width) : x;
  };
  auto gaussian = [](double x) {
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  };
  auto geluTanh = [](double x) {
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  return {
      {"abs", "", [](double x) { return std::fabs(x); }},
      {"acos", "", [](double x) { return std::acos(x); }},
      {"acosh", "", [](double x) { return std::acosh(x); }},
      {"asin", "", [](double x) { return std::asin(x); }},
      {"asinh", "", [](double x) { return std::asinh(x); }},
      {"atan", "", [](double x) { return std::atan(x); }},
      {"atanh", "", [](double x) { return std::atanh(x); }},
      {"ceil", "", [](double x) { return std::ceil(x); }},
      {"celu", " {alpha=0.5}",
       [=](double x) { return x < 0 ? 0.5 * elu(x, 0.5) : x; }},
      {"clip", " {high=0.75 low=-0.25}",
       [](double x) { return std::fmin(std::fmax(x, -0.25), 0.75); }},
      {"cos", "", [](double x) { return std::cos(x); }},
      {"elu", " {alpha=0.5}",
       [=](double x) { return x < 0 ? 0.5 * elu(x, 1) : x; }},
      {"erf", "", [](double x) { return std::erf(x); }},
      {"exp", "", [](double x) { return std::exp(x); }},
      {"floor", "", [](double x) { return std::floor(x); }},
      {"gelu", "", gaussian},
      {"gelu_tanh", "", geluTanh},
      {"hard_sigmoid", " {alpha=0.25 beta=0.5}",
       [=](double x) { return unit(0.25 * x + 0.5); }},
      {"hard_swish", "", [=](double x) { return x * unit(x / 6 + 0.5); }},
      {"leaky_relu", " {alpha=0.125}",
       [](double x) { return x < 0 ? x / 8 : x; }},
      {"log", "", [](double x) { return std::log(x); }, true},
      {"mish", "", [=](double x) { return x * std::tanh(softplus(x)); }},
      {"neg", "", [](double x) { return -x; }},
      {"power", " {exponent=1.5 scale=2 shift=0.5}",
       [](double x) { return std::pow(0.5 + 2 * x, 1.5); }, true},
      {"reciprocal", "", [](double x) { return 1 / x; }, true},
      {"relu", "", [](double x) { return std::fmax(x, 0); }},
      {"round", "", [](double x) { return std::nearbyint(x); }},
      {"selu", " {alpha=1.5 gamma=0.5}",
       [=](double x) { return 0.5 * (x < 0 ? 1.5 * elu(x, 1) : x); }},
      {"sigmoid", "", sigmoid},
      {"sign", "", [](double x) { return x > 0   ? 1
                                         : x < 0 ? -1
                                                 : 0; }},
      {"sin", "", [](double x) { return std::sin(x); }},
      {"softplus", "", softplus},
      {"softsign", "", [](double x) { return x / (1 + std::fabs(x)); }},
      {"sqrt", "", [](double x) { return std::sqrt(x); }, true},
      {"swish", " {alpha=1.5}", [=](double x) { return x * sigmoid(1.5 * x); }},
      {"tanh", "", [](double x) { return std::tanh(x); }},
      {"thresholded_relu", " {alpha=0.5}",
       [](double x) { return x > 0.5 ? x : 0; }},
  };
}

/// Numbers that are no corner of any operation, even if moved a little.
static Elements makeNumbers(bool isPositive) {
  Elements numbers;
  double first = isPositive ? 0.0625 : -9.8984375;
  for (int i = 0; first + 0.140625 * i < 10; ++i)
    numbers.push_back(first + 0.140625 * i);
  return numbers;
}

TEST_F(Activations, followTheirDefinition) {
  for (const Operation &operation : listOperations()) {
    Elements x = makeNumbers(operation.isPositive);
    for (const char *dtype : {"f32", "f64"}) {
      std::string shape = std::to_string(x.size()) + "x" + dtype;
      Elements y = solve(std::string(operation.op) + "(" + shape + ")->" +
                             shape + operation.attrs,
                         {x});
      ASSERT_EQ(y.size(), x.size());
      double step = dtype[1] == '3' ? 1e-6 : 1e-13;
      for (size_t i = 0; i < x.size(); ++i) {
        double expected = operation.define(x[i]);
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(y[i])) << operation.op << " of " << x[i];
        else
          EXPECT_NEAR(y[i], expected, step * std::fmax(1, std::fabs(expected)))
              << operation.op << " of " << x[i] << " in " << dtype;
      }
    }
  }
}

TEST_F(Activations, haveTheGradientOfTheirDefinition) {
  for (const Operation &operation : listOperations()) {
    Elements x = makeNumbers(operation.isPositive), dy;
    for (size_t i = 0; i < x.size(); ++i)
      dy.push_back(0.5 + double(i % 7));
    std::string shape = std::to_string(x.size()) + "xf64";
    Elements dx = solve(std::string(operation.op) + "_backward(" + shape +
                            ", " + shape + ")->" + shape + operation.attrs,
                        {dy, x});
    ASSERT_EQ(dx.size(), x.size());
    constexpr double h = 1e-5;
    for (size_t i = 0; i < x.size(); ++i) {
      double slope =
          (operation.define(x[i] + h) - operation.define(x[i] - h)) / (2 * h);
      if (std::isnan(slope))
        EXPECT_TRUE(std::isnan(dx[i])) << operation.op << " at " << x[i];
      else
        EXPECT_NEAR(dx[i], dy[i] * slope,
                    1e-5 * dy[i] * std::fmax(1, std::fabs(slope)))
            << operation.op << " at " << x[i];
    }
  }
}

TEST_F(Activations, combineTwoOperands) {
  EXPECT_EQ(solve("min(4xf32, 4xf32)->4xf32", {{1, -2, 3, 0}, {2, -3, 3, 5}}),
            (Elements{1, -3, 3, 0}));
  EXPECT_EQ(solve("max(4xi32, 4xi32)->4xi32", {{1, -2, 3, 0}, {2, -3, 3, 5}}),
            (Elements{2, -2, 3, 5}));
  EXPECT_EQ(solve("prelu(1x2x2xf32, 2x1xf32)->1x2x2xf32",
                  {{-1, 2, -3, -4}, {0.5, 0.25}}),
            (Elements{-0.5, 2, -0.75, -1}));
  EXPECT_EQ(
      solve("pow(5xf32, 5xf32)->5xf32", {{2, -2, 4, 0, 7}, {3, 3, 0.5, 2, 0}}),
      (Elements{8, -8, 2, 0, 1}));
  for (const char *op : {"min", "max"}) {
    Elements y =
        solve(std::string(op) + "(2xf32, 2xf32)->2xf32", {{NAN, 1}, {1, NAN}});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << op;
  }
}

TEST_F(Activations, takeIntegers) {
  EXPECT_EQ(solve("abs(3xi32)->3xi32", {{-7, 0, 7}}), (Elements{7, 0, 7}));
  EXPECT_EQ(solve("neg(3xi64)->3xi64", {{-7, 0, 7}}), (Elements{7, 0, -7}));
  EXPECT_EQ(solve("sign(3xi8)->3xi8", {{-7, 0, 7}}), (Elements{-1, 0, 1}));
}
