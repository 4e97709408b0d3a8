//===- BlockMatMulProblems.cpp - Random products with narrow weights ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few rows and groups of them, columns that are no whole tiles, a depth that
// ends within a block or a step, with zero points and without.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

Problem test::makeBlockMatMulProblem(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::BlockMatMul;
  int64_t bits = g.oneOf<int64_t>({4, 4, 8}),
          blockSize = g.oneOf<int64_t>({8, 16, 32, 64, 128});
  int64_t rows = g.chance(40) ? 1 : g.pick(1, 20), columns = g.pick(1, 150);
  int64_t depth = g.chance(40) ? blockSize * g.pick(1, 4) : g.pick(1, 300);
  int64_t blocks = (depth + blockSize - 1) / blockSize;
  std::vector<int64_t> shape;
  for (int64_t dims = g.oneOf<int64_t>({0, 0, 1, 2}); dims > 0; --dims)
    shape.push_back(g.pick(1, 3));
  shape.push_back(rows);
  shape.push_back(depth);
  auto add = [&](std::vector<int64_t> sizes, DType dtype, bool isConstant) {
    TensorDesc desc = g.makeTensor(std::move(sizes), Layout());
    g.setType(desc, dtype, false);
    desc.constant = isConstant;
    problem.operands.push_back(desc);
  };
  add(shape, g.pickFloat(), false);
  bool isConstant = g.chance(85);
  add({columns, blocks, blockSize / 8 * bits}, DType::U8, isConstant);
  add({columns, blocks}, DType::F32, isConstant);
  if (g.chance(50))
    add({columns, blocks}, DType::U8, isConstant);
  problem.rootOperands = static_cast<int>(problem.operands.size());
  problem.result = problem.operands[0];
  problem.result.shape.back() = columns;
  if (g.chance(20))
    g.setType(problem.result, DType::F32, false);
  problem.attrs = {{"bits", {double(bits)}},
                   {"block_size", {double(blockSize)}}};
  g.addEpilogue(problem);
  return problem;
}
