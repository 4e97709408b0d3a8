//===- FewChannels.h - Converts layouts of few channels ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane has four pixels with all of their channels, between nchw and nhwc:
// few enough for registers, so that every access is a vector and nothing goes
// through LDS.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_FEWCHANNELS_H
#define TARPON_LIB_KERNELS_GPU_FEWCHANNELS_H

#include "Common/LaunchBuilder.h"

namespace tarpon {

/// Returns true if the problem, a conversion between nchw and nhwc, has few
/// channels, and pixels for whole lanes.
bool hasFewChannels(const Problem &problem);

/// Appends the launch that converts it.
void planFewChannels(SolutionPlan &plan, const Problem &problem);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_FEWCHANNELS_H
