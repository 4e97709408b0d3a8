//===- LearnedModels.h - Models of made-up measurements ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_LEARNEDMODELS_H
#define TARPON_TEST_UNIT_AUTOTUNE_LEARNEDMODELS_H

#include "tarpon/Autotune/Learn/ModelTraining.h"

#include <vector>

namespace tarpon::test {

/// A pointwise f32 convolution of 64 output channels in nhwc.
Problem makeConv(int64_t channels, int64_t size);

/// "Measurements" of all configs of its solvers, by a made-up rule: implicit
/// GEMM is the faster the more channels there are, the rows solver the other
/// way round, equal at 48; and tiles of 8 pixels are best.
MeasuredProblem makeMeasured(const Problem &problem, const TargetInfo &target);

/// Problems with 8 to 256 channels and images of 7 to 56 pixels.
std::vector<MeasuredProblem> makeManyMeasured(const TargetInfo &target);

/// Trained on those of each target.
LearnedModel makeModel(llvm::ArrayRef<TargetInfo> targets);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_LEARNEDMODELS_H
