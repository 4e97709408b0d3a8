//===- PoolIndicesProblems.cpp - Random pools with indices ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

static Problem makePool(ProblemGenerator &generator) {
  Problem problem;
  problem.op = OpKind::MaxPoolIndices;
  int64_t rank = generator.oneOf<int64_t>({3, 4, 4, 4, 5});
  Layout layout = generator.pickLayout();
  std::vector<int64_t> kernel;
  problem.operands = {generator.makeTensor(generator.makeImage(rank), layout)};
  for (int64_t d = 2; d < rank; ++d)
    kernel.push_back(generator.pick(1, 4));
  problem.result = problem.operands[0];
  problem.attrs["kernel"] = {kernel.begin(), kernel.end()};
  problem.attrs["ceil_mode"] = {double(generator.chance(30))};
  problem.attrs["column_major"] = {double(generator.chance(30))};
  generator.addWindow(problem, kernel);
  generator.chooseTypes(problem);
  TensorDesc indices = problem.result;
  if (generator.chance(10))
    indices.layout = generator.pickLayout();
  generator.setType(indices, DType::I64, false);
  problem.moreResults = {indices};
  if (generator.chance(30))
    generator.addEpilogue(problem);
  return problem;
}

/// The random indices lie in the first few pixels of the first planes.
static Problem makeUnpool(ProblemGenerator &generator) {
  Problem problem;
  problem.op = OpKind::MaxUnpool;
  int64_t rank = generator.oneOf<int64_t>({3, 4, 4, 5});
  Layout layout = generator.chance(70) ? Layout() : generator.pickLayout();
  std::vector<int64_t> shape = generator.makeImage(rank);
  problem.operands.assign(2, generator.makeTensor(shape, layout));
  problem.rootOperands = 2;
  for (int64_t d = 2; d < rank; ++d)
    shape[d] = generator.pick(1, rank > 4 ? 9 : 30);
  problem.result = generator.makeTensor(shape, layout);
  problem.attrs["sizes"] = {shape.begin() + 2, shape.end()};
  generator.chooseTypes(problem);
  generator.setType(problem.operands[1], DType::I64, false);
  if (generator.chance(30))
    generator.addEpilogue(problem);
  return problem;
}

Problem test::makePoolIndicesProblem(ProblemGenerator &generator) {
  return generator.chance(65) ? makePool(generator) : makeUnpool(generator);
}
