//===- ReduceProblems.cpp - Random problems of reduction ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::test;

static std::vector<int64_t> makeShape(ProblemGenerator &g) {
  std::vector<int64_t> shape;
  for (int64_t rank = g.pick(1, 5); rank > 0; --rank)
    shape.push_back(g.chance(15) ? 1 : g.pick(1, rank > 3 ? 5 : 12));
  if (g.chance(40))
    shape.back() = g.pick(1, 150);
  return shape;
}

static std::vector<int64_t> chooseAxes(ProblemGenerator &g, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (g.chance(50))
      axes.push_back(axis);
  if (axes.empty())
    axes.push_back(g.pick(0, rank - 1));
  return axes;
}

/// A tensor of `shape` with the axes reduced.
static TensorDesc reduceDims(ProblemGenerator &g, const TensorDesc &operand,
                             const std::vector<int64_t> &axes, bool keepDims) {
  std::vector<int64_t> shape;
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      shape.push_back(operand.shape[dim]);
    else if (keepDims)
      shape.push_back(1);
  return g.makeTensor(shape, keepDims ? operand.layout : Layout());
}

static Problem makeReduce(ProblemGenerator &g) {
  Problem problem;
  problem.op = g.oneOf<OpKind>(
      {OpKind::ReduceSum, OpKind::ReduceSum, OpKind::ReduceMean,
       OpKind::ReduceMax, OpKind::ReduceMin, OpKind::ReduceProd,
       OpKind::ReduceL1, OpKind::ReduceL2, OpKind::ReduceSumSquare,
       OpKind::ReduceLogSum, OpKind::ReduceLogSumExp});
  problem.operands = {g.makeTensor(makeShape(g), g.pickLayout())};
  int64_t rank = problem.operands[0].rank();
  std::vector<int64_t> axes = chooseAxes(g, rank);
  bool keepDims = g.chance(60);
  problem.result = reduceDims(g, problem.operands[0], axes, keepDims);
  problem.attrs = {{"axes", {axes.begin(), axes.end()}},
                   {"keepdims", {double(keepDims)}}};
  g.chooseTypes(problem);
  // Products leave what a quantised result can hold.
  bool isWild =
      problem.op == OpKind::ReduceProd || problem.op == OpKind::ReduceLogSum;
  if (isWild && problem.operands[0].quantized) {
    g.setType(problem.operands[0], DType::F32, false);
    g.setType(problem.result, DType::F32, false);
  }
  if (g.chance(8) && !isWild && problem.op != OpKind::ReduceMean &&
      problem.op != OpKind::ReduceL2 && problem.op != OpKind::ReduceLogSumExp) {
    g.setType(problem.operands[0], g.oneOf({DType::I32, DType::I64}), false);
    g.setType(problem.result, problem.operands[0].dtype, false);
  }
  return problem;
}

static Problem makeArg(ProblemGenerator &g) {
  Problem problem;
  problem.op = g.chance(50) ? OpKind::ArgMax : OpKind::ArgMin;
  problem.operands = {g.makeTensor(makeShape(g), g.pickLayout())};
  int64_t axis = g.pick(0, problem.operands[0].rank() - 1);
  bool keepDims = g.chance(60);
  problem.result = reduceDims(g, problem.operands[0], {axis}, keepDims);
  g.chooseTypes(problem);
  g.setType(problem.result, DType::I64, false);
  problem.attrs = {{"axis", {double(axis)}},
                   {"keepdims", {double(keepDims)}},
                   {"select_last_index", {double(g.chance(50))}}};
  return problem;
}

Problem test::makeReduceProblem(ProblemGenerator &g) {
  return g.chance(75) ? makeReduce(g) : makeArg(g);
}
