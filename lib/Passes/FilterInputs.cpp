//===- FilterInputs.cpp - Expected inputs of a filter's weights -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/FilterInputs.h"

#include "Regions.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

/// Returns the part of the result's places in one dimension at which a tap is
/// inside of the input.
static float getCoverage(int64_t places, int64_t stride, int64_t first,
                         int64_t size) {
  int64_t inside = 0;
  for (int64_t place = 0; place < places; ++place) {
    int64_t position = first + place * stride;
    inside += position >= 0 && position < size;
  }
  return places ? static_cast<float>(inside) / static_cast<float>(places) : 0;
}

/// Returns the coverage of all taps in row-major order.
static std::vector<float> getCoverages(ConvOp op) {
  ArrayRef<int64_t> kernel =
      getTensorType(op.getFilter()).getShape().drop_front(2);
  ArrayRef<int64_t> image =
      getTensorType(op.getInput()).getShape().drop_front(2);
  ArrayRef<int64_t> places =
      getTensorType(op.getResult()).getShape().drop_front(2);
  std::vector<float> all = {1};
  for (auto [dim, taps] : llvm::enumerate(kernel)) {
    std::vector<float> next;
    for (float outer : all)
      for (int64_t tap = 0; tap < taps; ++tap)
        next.push_back(outer * getCoverage(places[dim], op.getStrides()[dim],
                                           tap * op.getDilations()[dim] -
                                               op.getPads()[dim],
                                           image[dim]));
    all = std::move(next);
  }
  return all;
}

std::optional<FilterInputs> FilterInputs::create(Operation *root) {
  FilterInputs inputs;
  if (auto conv = dyn_cast<ConvOp>(root)) {
    ArrayRef<int64_t> shape = getTensorType(conv.getFilter()).getShape();
    int64_t groups = static_cast<int64_t>(conv.getGroup());
    inputs.coverage = getCoverages(conv);
    inputs.resultChannels = shape[0];
    inputs.groupInputs = shape[1];
    inputs.inputChannels = shape[1] * groups;
    inputs.groupResults = shape[0] / groups;
    inputs.inputStride = static_cast<int64_t>(inputs.coverage.size());
    inputs.resultStride = shape[1] * inputs.inputStride;
    return inputs;
  }
  auto product = dyn_cast<MatMulOp>(root);
  if (!product || product.getTransposeLhs() ||
      getTensorType(product.getRhs()).getRank() != 2)
    return std::nullopt;
  ArrayRef<int64_t> shape = getTensorType(product.getRhs()).getShape();
  bool transposed = product.getTransposeRhs();
  inputs.coverage = {1};
  inputs.dataAxis = getTensorType(product.getLhs()).getRank() - 1;
  inputs.resultChannels = inputs.groupResults = shape[transposed ? 0 : 1];
  inputs.inputChannels = inputs.groupInputs = shape[transposed ? 1 : 0];
  inputs.resultStride = transposed ? shape[1] : 1;
  inputs.inputStride = transposed ? 1 : shape[1];
  return inputs;
}

std::vector<int64_t> FilterInputs::getWeights(int64_t resultChannel) const {
  std::vector<int64_t> indices;
  for (int64_t input = 0; input < groupInputs; ++input)
    for (int64_t tap = 0; tap < static_cast<int64_t>(coverage.size()); ++tap)
      indices.push_back(resultChannel * resultStride + input * inputStride +
                        tap);
  return indices;
}

std::vector<float> FilterInputs::getMeans(int64_t resultChannel,
                                          ArrayRef<float> channelMeans) const {
  std::vector<float> means;
  int64_t first = resultChannel / groupResults * groupInputs;
  for (float mean : channelMeans.slice(first, groupInputs))
    for (float part : coverage)
      means.push_back(mean * part);
  return means;
}
