//===- ProblemGenerator.h - Random small problems ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_PROBLEMGENERATOR_H
#define TARPON_TEST_UNIT_KERNELS_PROBLEMGENERATOR_H

#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/ArrayRef.h"

#include <random>

namespace tarpon::test {

/// Makes problems of every operation, dtype, layout and epilogue: a few
/// elements to a few thousand, mostly not in multiples of a vector, with images
/// of one pixel and batches among them. The same seed gives the same problems.
class ProblemGenerator {
public:
  explicit ProblemGenerator(uint64_t seed) : random(seed) {}

  Problem next();
  Problem makeElementwise(); ///< ElementwiseProblems.cpp

  // The parts that generators of other files use.
  int64_t pick(int64_t low, int64_t high); ///< both included
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> options) {
    return options.begin()[pick(0, options.size() - 1)];
  }

  /// A float that is computed with as f32, or one that is smaller.
  DType pickFloat();
  DType pickSmallFloat();

  TensorDesc makeTensor(std::vector<int64_t> shape, Layout layout);
  std::vector<int64_t> makeImage(int64_t rank);
  /// An image of one of these ranks, or a tensor of rank 0 or 1.
  std::vector<int64_t> makeShape(std::initializer_list<int64_t> ranks);
  Layout pickLayout();
  void setType(TensorDesc &desc, DType dtype, bool quantized);
  /// Chooses dtypes for operands and result that a graph may have.
  void chooseTypes(Problem &problem);
  void addEpilogue(Problem &problem);
  /// Now and then, makes a movement's operands integers or bools that it passes
  /// on.
  void moveIntegers(Problem &problem, llvm::MutableArrayRef<TensorDesc> moved);
  /// The attributes of an elementwise op. (ElementwiseProblems.cpp)
  static ProblemAttrs makeStepAttrs(OpKind op);
  /// Gives the result the elements of the first operand.
  static void passElementsOn(Problem &problem);
  void addWindow(Problem &problem, const std::vector<int64_t> &kernel);
  /// The same as chooseTypes for a convolution with a filter.
  void chooseConvTypes(Problem &problem);
  /// i8, with a scale for all, or for each channel of the result.
  void quantizeFilter(TensorDesc &weights);

private:
  Problem nextDense();
  /// Makes some nhwc tensors slices of tensors with more channels.
  void addSlices(Problem &problem);
  Problem makeConv(bool depthwise);
  Problem makeStem();      ///< ConvProblems.cpp
  Problem makePointwise(); ///< ConvProblems.cpp
  Problem makeGrouped();   ///< ConvProblems.cpp
  Problem makePool();
  Problem makeGlobalPool();
  Problem makeBatchNorm();
  Problem makeSoftmax();
  Problem makeLrn();
  Problem makeConcat();
  Problem makeTranspose();
  Problem makePad();    ///< in ShapeProblems.cpp
  Problem makeResize(); ///< in ShapeProblems.cpp
  Problem makeConvert();
  Problem makeReshape();
  Problem makeShuffleChannels();

  std::mt19937_64 random;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_PROBLEMGENERATOR_H
