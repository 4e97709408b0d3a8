//===- FilterRounding.cpp - Rounds constant filters to 8 bits -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FilterRounding.h"

#include "QuantizedScale.h"
#include "Regions.h"
#include "tarpon/IR/ConstantData.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

/// Weights whose rounding error is at least this part of a step may be rounded
/// to the other side: their squared error grows by a fifth of a step at most.
static constexpr float kFlippableError = 0.4f;

namespace {

/// The weights of a filter in steps of their channel's scale, before and after
/// rounding.
struct Steps {
  std::vector<float> exact, rounded;
  std::vector<double> scales;
};

} // namespace

static Steps roundToNearest(Value filter, int64_t axis) {
  RankedTensorType type = getTensorType(filter);
  Steps steps;
  steps.exact = getConstantFloats(getConstantValue(filter));
  int64_t channels = type.getDimSize(axis);
  int64_t inner =
      ShapedType::getNumElements(type.getShape().drop_front(axis + 1));
  auto getChannel = [&](size_t index) { return index / inner % channels; };

  std::vector<float> largest(channels, 0);
  for (auto [index, value] : llvm::enumerate(steps.exact))
    largest[getChannel(index)] =
        std::max(largest[getChannel(index)], std::fabs(value));
  for (float value : largest)
    steps.scales.push_back(makeScale(value, 127));
  steps.rounded.resize(steps.exact.size());
  for (auto [index, value] : llvm::enumerate(steps.exact)) {
    value /= static_cast<float>(steps.scales[getChannel(index)]);
    // fmin and fmax drop a NaN, which std::clamp would pass on.
    steps.rounded[index] =
        std::fmin(127, std::fmax(-127, std::nearbyint(value)));
  }
  return steps;
}

static Value createFilter(OpBuilder &builder, Value filter, int64_t axis,
                          const Steps &steps) {
  std::vector<char> bytes;
  for (float value : steps.rounded)
    bytes.push_back(static_cast<char>(static_cast<int8_t>(value)));
  auto element = quant::UniformQuantizedPerAxisType::get(
      quant::QuantizationFlags::Signed, builder.getI8Type(),
      builder.getF32Type(), steps.scales,
      SmallVector<int64_t>(steps.scales.size(), 0), axis,
      /*storageTypeMin=*/-127, /*storageTypeMax=*/127);
  return createConstant(builder, filter.getLoc(),
                        withElementType(getTensorType(filter), element),
                        std::move(bytes));
}

namespace {

/// A weight that may be rounded to the other side.
struct Flip {
  /// By how much the result's mean changes, in steps.
  double change;
  /// The growth of the squared error per change of the mean.
  double cost;
  int64_t index;
  float rounded;
};

} // namespace

/// Rounds some weights of one result channel to the other side, those first
/// that cost least, as long as that brings the mean closer. Returns the error
/// of the mean that is left, in steps.
static double balance(Steps &steps, ArrayRef<int64_t> weights,
                      ArrayRef<float> exactMeans, ArrayRef<float> storedMeans) {
  double error = 0;
  for (auto [index, exact, stored] :
       llvm::zip_equal(weights, exactMeans, storedMeans))
    error += static_cast<double>(steps.rounded[index]) * stored -
             static_cast<double>(steps.exact[index]) * exact;
  std::vector<Flip> flips;
  for (auto [index, mean] : llvm::zip_equal(weights, storedMeans)) {
    float residual = steps.rounded[index] - steps.exact[index];
    float other = steps.rounded[index] + (residual > 0 ? -1.f : 1.f);
    double change = static_cast<double>(residual > 0 ? -mean : mean);
    if (std::fabs(residual) < kFlippableError || change * error >= 0 ||
        std::fabs(other) > 127)
      continue;
    flips.push_back({change, (1 - 2 * std::fabs(residual)) / std::fabs(change),
                     index, other});
  }
  llvm::stable_sort(
      flips, [](const Flip &a, const Flip &b) { return a.cost < b.cost; });
  for (const Flip &flip : flips)
    if (std::fabs(error + flip.change) < std::fabs(error)) {
      error += flip.change;
      steps.rounded[flip.index] = flip.rounded;
    }
  return error;
}

RoundedFilter tarpon::detail::roundFilter(OpBuilder &builder, Value filter,
                                          int64_t axis) {
  return {createFilter(builder, filter, axis, roundToNearest(filter, axis)),
          {}};
}

RoundedFilter tarpon::detail::roundFilter(OpBuilder &builder, Value filter,
                                          int64_t axis,
                                          const FilterInputs &inputs,
                                          const InputMeans &means) {
  Steps steps = roundToNearest(filter, axis);
  RoundedFilter result;
  for (int64_t channel = 0; channel < inputs.getNumResultChannels();
       ++channel) {
    std::vector<int64_t> weights = inputs.getWeights(channel);
    std::vector<float> exact = inputs.getMeans(channel, means.exact);
    std::vector<float> stored = inputs.getMeans(channel, means.stored);
    double error = balance(steps, weights, exact, stored);
    result.correction.push_back(
        static_cast<float>(-error * steps.scales[channel]));
  }
  result.filter = createFilter(builder, filter, axis, steps);
  return result;
}
