//===- PoolGradientProblems.cpp - Random gradients of pools ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

/// A forward pool with the roles of its tensors exchanged. The random indices
/// of maxima rarely meet their window; ReferenceTest has ones that do.
Problem test::makePoolGradientProblem(ProblemGenerator &generator) {
  Problem forward, problem;
  bool isMax = generator.chance(50), isGlobal = generator.chance(20);
  int64_t rank = generator.oneOf<int64_t>({3, 4, 4, 4, 5});
  Layout layout = generator.pickLayout();
  std::vector<int64_t> shape = generator.makeImage(rank), kernel;
  for (int64_t d = 2; d < rank; ++d)
    kernel.push_back(generator.pick(1, 4));
  forward.operands = {generator.makeTensor(shape, layout)};
  forward.result = forward.operands[0];
  problem.op = isMax ? OpKind::MaxPoolBackward : OpKind::AvgPoolBackward;
  if (isGlobal) {
    problem.op =
        isMax ? OpKind::GlobalMaxPoolBackward : OpKind::GlobalAvgPoolBackward;
    std::fill(forward.result.shape.begin() + 2, forward.result.shape.end(), 1);
  } else {
    forward.attrs["kernel"] = {kernel.begin(), kernel.end()};
    forward.attrs["ceil_mode"] = {double(generator.chance(30))};
    if (!isMax)
      forward.attrs["count_include_pad"] = {double(generator.chance(50))};
    generator.addWindow(forward, kernel);
  }
  problem.attrs = forward.attrs;
  problem.operands = {forward.result};
  problem.result = forward.operands[0];
  DType dtype = generator.pickFloat();
  generator.setType(problem.operands[0], dtype, false);
  generator.setType(problem.result, dtype, false);
  if (!isMax)
    return problem;
  problem.rootOperands = 2;
  problem.operands.push_back(problem.operands[0]);
  generator.setType(problem.operands[1],
                    generator.oneOf({DType::I64, DType::I32}), false);
  return problem;
}
