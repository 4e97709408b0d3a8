//===- ConvSizes.h - The sizes of a 2-D convolution -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_LEARN_CONVSIZES_H
#define TARPON_LIB_AUTOTUNE_LEARN_CONVSIZES_H

#include "tarpon/Problem/Problem.h"

namespace tarpon {

/// The sizes of a 2-D convolution, as floating-point numbers. Channels are
/// counted per group.
struct ConvSizes {
  double batch = 1, groups = 1, channels = 1, outChannels = 1;
  double height = 1, width = 1, outHeight = 1, outWidth = 1;
  double kernelH = 1, kernelW = 1;

  double outPixels() const { return outHeight * outWidth; }
  /// The number of terms of one sum.
  double depth() const { return channels * kernelH * kernelW; }
};

/// The sizes of a problem that has a kind; see Features.h.
ConvSizes getConvSizes(const Problem &problem);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_LEARN_CONVSIZES_H
