//===- ConvDirectionProblems.cpp - Random gradients of convolutions -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strides over the kernel's size, padding over the input and images of one
// pixel are common here: each is a case of its own in some solver.
//
//===----------------------------------------------------------------------===//

#include "AreaProblems.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::test;

/// One group, a few, or one per channel.
static int64_t chooseGroups(ProblemGenerator &g, int64_t &inChannels,
                            int64_t &outChannels) {
  int64_t kind = g.pick(0, 9);
  if (kind < 4) {
    inChannels = g.pick(1, 40);
    outChannels = kind < 3 ? inChannels : 2 * inChannels;
    return inChannels;
  }
  int64_t group = g.oneOf<int64_t>({1, 1, 1, 1, 2, 3});
  inChannels =
      group * (g.chance(20) ? g.oneOf<int64_t>({3, 16, 32}) : g.pick(1, 24));
  outChannels =
      group * (g.chance(20) ? g.oneOf<int64_t>({16, 32, 64}) : g.pick(1, 40));
  return group;
}

static std::vector<int64_t> makeKernel(ProblemGenerator &g, int64_t dims) {
  std::vector<int64_t> kernel;
  for (int64_t d = 0; d < dims; ++d)
    kernel.push_back(
        dims < 3 && g.chance(5) ? 7 : g.oneOf<int64_t>({1, 1, 2, 3, 3}));
  return kernel;
}

static std::vector<double> join(std::vector<double> begins,
                                const std::vector<double> &ends) {
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

static Problem makeConvTranspose(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::ConvTranspose;
  problem.rootOperands = 2;
  int64_t dims = g.oneOf<int64_t>({1, 2, 2, 2, 2, 3});
  int64_t inChannels, outChannels;
  int64_t group = chooseGroups(g, inChannels, outChannels);
  std::vector<int64_t> kernel = makeKernel(g, dims);
  std::vector<int64_t> in = {g.oneOf<int64_t>({1, 1, 2}), inChannels},
                       out = {in[0], outChannels};
  std::vector<double> strides, dilations, begins, ends, more;
  for (int64_t size : kernel) {
    in.push_back(g.chance(20) ? 1 : g.pick(1, dims == 3 ? 4 : 10));
    int64_t stride = g.oneOf<int64_t>({1, 1, 2, 2, 3}),
            dilation = g.oneOf<int64_t>({1, 1, 1, 2, 3});
    int64_t extent = (size - 1) * dilation + 1;
    int64_t full = (in.back() - 1) * stride + extent;
    int64_t outputPadding = g.chance(70) ? 0 : g.pick(0, stride);
    // Now and then more than the kernel reaches over.
    int64_t most = g.chance(80) ? extent - 1 : extent + 1;
    int64_t begin = std::min(g.pick(0, most), full + outputPadding - 1);
    int64_t end = std::min(g.pick(0, most), full + outputPadding - 1 - begin);
    out.push_back(full + outputPadding - begin - end);
    strides.push_back(static_cast<double>(stride));
    dilations.push_back(static_cast<double>(dilation));
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
    more.push_back(static_cast<double>(outputPadding));
  }
  problem.attrs = {{"strides", strides},
                   {"dilations", dilations},
                   {"pads", join(begins, ends)},
                   {"output_padding", more},
                   {"group", {static_cast<double>(group)}}};
  std::vector<int64_t> filter = {inChannels, outChannels / group};
  filter.insert(filter.end(), kernel.begin(), kernel.end());
  // Depthwise ones are rare, and have solvers for these two.
  bool isDepthwise = group == inChannels && group == outChannels;
  Layout layout = isDepthwise ? Layout{g.oneOf({Layout::NHWC, Layout::NCHW}), 1}
                              : g.pickLayout();
  problem.operands = {g.makeTensor(in, layout), g.makeTensor(filter, Layout())};
  problem.result = g.makeTensor(out, layout);
  g.chooseTypes(problem);
  TensorDesc &weights = problem.operands[1];
  weights.constant = g.chance(80);
  if (weights.quantized) {
    g.setType(weights, DType::I8, true);
    weights.zeroPoint = 0;
    weights.scales[0] /= 8;
    if (g.chance(70)) {
      weights.quantAxis = 1;
      weights.scales.resize(filter[1]);
      for (float &scale : weights.scales)
        scale = static_cast<float>(g.pick(10, 30)) / 8000;
    }
  }
  g.addEpilogue(problem);
  return problem;
}

static Problem makeConvBackwardWeights(ProblemGenerator &g) {
  Problem problem;
  problem.op = OpKind::ConvBackwardWeights;
  problem.rootOperands = 2;
  int64_t dims = g.oneOf<int64_t>({1, 2, 2, 2, 2, 3});
  int64_t inChannels, outChannels;
  int64_t group = chooseGroups(g, inChannels, outChannels);
  std::vector<int64_t> kernel = makeKernel(g, dims);
  std::vector<int64_t> in = {g.oneOf<int64_t>({1, 1, 2, 3}), inChannels},
                       out = {in[0], outChannels};
  std::vector<double> strides, dilations, begins, ends;
  for (int64_t size : kernel) {
    int64_t stride = g.oneOf<int64_t>({1, 1, 2, 2, 3}),
            dilation = g.oneOf<int64_t>({1, 1, 1, 2, 3});
    int64_t extent = (size - 1) * dilation + 1;
    int64_t most = g.chance(80) ? extent - 1 : extent + 2;
    int64_t begin = g.pick(0, most), end = g.pick(0, most);
    int64_t least = std::max<int64_t>(1, extent - begin - end);
    in.push_back(g.chance(20) ? least : least + g.pick(0, dims == 3 ? 4 : 16));
    out.push_back((in.back() + begin + end - extent) / stride + 1);
    strides.push_back(static_cast<double>(stride));
    dilations.push_back(static_cast<double>(dilation));
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
  }
  problem.attrs = {{"strides", strides},
                   {"dilations", dilations},
                   {"pads", join(begins, ends)},
                   {"group", {static_cast<double>(group)}}};
  std::vector<int64_t> filter = {outChannels, inChannels / group};
  filter.insert(filter.end(), kernel.begin(), kernel.end());
  problem.operands = {g.makeTensor(in, g.pickLayout()),
                      g.makeTensor(out, g.pickLayout())};
  problem.result = g.makeTensor(filter, Layout());
  DType dtype = g.oneOf({DType::F32, DType::F32, DType::F16, DType::BF16});
  for (TensorDesc &operand : problem.operands)
    g.setType(operand, dtype, false);
  g.setType(problem.result, g.chance(60) ? dtype : DType::F32, false);
  return problem;
}

Problem test::makeConvDirectionProblem(ProblemGenerator &generator) {
  return generator.chance(50) ? makeConvTranspose(generator)
                              : makeConvBackwardWeights(generator);
}
