//===- RecurrentProblems.cpp - Random recurrent layers --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few steps, one or two directions, hidden units in no multiple of a vector,
// and elements that end before the last step.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include "tarpon/Problem/Recurrent.h"

using namespace tarpon;
using namespace tarpon::test;

/// Appends an operand of floats.
static void addOperand(ProblemGenerator &random, Problem &problem,
                       std::vector<int64_t> shape) {
  problem.operands.push_back(random.makeTensor(std::move(shape), Layout()));
  random.setType(problem.operands.back(), DType::F32, false);
}

/// Sigmoids and hyperbolic tangents mostly, since others let states grow.
static void addActivations(ProblemGenerator &random, Problem &problem,
                           int64_t directions) {
  std::vector<double> activations, alphas, betas;
  RecurrentCell cell = *getRecurrentCell(problem.op);
  for (int64_t i = 0; i < directions * cell.activations; ++i) {
    bool repeats = i >= cell.activations && random.chance(80);
    activations.push_back(
        repeats ? activations[i - cell.activations]
        : random.chance(70)
            ? double(random.pick(0, 1))
            : double(random.pick(0, kNumRecurrentActivations - 1)));
    alphas.push_back(double(random.pick(1, 8)) / 8);
    betas.push_back(double(random.pick(1, 8)) / 8);
  }
  problem.attrs["activations"] = activations;
  problem.attrs["alphas"] = alphas;
  problem.attrs["betas"] = betas;
}

Problem test::makeRecurrentProblem(ProblemGenerator &random) {
  Problem problem;
  problem.op = random.oneOf<OpKind>({OpKind::Lstm, OpKind::Gru, OpKind::Rnn});
  RecurrentCell cell = *getRecurrentCell(problem.op);
  int64_t directions = random.pick(1, 2), steps = random.pick(1, 6),
          batch = random.chance(40) ? 1 : random.pick(2, 7),
          units = random.chance(10) ? 1 : random.pick(2, 37);
  // Wide enough to be cut into blocks for two threads.
  if (random.chance(10))
    units = random.pick(260, 300);
  addOperand(random, problem, {steps, batch, directions * cell.gates * units});
  addOperand(random, problem, {directions, cell.gates * units, units});
  problem.operands[1].constant = random.chance(85);
  addOperand(random, problem, {batch});
  problem.operands[2].dtype = random.chance(50) ? DType::I32 : DType::I64;
  problem.operands[2].constant = random.chance(50);
  addOperand(random, problem, {directions, batch, units});
  if (problem.op == OpKind::Lstm) {
    addOperand(random, problem, {directions, batch, units});
    addOperand(random, problem, {directions, 3 * units});
  } else if (problem.op == OpKind::Gru) {
    addOperand(random, problem, {directions, units});
  }
  problem.rootOperands = static_cast<int>(problem.operands.size());
  problem.result = random.makeTensor(
      {steps + cell.states, directions, batch, units}, Layout());
  DType dtype = random.oneOf(
      {DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16});
  for (size_t i = 0; i < problem.operands.size(); ++i)
    if (i != 2)
      random.setType(problem.operands[i], dtype, false);
  random.setType(problem.result, random.chance(70) ? dtype : DType::F32, false);
  std::vector<double> reversed;
  for (int64_t d = 0; d < directions; ++d)
    reversed.push_back(random.pick(0, 1));
  problem.attrs["reversed"] = reversed;
  problem.attrs["clip"] = {random.chance(25) ? 0.75 : 0.0};
  addActivations(random, problem, directions);
  if (problem.op == OpKind::Lstm)
    problem.attrs["input_forget"] = {double(random.chance(30))};
  if (problem.op == OpKind::Gru)
    problem.attrs["linear_before_reset"] = {double(random.chance(50))};
  return problem;
}
