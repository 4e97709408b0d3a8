//===- ResizeTaps.h - What a resize makes its elements of -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interpolation is separable: each place of a result dimension is a weighted
// sum of a few places of the input's. Both are known at plan time, so that
// kernels know nothing of coordinates and modes.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_RESIZE_RESIZETAPS_H
#define TARPON_LIB_KERNELS_HOST_RESIZE_RESIZETAPS_H

#include "Common/LaunchBuilder.h"

namespace tarpon {

/// One dimension. Tap t of place x is entry t * places + x.
struct ResizeTaps {
  int64_t taps = 1, places = 0;
  std::vector<int32_t> index; ///< inside of the input
  std::vector<float> weight;
  /// Places that lie outside with tf_crop_and_resize have indices of -1.
  bool hasOutside = false;

  /// Every place is the same place of the input.
  bool isIdentity() const;
  /// Place x is place x / factor of the input; 0 if there is no such factor.
  int64_t repeats() const;
  /// Any `lanes` places from x on read less than `lanes` places of the input
  /// from index[x] on, so that a permutation of one vector gives them.
  bool fitsVector(int64_t lanes) const;
};

ResizeTaps getResizeTaps(const Problem &problem, int64_t dim);

/// The taps of one dimension as a launch has them.
struct ResizeTable {
  int64_t taps = 1;
  bool isIdentity = true;
  int64_t indexBuffer = -1, weightBuffer = -1, placesParam = -1;

  ResizeTable(LaunchBuilder &launch, const ResizeTaps &taps);
  /// "i" for identity, else the number of taps.
  std::string symbolPart() const;
  /// The place (i64) and weight (f32) of tap `tap` of place `x`.
  mlir::Value index(KernelBuilder &b, mlir::Value x, int64_t tap) const;
  mlir::Value weight(KernelBuilder &b, mlir::Value x, int64_t tap) const;
  /// The same for places x, x + 1, ... as i32 and f32.
  mlir::Value indices(KernelBuilder &b, mlir::Value x, int64_t tap) const;
  mlir::Value weights(KernelBuilder &b, mlir::Value x, int64_t tap) const;
  bool isWeighted() const { return taps > 1; }

private:
  mlir::Value pointer(KernelBuilder &b, int64_t buffer, mlir::Value x,
                      int64_t tap) const;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_RESIZE_RESIZETAPS_H
