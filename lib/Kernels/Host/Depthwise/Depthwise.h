//===- Depthwise.h - Common code of depthwise convolutions ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_DEPTHWISE_DEPTHWISE_H
#define TARPON_LIB_KERNELS_HOST_DEPTHWISE_DEPTHWISE_H

#include "Common/VectorAccess.h"

namespace tarpon {

/// Checks that `problem` is a convolution of every channel with a constant
/// filter of its own, computed in f32.
Applicability checkDepthwise(const Problem &problem);

/// The number of cells of one channel's filter.
int64_t getFilterCells(const Problem &problem);

/// The filter as f32, minus its zero point, not scaled. Channels are
/// consecutive and padded with zeros to `channelStride`; if that is 0, cells
/// are consecutive. Products of 8-bit integers and their sums are exact in f32.
ConstantPlan packDepthwiseFilter(const Problem &problem, int64_t channelStride);

/// The factor of each channel's sum, if the operands are quantised; padded with
/// zeros to `size`.
std::vector<float> getDepthwiseScales(const Problem &problem, int64_t size);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_DEPTHWISE_DEPTHWISE_H
