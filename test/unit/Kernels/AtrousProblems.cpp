//===- AtrousProblems.cpp - Random convolutions of far taps ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

/// A convolution of many channels with dilations up to more than the size of
/// the image, so that whole tiles of pixels, or all of them, read padding by
/// some taps.
Problem test::makeAtrousProblem(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::Conv;
  int64_t dims = g.oneOf<int64_t>({1, 2, 2, 2, 3});
  Layout layout = g.chance(25)
                      ? Layout{Layout::Blocked, g.oneOf<int64_t>({8, 16})}
                      : Layout{g.chance(70) ? Layout::NHWC : Layout::NCHW, 1};
  int64_t group = g.oneOf<int64_t>({1, 1, 2});
  int64_t channels = 64 * g.pick(1, 3) + (g.chance(20) ? g.pick(1, 20) : 0);
  std::vector<int64_t> shape = {g.pick(1, 2), group * channels};
  std::vector<int64_t> filter = {group * g.pick(1, 40), channels};
  std::vector<int64_t> result = {shape[0], filter[0]};
  std::vector<double> strides, dilations, begins, ends;
  for (int64_t d = 0; d < dims; ++d) {
    int64_t kernel = g.oneOf<int64_t>({1, 2, 3, 3, 3});
    int64_t size = g.pick(1, dims == 3 ? 6 : 15);
    int64_t stride = g.oneOf<int64_t>({1, 1, 1, 2, 5});
    int64_t dilation = g.pick(1, size + 2), reach = dilation * (kernel - 1);
    int64_t begin = g.chance(70) ? reach / 2 : g.pick(0, reach + 1);
    int64_t end = g.chance(70) ? reach / 2 : g.pick(0, reach + 1);
    end = std::max(end, reach + 1 - size - begin);
    shape.push_back(size);
    filter.push_back(kernel);
    result.push_back((size + begin + end - reach - 1) / stride + 1);
    strides.push_back(static_cast<double>(stride));
    dilations.push_back(static_cast<double>(dilation));
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
  }
  problem.operands = {g.makeTensor(shape, layout),
                      g.makeTensor(filter, Layout())};
  problem.rootOperands = 2;
  problem.result = g.makeTensor(result, layout);
  begins.insert(begins.end(), ends.begin(), ends.end());
  problem.attrs = {{"group", {static_cast<double>(group)}},
                   {"strides", strides},
                   {"dilations", dilations},
                   {"pads", begins}};
  g.chooseConvTypes(problem);
  g.addEpilogue(problem);
  return problem;
}
