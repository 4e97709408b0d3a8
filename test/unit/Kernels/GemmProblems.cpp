//===- GemmProblems.cpp - Random matrix products --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposed or not, stacks that broadcast, one row, one column, a depth of 1.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

/// The batch dimensions of an operand: some are 1, some in front are missing.
static std::vector<int64_t>
makeBatchOperand(ProblemGenerator &random, const std::vector<int64_t> &batch) {
  std::vector<int64_t> shape = batch;
  if (random.chance(30))
    shape.erase(shape.begin(), shape.begin() + random.pick(0, shape.size()));
  for (int64_t &size : shape)
    if (random.chance(25))
      size = 1;
  return shape;
}

/// Epilogue operands of a product broadcast along any dimensions.
static void spreadEpilogue(ProblemGenerator &random, Problem &problem) {
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i) {
    TensorDesc &operand = problem.operands[i];
    if (operand.rank() != problem.result.rank() || random.chance(50))
      continue;
    operand.shape = problem.result.shape;
    for (int64_t &size : operand.shape)
      if (random.chance(50))
        size = 1;
    if (random.chance(30))
      operand.shape.erase(operand.shape.begin(),
                          operand.shape.begin() +
                              random.pick(0, operand.rank()));
  }
}

Problem test::makeGemmProblem(ProblemGenerator &random) {
  Problem problem;
  problem.op = OpKind::MatMul;
  problem.rootOperands = 2;
  int64_t m = random.pick(1, 40), n = random.pick(1, 70),
          k = random.pick(1, 50);
  if (random.chance(15))
    m = 1;
  if (random.chance(15))
    n = 1;
  if (random.chance(8))
    k = 1;
  bool transposeLhs = random.chance(30), transposeRhs = random.chance(40);
  std::vector<int64_t> batch, lhsShape, rhsShape;
  for (int64_t dims = random.oneOf<int64_t>({0, 0, 1, 2, 3}); dims > 0; --dims)
    batch.push_back(random.pick(1, 3));
  lhsShape = makeBatchOperand(random, batch);
  rhsShape = random.chance(30) ? std::vector<int64_t>()
                               : makeBatchOperand(random, batch);
  auto matrix = [&](std::vector<int64_t> shape, int64_t rows, int64_t columns) {
    shape.push_back(rows);
    shape.push_back(columns);
    return random.makeTensor(shape, Layout());
  };
  // A dimension that both operands have as 1, or lack, is 1 in the result.
  size_t rank = std::max(lhsShape.size(), rhsShape.size());
  std::vector<int64_t> resultShape(rank, 1);
  for (const std::vector<int64_t> &shape : {lhsShape, rhsShape})
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t &size = resultShape[rank - shape.size() + d];
      size = std::max(size, shape[d]);
    }
  problem.operands = {
      matrix(lhsShape, transposeLhs ? k : m, transposeLhs ? m : k),
      matrix(rhsShape, transposeRhs ? n : k, transposeRhs ? k : n)};
  problem.result = matrix(resultShape, m, n);
  problem.attrs["transpose_lhs"] = {double(transposeLhs)};
  problem.attrs["transpose_rhs"] = {double(transposeRhs)};
  random.chooseTypes(problem);
  problem.operands[1].constant = random.chance(35);
  if (problem.operands[1].quantized) {
    random.setType(problem.operands[1], DType::I8, true);
    problem.operands[1].zeroPoint = 0;
    problem.operands[1].scales[0] /= 8;
  }
  random.addEpilogue(problem);
  spreadEpilogue(random, problem);
  return problem;
}
