//===- ConvProblems.h - Convolutions of driver lines ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts that conv and CBAInfer share.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_DRIVER_CONVPROBLEMS_H
#define TARPON_LIB_DRIVER_CONVPROBLEMS_H

#include "Bases.h"

#include "tarpon/Driver/Convolution.h"

/// The flags that describe the convolution, as items of a list.
#define TARPON_DRIVER_CONV_FLAGS                                               \
  {'n', "batchsize", "100"}, {'c', "in_channels", "3"}, {'!', "in_d", "32"},   \
      {'H', "in_h", "32"}, {'W', "in_w", "32"}, {'k', "out_channels", "32"},   \
      {'@', "fil_d", "3"}, {'y', "fil_h", "3"}, {'x', "fil_w", "3"},           \
      {'#', "conv_stride_d", "1"}, {'u', "conv_stride_h", "1"},                \
      {'v', "conv_stride_w", "1"}, {'$', "pad_d", "0"}, {'p', "pad_h", "0"},   \
      {'q', "pad_w", "0"}, {'^', "dilation_d", "1"}, {'l', "dilation_h", "1"}, \
      {'j', "dilation_w", "1"}, {'g', "group_count", "1"},                     \
      {'_', "spatial_dim", "2"}, {'z', "pad_mode", "default", Use::Text},      \
      {'I', "in_layout", "", Use::Text}, {'O', "out_layout", "", Use::Text}, { \
    'f', "fil_layout", "", Use::Text                                           \
  }

namespace tarpon::driver {

/// A convolution described by its forward pass, whatever its direction.
struct ConvShape {
  /// x, w and y; x of a transposed convolution is the tensor that the driver
  /// calls output.
  std::vector<int64_t> input, filter, output;
  Layout inputLayout, outputLayout;
  std::vector<int64_t> strides, pads, dilations, outputPadding;
  int64_t groups = 1;
};

/// Reads the common flags. With `transposed` the driver's input is the forward
/// convolution's output.
runtime::Result<ConvShape> readConvShape(const Flags &flags, bool transposed);

Problem makeForward(const ConvShape &shape, DType dtype);
Problem makeBackwardData(const ConvShape &shape, DType dtype);
Problem makeBackwardWeights(const ConvShape &shape, DType dtype);

/// Appends a bias, or another operand with one value per channel of the result.
void addPerChannel(Problem &problem, OpKind op);
inline void addBias(Problem &problem) { addPerChannel(problem, OpKind::Add); }

} // namespace tarpon::driver

#endif // TARPON_LIB_DRIVER_CONVPROBLEMS_H
