//===- ResizedDim.h - Where places of a resize lie --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_RESIZEDDIM_H
#define TARPON_IR_RESIZEDDIM_H

#include "tarpon/IR/TarponDialect.h"

namespace tarpon {

/// One dimension of a tarpon.resize, in the formulas of ONNX.
struct ResizedDim {
  ResizeCoordinates coordinates;
  /// The sizes of input and result, and the scale, of which rounding may have
  /// made the latter.
  double in, out, scale;
  double begin = 0, end = 1; ///< the region of interest

  /// The place in the input of place `x` of the result.
  double locate(double x) const;
};

/// The weight of an element at this distance from the place in question (R.
/// Keys, "Cubic convolution interpolation", 1981).
double weighCubic(double distance, double a);

} // namespace tarpon

#endif // TARPON_IR_RESIZEDDIM_H
