//===- AreaProblems.h - Random problems of each area ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function makes one problem of its area; see ProblemGenerator::next.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_AREAPROBLEMS_H
#define TARPON_TEST_UNIT_KERNELS_AREAPROBLEMS_H

#include "ProblemGenerator.h"

namespace tarpon::test {

/// Convolutions of far taps: AtrousProblems.cpp.
Problem makeAtrousProblem(ProblemGenerator &generator);
/// The gradients of convolutions: ConvDirectionProblems.cpp.
Problem makeConvDirectionProblem(ProblemGenerator &generator);
/// Attention: AttentionProblems.cpp.
Problem makeAttentionProblem(ProblemGenerator &generator);
/// The same in f16 or bf16, with rows of whole vectors.
Problem makeHalfAttentionProblem(ProblemGenerator &generator);
/// Products with weights in blocks: BlockMatMulProblems.cpp.
Problem makeBlockMatMulProblem(ProblemGenerator &generator);
/// Depthwise convolutions with channels last: DepthwiseProblems.cpp.
Problem makeDepthwiseProblem(ProblemGenerator &generator);
/// Convolutions of large filters: FftProblems.cpp.
Problem makeFftProblem(ProblemGenerator &generator);
/// Matrix products: GemmProblems.cpp.
Problem makeGemmProblem(ProblemGenerator &generator);
/// Elements selected at run time: IndexProblems.cpp.
Problem makeIndexProblem(ProblemGenerator &generator);
/// LSTM, GRU, RNN: RecurrentProblems.cpp.
Problem makeRecurrentProblem(ProblemGenerator &generator);
/// Normalisations: NormProblems.cpp.
Problem makeNormProblem(ProblemGenerator &generator);
/// Products with large weights: StrassenProblems.cpp.
Problem makeStrassenProblem(ProblemGenerator &generator);
/// Convolutions of 3 x 3: WinogradProblems.cpp.
Problem makeWinogradProblem(ProblemGenerator &generator);
Problem makePoolGradientProblem(ProblemGenerator &generator);
/// Maxima with indices, and back: PoolIndicesProblems.cpp.
Problem makePoolIndicesProblem(ProblemGenerator &generator);
/// Operations on each channel in front of convolutions: ProducerProblems.cpp.
Problem makeProducerProblem(ProblemGenerator &generator);
/// Reductions, arg max and arg min: ReduceProblems.cpp.
Problem makeReduceProblem(ProblemGenerator &generator);

/// Samples and regions of images: SampleProblems.cpp.
Problem makeSampleProblem(ProblemGenerator &generator);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_AREAPROBLEMS_H
