//===- Convolution.h - Convolutions as MIOpen describes them ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes a convolution in the terms of MIOpen's driver lines and database
// keys, and makes the problem that it poses.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_CONVOLUTION_H
#define TARPON_DRIVER_CONVOLUTION_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// -F: the direction of a convolution.
enum class ConvDirection : uint8_t {
  Forward = 1,
  BackwardData = 2,
  BackwardWeights = 4
};

/// A convolution described by its forward pass, whatever its direction.
struct ConvDescription {
  int64_t batch = 1, channels = 1, outChannels = 1, groups = 1;
  /// One value per spatial dimension; there are 2 or 3.
  std::vector<int64_t> image, kernel, strides, pads, dilations;
  /// "default", or "same" or "valid", with which `pads` are ignored.
  std::string padMode = "default";
  /// "NCHW", "NHWC", "NCDHW", "NDHWC"; "" for the default.
  std::string inputLayout, filterLayout, outputLayout;
};

/// Returns the problem, or an error that says why it cannot be posed.
runtime::Result<Problem> makeConvProblem(const ConvDescription &conv,
                                         ConvDirection direction, DType dtype);

/// A convolution with what makes it a problem.
struct DescribedConv {
  ConvDescription conv;
  ConvDirection direction = ConvDirection::Forward;
  DType dtype = DType::F32;
};

/// Returns the convolution that poses exactly this problem, of a dtype of
/// DriverTypes.h; none if no description does: it has an epilogue, a result of
/// another dtype, different paddings at both ends, and so on.
std::optional<DescribedConv> describeConv(const Problem &problem);

/// Prints the line that asks for that problem: "convfp16 -n 1 -c 64 ... -F 1".
/// Only for the dtypes of DriverTypes.h.
std::string printConvLine(const ConvDescription &conv, ConvDirection direction,
                          DType dtype);

} // namespace tarpon

#endif // TARPON_DRIVER_CONVOLUTION_H
