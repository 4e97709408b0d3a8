//===- StrassenProblems.cpp - Random products with large weights ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows and columns that fill their blocks badly: odd numbers, so few that whole
// blocks are missing, and a depth that is cut once or twice.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

static Problem makeMatMul(ProblemGenerator &g, int64_t depth, int64_t columns) {
  Problem problem;
  problem.op = OpKind::MatMul;
  bool isTurned = g.chance(40);
  std::vector<int64_t> rows = {g.pick(9, 70)};
  if (g.chance(40))
    rows.insert(rows.begin(), g.pick(1, 3));
  std::vector<int64_t> lhs = rows, result = rows;
  lhs.push_back(depth);
  result.push_back(columns);
  problem.operands = {g.makeTensor(lhs, Layout()),
                      g.makeTensor(isTurned
                                       ? std::vector<int64_t>{columns, depth}
                                       : std::vector<int64_t>{depth, columns},
                                   Layout())};
  problem.result = g.makeTensor(result, Layout());
  problem.attrs["transpose_lhs"] = {0};
  problem.attrs["transpose_rhs"] = {static_cast<double>(isTurned)};
  return problem;
}

static Problem makeConv(ProblemGenerator &g, int64_t depth, int64_t columns) {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = {Layout::NHWC, 1};
  std::vector<int64_t> shape = {g.pick(1, 3), depth, g.pick(2, 7),
                                g.pick(4, 7)};
  problem.operands = {g.makeTensor(shape, layout),
                      g.makeTensor({columns, depth, 1, 1}, Layout())};
  shape[1] = columns;
  problem.result = g.makeTensor(shape, layout);
  problem.attrs["group"] = {1};
  problem.attrs["strides"] = problem.attrs["dilations"] = {1, 1};
  problem.attrs["pads"] = {0, 0, 0, 0};
  return problem;
}

Problem test::makeStrassenProblem(ProblemGenerator &g) {
  int64_t depth = g.chance(10) ? 32 * g.pick(25, 50) : 32 * g.pick(1, 6);
  int64_t columns = g.pick(32, 150);
  Problem problem = g.chance(60) ? makeMatMul(g, depth, columns)
                                 : makeConv(g, depth, columns);
  problem.operands[1].constant = true;
  problem.rootOperands = 2;
  if (g.chance(25))
    g.setType(problem.result, g.pickSmallFloat(), false);
  g.addEpilogue(problem);
  return problem;
}
