//===- FftProblems.cpp - Random convolutions of large filters -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

/// Sizes of a filter: now and then one of many taps, one row or one column.
static std::vector<int64_t> makeTaps(ProblemGenerator &g, int64_t dims) {
  int64_t size = g.oneOf<int64_t>({5, 7, 7, 9, 11, 13, g.pick(5, 17)});
  if (g.chance(8))
    size = 31;
  std::vector<int64_t> taps(dims, size);
  if (dims == 2 && g.chance(20))
    taps[g.pick(0, 1)] = g.oneOf<int64_t>({1, 1, 2, 3, 6});
  return taps;
}

/// A convolution for FFT: images that are no multiple of its tiles, of
/// one pixel, smaller than the filter, and padded differently on each side.
Problem test::makeFftProblem(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = g.chance(20)
                      ? Layout{Layout::Blocked, g.oneOf<int64_t>({8, 16})}
                      : Layout{g.chance(60) ? Layout::NHWC : Layout::NCHW, 1};
  bool depthwise = g.chance(40);
  int64_t dims = g.chance(15) ? 1 : 2;
  int64_t group = depthwise ? g.pick(1, 37) : g.oneOf<int64_t>({1, 1, 1, 2, 3});
  int64_t channels = depthwise ? 1 : g.oneOf<int64_t>({16, 1, g.pick(1, 19)});
  int64_t outChannels = depthwise ? 1 : g.pick(1, 37);
  std::vector<int64_t> taps = makeTaps(g, dims);
  std::vector<int64_t> shape = {g.oneOf<int64_t>({1, 1, 1, 2}),
                                group * channels};
  std::vector<int64_t> result = {shape[0], group * outChannels};
  std::vector<int64_t> filter = {group * outChannels, channels};
  std::vector<double> begins, ends;
  for (int64_t size : taps) {
    int64_t begin = g.pick(0, size - 1), end = g.pick(0, size - 1);
    if (g.chance(50))
      begin = end = size / 2;
    int64_t pixels = g.chance(15) ? 1 : g.pick(1, 21);
    pixels = std::max(pixels, size - begin - end);
    shape.push_back(pixels);
    filter.push_back(size);
    result.push_back(pixels + begin + end - size + 1);
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
  }
  problem.operands = {g.makeTensor(shape, layout),
                      g.makeTensor(filter, Layout())};
  problem.operands[1].constant = true;
  problem.rootOperands = 2;
  problem.result = g.makeTensor(result, layout);
  if (g.chance(20))
    g.setType(problem.result, g.pickSmallFloat(), false);
  begins.insert(begins.end(), ends.begin(), ends.end());
  std::vector<double> ones(dims, 1);
  problem.attrs = {{"group", {static_cast<double>(group)}},
                   {"strides", ones},
                   {"dilations", ones},
                   {"pads", begins}};
  g.addEpilogue(problem);
  return problem;
}
