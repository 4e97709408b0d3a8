//===- WinogradProblems.cpp - Random convolutions of 3 x 3 ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

/// Quantises input and filter, and mostly the result.
static void quantize(ProblemGenerator &g, Problem &problem) {
  g.setType(problem.operands[0], g.oneOf({DType::U8, DType::U8, DType::I8}),
            true);
  g.quantizeFilter(problem.operands[1]);
  if (g.chance(70))
    g.setType(problem.result, DType::U8, true);
  if (g.chance(15))
    problem.result.layout = Layout();
}

/// A convolution for Winograd: images that are no multiple of its tiles,
/// of one pixel, and padded by more than they have; dilations, some of which
/// are larger than the image.
Problem test::makeWinogradProblem(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = g.chance(30)
                      ? Layout{Layout::Blocked, g.oneOf<int64_t>({8, 16})}
                      : Layout{g.chance(60) ? Layout::NHWC : Layout::NCHW, 1};
  int64_t group = g.oneOf<int64_t>({1, 1, 1, 2, 3});
  int64_t unit = g.chance(40) ? 16 : 1;
  int64_t channels = unit * g.pick(1, unit > 1 ? 4 : 40);
  int64_t outChannels = unit * g.pick(1, unit > 1 ? 5 : 70);
  std::vector<int64_t> shape = {g.oneOf<int64_t>({1, 1, 2, 3}),
                                group * channels};
  std::vector<int64_t> result = {shape[0], group * outChannels};
  std::vector<double> begins, ends, dilations;
  bool dilated = g.chance(layout.kind == Layout::NCHW ? 10 : 40);
  for (int64_t d = 0; d < 2; ++d) {
    int64_t dilation =
        dilated ? g.oneOf<int64_t>({1, 2, 2, 3, 4, 6, 11, 26}) : 1;
    int64_t begin = g.oneOf<int64_t>({0, 1, dilation, dilation, 2, 5});
    int64_t end = g.oneOf<int64_t>({0, 1, dilation, dilation, 2, 5});
    int64_t size = g.chance(15) ? 1 : g.pick(1, 23);
    size = std::max(size, 2 * dilation + 1 - begin - end);
    shape.push_back(size);
    result.push_back(size + begin + end - 2 * dilation);
    dilations.push_back(static_cast<double>(dilation));
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
  }
  problem.operands = {
      g.makeTensor(shape, layout),
      g.makeTensor({group * outChannels, channels, 3, 3}, Layout())};
  problem.operands[1].constant = true;
  problem.rootOperands = 2;
  problem.result = g.makeTensor(result, layout);
  if (g.chance(25))
    g.setType(problem.result, g.pickSmallFloat(), false);
  if (layout.kind == Layout::NHWC && g.chance(40))
    quantize(g, problem);
  begins.insert(begins.end(), ends.begin(), ends.end());
  problem.attrs = {{"group", {static_cast<double>(group)}},
                   {"strides", {1, 1}},
                   {"dilations", dilations},
                   {"pads", begins}};
  g.addEpilogue(problem);
  return problem;
}
