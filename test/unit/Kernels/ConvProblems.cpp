//===- ConvProblems.cpp - Random convolutions of special shapes -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

using namespace tarpon;
using namespace tarpon::test;

/// A problem like the first layer of a network: few channels, a large window,
/// a stride; and rows of several tiles of pixels.
Problem ProblemGenerator::makeStem() {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = {chance(50) ? Layout::NHWC : Layout::NCHW, 1};
  int64_t channels = pick(1, 4);
  int64_t kernel = oneOf<int64_t>({3, 3, 4, 5, 7, 11});
  std::vector<int64_t> shape = {pick(1, 2), channels, pick(1, 24), pick(1, 90)};
  std::vector<int64_t> window = {kernel, chance(80) ? kernel : 1};
  int64_t outChannels = oneOf<int64_t>({8, 16, 24, 32, 35, 64});
  problem.operands = {
      makeTensor(shape, layout),
      makeTensor({outChannels, channels, window[0], window[1]}, Layout())};
  problem.rootOperands = 2;
  shape[1] = outChannels;
  problem.result = makeTensor(shape, chance(70) ? layout : pickLayout());
  problem.attrs["group"] = {1};
  addWindow(problem, window);
  chooseConvTypes(problem);
  addEpilogue(problem);
  return problem;
}

/// Pointwise convolutions, whose pixels are one row over all images, with K of
/// a few lines.
Problem ProblemGenerator::makePointwise() {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = pickLayout();
  int64_t group = oneOf<int64_t>({1, 1, 1, 2, 3});
  std::vector<int64_t> shape = {pick(1, 5), group * pick(1, 90), pick(1, 9),
                                pick(1, 9)};
  int64_t outChannels = group * pick(1, 80);
  problem.operands = {
      makeTensor(shape, layout),
      makeTensor({outChannels, shape[1] / group, 1, 1}, Layout())};
  problem.rootOperands = 2;
  shape[1] = outChannels;
  problem.result = makeTensor(shape, layout);
  problem.attrs["group"] = {static_cast<double>(group)};
  problem.attrs["strides"] = problem.attrs["dilations"] = {1, 1};
  problem.attrs["pads"] = {0, 0, 0, 0};
  chooseConvTypes(problem);
  addEpilogue(problem);
  return problem;
}

/// Groups of a few channels, of which several share a vector.
Problem ProblemGenerator::makeGrouped() {
  Problem problem;
  problem.op = OpKind::Conv;
  Layout layout = {chance(60) ? Layout::NHWC : Layout::NCHW, 1};
  int64_t group = pick(2, 20);
  int64_t channels = oneOf<int64_t>({2, 3, 4, 4, 8, 8, 12, 16, 24, 32, 40});
  int64_t outChannels =
      chance(80) ? channels : oneOf<int64_t>({2, 4, 6, 8, 16, 24});
  std::vector<int64_t> shape = {pick(1, 2), group * channels, pick(1, 12),
                                pick(1, 40)};
  std::vector<int64_t> window = {oneOf<int64_t>({1, 3, 3, 3, 5}),
                                 oneOf<int64_t>({1, 3, 3, 3, 5, 7})};
  problem.operands = {
      makeTensor(shape, layout),
      makeTensor({group * outChannels, channels, window[0], window[1]},
                 Layout())};
  problem.rootOperands = 2;
  shape[1] = group * outChannels;
  problem.result = makeTensor(shape, chance(80) ? layout : pickLayout());
  problem.attrs["group"] = {static_cast<double>(group)};
  addWindow(problem, window);
  chooseConvTypes(problem);
  addEpilogue(problem);
  return problem;
}

/// A filter, mostly constant, whose dtype fits the input's.
void ProblemGenerator::chooseConvTypes(Problem &problem) {
  chooseTypes(problem);
  TensorDesc &weights = problem.operands[1];
  weights.constant = chance(75);
  if (!weights.quantized)
    return;
  quantizeFilter(weights);
}

void ProblemGenerator::quantizeFilter(TensorDesc &weights) {
  setType(weights, DType::I8, true);
  weights.zeroPoint = 0;
  weights.scales[0] /= 8;
  if (chance(30))
    return;
  weights.quantAxis = 0;
  weights.scales.resize(weights.shape[0]);
  for (float &scale : weights.scales)
    scale = static_cast<float>(pick(10, 30)) / 8000;
}
