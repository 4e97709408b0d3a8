//===- DepthwiseProblems.cpp - Random depthwise convolutions --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

using namespace tarpon;
using namespace tarpon::test;

/// Channels last, rows of several tiles and windows that leave them, and
/// channels that are no multiple of a vector.
Problem test::makeDepthwiseProblem(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout{Layout::NHWC, 1};
  if (g.chance(25))
    layout = {Layout::Blocked, g.oneOf<int64_t>({4, 8, 16})};
  int64_t channels = g.chance(50) ? 16 * g.pick(1, 9) : g.pick(1, 150);
  std::vector<int64_t> shape = {g.oneOf<int64_t>({1, 1, 2}), channels,
                                g.pick(1, 12), g.pick(1, 45)};
  std::vector<int64_t> kernel = {g.pick(1, 5), g.pick(1, 7)};
  problem.operands = {
      g.makeTensor(shape, layout),
      g.makeTensor({channels, 1, kernel[0], kernel[1]}, Layout())};
  problem.rootOperands = 2;
  problem.result = g.makeTensor(shape, layout);
  problem.attrs["group"] = {static_cast<double>(channels)};
  g.addWindow(problem, kernel);
  g.chooseConvTypes(problem);
  g.addEpilogue(problem);
  return problem;
}
