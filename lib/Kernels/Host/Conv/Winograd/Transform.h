//===- Transform.h - The matrices of one Winograd algorithm -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// F(m x m, 3 x 3) computes m x m outputs from (m + 2) x (m + 2) inputs d and
// the filter g as A^T [(G g G^T) * (B^T d B)] A, with one product for each of
// the (m + 2)^2 points instead of nine for each of the m^2 outputs: a quarter
// of them for m = 4, 1 / 2.25 for m = 2 (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", CVPR 2016). The matrices follow from the
// points at which the polynomials are evaluated (Toom and Cook): here 0,
// infinity and pairs of one number and its negative, which share most of their
// arithmetic.
//
// The points decide the error (Barabasz, Anderson, Soodhalter and Gregg, "Error
// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
// Networks", ACM TOMS 46(4), 2020). errorGrowth() is the factor by which the
// rounding errors of the products in the worst output exceed those of a direct
// sum, for independent operands of one variance: the norm of A applied to rows
// of G and B, divided by that of nine products. It is 1.7 for the points 1 of
// F(2x2), and 31 for 1, 2 of Lavin and Gray's F(4x4). Of all pairs that are
// multiples of 1/8, 5/8 and 3/2 have the least mean growth, with 8.2 in the
// worst output, and cost no more instructions, because all constants are
// factors of an FMA. Their powers are exact in f32.
//
// Relative L2 error measured on uniform operands, summed in f32 in order:
//
//   channels   direct    F(2x2)    F(4x4)    F(4x4) with 1, 2
//   16         2.2e-7    1.6e-7    5.2e-7    1.1e-6
//   64         4.2e-7    2.8e-7    7.8e-7    1.6e-6
//   256        8.5e-7    5.0e-7    1.4e-6    3.1e-6
//   512        1.2e-6    6.7e-7    2.0e-6    4.6e-6
//
// The error is less than the growth predicts because a product's sum runs over
// a ninth of the terms. It grows with the root of the channels.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TRANSFORM_H
#define TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TRANSFORM_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

#include <vector>

namespace tarpon::winograd {

class Transform {
public:
  /// The points are 0, `pairs` and their negatives, and infinity.
  explicit Transform(std::vector<double> pairs);

  /// The outputs and inputs of a tile along one dimension.
  int64_t outTile() const { return 2 * numPairs(); }
  int64_t inTile() const { return outTile() + 2; }
  /// The number of products per tile and pair of channels.
  int64_t points() const { return inTile() * inTile(); }

  /// G g G^T of the 3 x 3 filter `taps`, row-major, into points() `values`.
  void transformFilter(llvm::ArrayRef<float> taps,
                       llvm::MutableArrayRef<double> values) const;

  /// Where the pairs and the taps are integers, G g G^T is an integer times the
  /// factor of the point; there are points() of them.
  std::vector<double> pointFactors() const;
  /// The largest |B^T d B| of each point for inputs in an interval of length
  /// one that contains zero.
  std::vector<double> inputGrowth() const;

  /// B^T d for one column d of inTile() vectors, of integers where the pairs
  /// are.
  mlir::SmallVector<mlir::Value> emitInput(KernelBuilder &b,
                                           mlir::ValueRange d) const;
  /// A^T m for one column m of inTile() vectors.
  mlir::SmallVector<mlir::Value> emitOutput(KernelBuilder &b,
                                            mlir::ValueRange m) const;

  double errorGrowth() const;

private:
  using Matrix = std::vector<std::vector<double>>;
  int64_t numPairs() const { return static_cast<int64_t>(pairs.size()); }
  std::vector<double> finitePoints() const;
  std::vector<double> squaresPolynomial(int64_t without) const;
  /// The product of the differences between a finite point and the others.
  double rowScale(double point) const;
  Matrix makeG() const;
  Matrix makeB() const;
  Matrix makeA() const;

  std::vector<double> pairs;
  Matrix g;
};

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TRANSFORM_H
