//===- ResizeTaps.h - The source elements of a resize -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interpolation is separable: each place of a result dimension is a weighted
// sum of a few places of the input's. Places and weights are known at plan
// time, so that kernels are independent of coordinates and modes.
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
  /// True if some places lie outside (tf_crop_and_resize); they have index -1.
  bool hasOutside = false;

  /// Returns true if every place is the same place of the input.
  bool isIdentity() const;
  /// The factor by which elements are repeated: place x is place x / factor of
  /// the input; 0 if there is none.
  int64_t repeats() const;
  /// Returns true if any `lanes` places from x on read less than `lanes` places
  /// of the input from index[x] on, so that a permutation of one vector gives
  /// them.
  bool fitsVector(int64_t lanes) const;
};

ResizeTaps getResizeTaps(const Problem &problem, int64_t dim);

/// The taps of one dimension as parameters of a launch.
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
