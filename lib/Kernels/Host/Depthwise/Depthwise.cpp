//===- Depthwise.cpp - Common code of depthwise convolutions --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Depthwise.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;

int64_t tarpon::getFilterCells(const Problem &problem) {
  return problem.operands[1].spatialSize();
}

Applicability tarpon::checkDepthwise(const Problem &problem) {
  if (problem.op != OpKind::Conv)
    return Applicability::no("is not a convolution");
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  int64_t group = problem.integer("group");
  if (group != input.shape[1] || group != filter.shape[0])
    return Applicability::no("needs as many groups as channels, and one filter "
                             "for each");
  if (!filter.constant)
    return Applicability::no("needs a constant filter");
  if (!isVectorizable(input))
    return notVectorizable("the input");
  if (filter.scales.size() > 1 && filter.quantAxis != 0)
    return Applicability::no("the filter is quantised along another dimension "
                             "than its channels");
  // Beyond this, sums of products of 8-bit integers round in f32.
  constexpr int64_t kMaxExactCells = 256;
  if (filter.quantized && getFilterCells(problem) > kMaxExactCells)
    return Applicability::no("a quantised filter has more than 256 cells");
  return VectorOutput::check(problem);
}

ConstantPlan tarpon::packDepthwiseFilter(const Problem &problem,
                                         int64_t channelStride) {
  int64_t channels = problem.operands[1].shape[0];
  int64_t cells = getFilterCells(problem);
  DType dtype = problem.operands[1].dtype;
  auto zeroPoint = static_cast<float>(problem.operands[1].zeroPoint);
  auto make = [=](const ConstantOperands &constants) {
    int64_t padded = channelStride ? channelStride : channels;
    std::vector<float> packed(padded * cells, 0.0f);
    const char *filter = constants[1].data();
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t cell = 0; cell < cells; ++cell) {
        int64_t index = c * cells + cell;
        float value = runtime::loadAsFloat(
            dtype, filter + index * runtime::dtypeBytes(dtype));
        packed[channelStride ? cell * channelStride + c : index] =
            value - zeroPoint;
      }
    std::vector<char> bytes(packed.size() * sizeof(float));
    std::memcpy(bytes.data(), packed.data(), bytes.size());
    return bytes;
  };
  return {make};
}

std::vector<float> tarpon::getDepthwiseScales(const Problem &problem,
                                              int64_t size) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  std::vector<float> scales(size, 0.0f);
  for (int64_t c = 0; c < filter.shape[0]; ++c)
    scales[c] =
        input.scales.front() * filter.scales[filter.scales.size() > 1 ? c : 0];
  return scales;
}
