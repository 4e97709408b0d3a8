//===- Solvers.h - One accessor for each solver -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_SOLVERS_H
#define TARPON_LIB_KERNELS_HOST_SOLVERS_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

const Solver &getConvDirectRows();
const Solver &getConvFft();
const Solver &getConvImplicitGemm();
const Solver &getWinogradF2x3();
const Solver &getWinogradF4x3();
const Solver &getConvDataDepthwiseNchw();
const Solver &getConvDataDepthwiseNhwc();
const Solver &getConvDataImplicitGemm();
const Solver &getConvWeightsOuter();
const Solver &getGemm();
const Solver &getGemv();
const Solver &getElementwise();
const Solver &getArgReduce();
const Solver &getBatchNorm();
const Solver &getBatchNormBackward();
const Solver &getBatchNormTraining();
const Solver &getBatchNormVariable();
const Solver &getGroupNorm();
const Solver &getGroupNormNhwc();
const Solver &getLayerNorm();
const Solver &getReduce();
const Solver &getSoftmaxAxis();
const Solver &getSoftmaxBackward();
const Solver &getPoolNhwc();
const Solver &getPoolNchw();
const Solver &getPoolRows();
const Solver &getPoolIndicesNhwc();
const Solver &getPoolIndicesNchw();
const Solver &getMaxUnpoolNchw();
const Solver &getGlobalPoolNchw();
const Solver &getDepthwiseTaps();
const Solver &getDepthwiseNhwc();
const Solver &getDepthwiseNchw();
const Solver &getSoftmax();
const Solver &getLrn();
const Solver &getLrnBackward();
const Solver &getConcat();
const Solver &getTranspose();
const Solver &getReshape();
const Solver &getShuffleChannels();
const Solver &getPad();
const Solver &getPoolGradientNhwc();
const Solver &getPoolGradientNchw();
const Solver &getResizeNhwc();
const Solver &getResizeNchw();
const Solver &getConvert();
const Solver &getRecurrent();
const Solver &getReference();

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_SOLVERS_H
