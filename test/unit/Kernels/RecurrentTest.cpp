//===- RecurrentTest.cpp - The recurrent reference by itself --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference solver against the definitions of ONNX's LSTM, GRU and RNN,
// written down once more in doubles.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"
#include "SolverTest.h"

#include "tarpon/Problem/Recurrent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;

namespace {

using Vector = std::vector<double>;
using Act = RecurrentActivation;

/// One direction of one element of the batch.
class Direction {
public:
  Direction(const Problem &problem, const std::vector<Vector> &operands,
            int64_t direction, int64_t element)
      : problem(problem), operands(operands), d(direction), b(element),
        steps(problem.operands[0].shape[0]),
        batch(problem.operands[0].shape[1]),
        directions(problem.operands[1].shape[0]),
        units(problem.operands[1].shape[2]),
        cell(*getRecurrentCell(problem.op)) {}

  void run(Vector &result) {
    h = initial(3);
    c = problem.op == OpKind::Lstm ? initial(4) : Vector(units, 0.0);
    int64_t length =
        std::clamp<int64_t>(static_cast<int64_t>(operands[2][b]), 0, steps);
    bool reversed = problem.ints("reversed")[d] != 0;
    for (int64_t step = 0; step < steps; ++step) {
      if (step >= length) {
        put(result, step, Vector(units, 0.0));
        continue;
      }
      int64_t time = reversed ? length - 1 - step : step;
      if (problem.op == OpKind::Lstm)
        lstm(time);
      else if (problem.op == OpKind::Gru)
        gru(time);
      else
        rnn(time);
      put(result, time, h);
    }
    put(result, steps, h);
    if (cell.states == 2)
      put(result, steps + 1, c);
  }

private:
  Vector initial(int operand) const {
    auto first = operands[operand].begin() + (d * batch + b) * units;
    return Vector(first, first + units);
  }

  void put(Vector &result, int64_t row, const Vector &values) const {
    std::copy(values.begin(), values.end(),
              result.begin() + ((row * directions + d) * batch + b) * units);
  }

  double input(int64_t gate, int64_t time, int64_t j) const {
    int64_t row = (time * batch + b) * directions + d;
    return operands[0][(row * cell.gates + gate) * units + j];
  }

  double product(int64_t gate, const Vector &state, int64_t j) const {
    int64_t line = (d * cell.gates + gate) * units + j;
    double sum = 0;
    for (int64_t k = 0; k < units; ++k)
      sum += operands[1][line * units + k] * state[k];
    return sum;
  }

  double peephole(int64_t index, int64_t j) const {
    return operands[5][(d * 3 + index) * units + j];
  }

  double activate(int64_t index, double x) const {
    int64_t at = d * cell.activations + index;
    double clip = problem.number("clip"),
           alpha = problem.attrs.at("alphas")[at],
           beta = problem.attrs.at("betas")[at];
    if (clip > 0)
      x = std::clamp(x, -clip, clip);
    switch (static_cast<Act>(problem.ints("activations")[at])) {
    case Act::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Act::Tanh:
      return std::tanh(x);
    case Act::Relu:
      return std::max(x, 0.0);
    case Act::Affine:
      return alpha * x + beta;
    case Act::LeakyRelu:
      return x < 0 ? alpha * x : x;
    case Act::ThresholdedRelu:
      return x < alpha ? 0 : x;
    case Act::ScaledTanh:
      return alpha * std::tanh(beta * x);
    case Act::HardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Act::Elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Act::Softsign:
      return x / (1 + std::fabs(x));
    case Act::Softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    }
    return NAN;
  }

  void lstm(int64_t time) {
    Vector next(units);
    bool coupled = problem.integer("input_forget") != 0;
    for (int64_t j = 0; j < units; ++j) {
      auto gate = [&](int64_t index) {
        return input(index, time, j) + product(index, h, j);
      };
      double i = activate(0, gate(0) + peephole(0, j) * c[j]);
      double f = coupled ? 1 - i : activate(0, gate(2) + peephole(2, j) * c[j]);
      c[j] = f * c[j] + i * activate(1, gate(3));
      double o = activate(0, gate(1) + peephole(1, j) * c[j]);
      next[j] = o * activate(2, c[j]);
    }
    h = next;
  }

  void gru(int64_t time) {
    Vector z(units), r(units), reset(units), next(units);
    bool linear = problem.integer("linear_before_reset") != 0;
    for (int64_t j = 0; j < units; ++j) {
      z[j] = activate(0, input(0, time, j) + product(0, h, j));
      r[j] = activate(0, input(1, time, j) + product(1, h, j));
      reset[j] = r[j] * h[j];
    }
    for (int64_t j = 0; j < units; ++j) {
      double bias = operands[4][d * units + j];
      double sum = linear ? r[j] * (product(2, h, j) + bias)
                          : product(2, reset, j) + bias;
      double candidate = activate(1, input(2, time, j) + sum);
      next[j] = (1 - z[j]) * candidate + z[j] * h[j];
    }
    h = next;
  }

  void rnn(int64_t time) {
    Vector next(units);
    for (int64_t j = 0; j < units; ++j)
      next[j] = activate(0, input(0, time, j) + product(0, h, j));
    h = next;
  }

  const Problem &problem;
  const std::vector<Vector> &operands;
  int64_t d, b, steps, batch, directions, units;
  RecurrentCell cell;
  Vector h, c;
};

/// A problem of the generator's in f32, without constants.
Problem makeProblem(uint64_t seed) {
  ProblemGenerator generator(seed);
  Problem problem = makeRecurrentProblem(generator);
  for (TensorDesc &operand : problem.operands) {
    operand.constant = false;
    if (operand.dtype != DType::I32 && operand.dtype != DType::I64)
      operand.dtype = DType::F32;
  }
  problem.result.dtype = DType::F32;
  return problem;
}

} // namespace

TEST(RecurrentReference, agreesWithDefinition) {
  auto runner = SolverRunner::create("native");
  ASSERT_TRUE(runner) << runner.message();
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Problem problem = makeProblem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + problem.key());
    std::vector<Vector> operands;
    for (size_t i = 0; i < problem.operands.size(); ++i) {
      operands.push_back(makeOperand(problem, i, seed));
      for (double &value : operands.back()) {
        // Small enough that states do not grow; as f32 holds them.
        if (i != 2)
          value = static_cast<float>(value / 4);
        else
          value = std::fmod(value, 8);
      }
    }
    auto actual = (*runner)->run(problem, getReferenceSolver(), PerfConfig(),
                                 operands, seed);
    ASSERT_TRUE(actual) << actual.message();
    Vector expected(problem.result.numElements());
    for (int64_t d = 0; d < problem.operands[1].shape[0]; ++d)
      for (int64_t b = 0; b < problem.operands[0].shape[1]; ++b)
        Direction(problem, operands, d, b).run(expected);
    EXPECT_EQ(compare(problem, *actual, {expected}), "");
  }
}
