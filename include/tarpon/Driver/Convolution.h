//===- Convolution.h - Convolutions as MIOpen describes them ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What MIOpen's driver lines and the keys of its databases say of a
// convolution, and the problem that it poses here.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_CONVOLUTION_H
#define TARPON_DRIVER_CONVOLUTION_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Result.h"

#include <string>
#include <vector>

namespace tarpon {

/// -F: what is computed of a convolution.
enum class ConvDirection : uint8_t {
  Forward = 1,
  BackwardData = 2,
  BackwardWeights = 4
};

/// A convolution seen from its forward side, whatever is computed of it.
struct ConvDescription {
  int64_t batch = 1, channels = 1, outChannels = 1, groups = 1;
  /// One value per spatial dimension, of which there are 2 or 3.
  std::vector<int64_t> image, kernel, strides, pads, dilations;
  /// "default", or "same" or "valid", for which `pads` do not count.
  std::string padMode = "default";
  /// "NCHW", "NHWC", "NCDHW", "NDHWC"; "" for the default.
  std::string inputLayout, filterLayout, outputLayout;
};

/// The problem, or why it cannot be posed.
runtime::Result<Problem> makeConvProblem(const ConvDescription &conv,
                                         ConvDirection direction, DType dtype);

/// "convfp16 -n 1 -c 64 ... -F 1": the line that asks for that problem. Only
/// for the dtypes of DriverTypes.h.
std::string printConvLine(const ConvDescription &conv, ConvDirection direction,
                          DType dtype);

} // namespace tarpon

#endif // TARPON_DRIVER_CONVOLUTION_H
