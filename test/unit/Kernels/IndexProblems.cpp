//===- IndexProblems.cpp - Random selection at run time -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include "tarpon/Problem/Shapes.h"

using namespace tarpon;
using namespace tarpon::test;

static std::vector<int64_t> makeShape(ProblemGenerator &g, int64_t leastRank) {
  std::vector<int64_t> shape;
  for (int64_t rank = g.pick(leastRank, 4); rank > 0; --rank)
    shape.push_back(g.pick(1, 9));
  return shape;
}

static TensorDesc makeIntegers(ProblemGenerator &g, std::vector<int64_t> shape,
                               DType dtype) {
  TensorDesc desc = g.makeTensor(std::move(shape), Layout());
  g.setType(desc, dtype, false);
  return desc;
}

static Problem makeWhere(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Where;
  problem.rootOperands = 3;
  std::vector<int64_t> shape = makeShape(g, 0);
  problem.result = g.makeTensor(shape, Layout());
  for (int i = 0; i < 3; ++i) {
    std::vector<int64_t> part = shape;
    for (int64_t &size : part)
      size = i > 0 && g.chance(25) ? 1 : size;
    problem.operands.push_back(g.makeTensor(part, Layout()));
  }
  g.chooseTypes(problem);
  g.setType(problem.operands[0], DType::Bool, false);
  g.moveIntegers(problem, llvm::MutableArrayRef(problem.operands).drop_front());
  return problem;
}

static Problem makeGather(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Gather;
  problem.rootOperands = 2;
  std::vector<int64_t> shape = makeShape(g, 1), indices = makeShape(g, 0);
  int64_t axis = g.pick(0, static_cast<int64_t>(shape.size()) - 1);
  Shape result = gatherShape(shape, indices, axis);
  problem.operands = {g.makeTensor(shape, Layout()),
                      g.makeTensor(indices, Layout())};
  problem.result = g.makeTensor({result.begin(), result.end()}, Layout());
  problem.attrs["axis"] = {double(axis)};
  g.chooseTypes(problem);
  ProblemGenerator::passElementsOn(problem);
  problem.operands[1] = makeIntegers(g, indices, DType::I64);
  g.moveIntegers(problem, llvm::MutableArrayRef(problem.operands).take_front());
  return problem;
}

static Problem makeScatter(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Scatter;
  problem.rootOperands = 3;
  std::vector<int64_t> shape = makeShape(g, 1), updates = shape;
  updates[0] = g.pick(1, 12);
  problem.operands = {g.makeTensor(shape, Layout()),
                      g.makeTensor({updates[0]}, Layout()),
                      g.makeTensor(updates, Layout())};
  problem.result = g.makeTensor(shape, Layout());
  problem.attrs["mode"] = {double(g.pick(0, 4))};
  DType dtype = g.oneOf({DType::F32, DType::F32, DType::I32, DType::U64});
  for (TensorDesc *desc :
       {&problem.operands[0], &problem.operands[2], &problem.result})
    g.setType(*desc, dtype, false);
  g.setType(problem.operands[1], DType::I64, false);
  return problem;
}

static Problem makeTopK(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::TopK;
  std::vector<int64_t> shape = makeShape(g, 1);
  size_t axis = g.pick(0, static_cast<int64_t>(shape.size()) - 1);
  if (g.chance(30))
    shape[axis] = g.pick(1, 150);
  int64_t k = g.pick(1, shape[axis]);
  problem.operands = {g.makeTensor(shape, Layout())};
  shape[axis] = k;
  problem.result = g.makeTensor(shape, Layout());
  problem.attrs = {{"axis", {double(axis)}},
                   {"k", {double(k)}},
                   {"largest", {double(g.chance(50))}}};
  g.chooseTypes(problem);
  if (g.chance(20))
    g.setType(problem.operands[0], g.oneOf({DType::I32, DType::U64}), false);
  g.setType(problem.result, DType::I64, false);
  return problem;
}

Problem test::makeIndexProblem(ProblemGenerator &g) {
  using MakeProblem = Problem (*)(ProblemGenerator &);
  return g.oneOf<MakeProblem>({makeWhere, makeGather, makeScatter, makeTopK})(
      g);
}
