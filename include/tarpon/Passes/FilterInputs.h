//===- FilterInputs.h - Expected inputs of a filter's weights ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_FILTERINPUTS_H
#define TARPON_PASSES_FILTERINPUTS_H

#include "tarpon/IR/TarponOps.h"

#include <optional>

namespace tarpon {

/// The place of each weight of a constant filter: which result channel it
/// contributes to, and the mean of the inputs that it is multiplied by, given
/// the means of the input channels. Weights that reach into the padding meet
/// zeros there.
class FilterInputs {
public:
  /// Returns nothing for ops whose filters are shared between result channels.
  static std::optional<FilterInputs> create(mlir::Operation *root);

  int64_t getNumResultChannels() const { return resultChannels; }
  int64_t getNumInputChannels() const { return inputChannels; }
  /// The dimension of the data operand that counts the input channels.
  int64_t getDataAxis() const { return dataAxis; }
  /// Returns the indices of one result channel's weights in the filter.
  std::vector<int64_t> getWeights(int64_t resultChannel) const;
  /// Returns the mean of the inputs of each of these weights.
  std::vector<float> getMeans(int64_t resultChannel,
                              llvm::ArrayRef<float> channelMeans) const;

private:
  int64_t resultChannels = 0, inputChannels = 0;
  int64_t dataAxis = 1;
  /// Input channels of one group, and result channels of one group.
  int64_t groupInputs = 0, groupResults = 0;
  /// The part of the result's pixels at which each tap is inside of the image.
  std::vector<float> coverage;
  /// From a weight to that of the next result channel, input channel and tap.
  int64_t resultStride = 0, inputStride = 0;
};

} // namespace tarpon

#endif // TARPON_PASSES_FILTERINPUTS_H
