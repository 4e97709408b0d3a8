//===- Phases.h - Transposed convolution as forward ones --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Place i of the result of a transposed convolution adds up, over the taps t
// for which (i + pad - t * dilation) is a multiple of the stride, that place of
// the input times the tap. These taps depend only on i modulo the stride: each
// residue is a phase, and its places are the results of a forward convolution
// of stride 1 with some of the taps, in reverse.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONVBACKWARD_PHASES_H
#define TARPON_LIB_KERNELS_HOST_CONVBACKWARD_PHASES_H

#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// The places first, first + stride, ... of one dimension of the result.
struct PhaseDim {
  int64_t places = 1; ///< of the result
  /// The taps of the forward convolution; place i of it reads input places i -
  /// pad + t * dilation. Without taps the result is zero.
  int64_t taps = 1, dilation = 1, pad = 0;
  /// Tap t of it is tap lastTap - t * tapStep of the filter.
  int64_t lastTap = 0, tapStep = 1;
};

/// `residue` is from 0 to stride - 1; `size` is that of the result.
PhaseDim getPhase(int64_t residue, int64_t size, int64_t kernel, int64_t stride,
                  int64_t dilation, int64_t pad);

/// The phases of a transposed convolution of one to three dimensions.
class Phases {
public:
  explicit Phases(const Problem &problem);

  int64_t count() const { return strideD * strideH * strideW; }
  /// By slices and rows: residue (d * strideH + h) * strideW + w.
  const PhaseDim &depth(int64_t phase) const {
    return slices[phase / strideW / strideH];
  }
  const PhaseDim &height(int64_t phase) const {
    return rows[phase / strideW % strideH];
  }
  const PhaseDim &width(int64_t phase) const {
    return columns[phase % strideW];
  }
  /// Returns true if the phase has any taps.
  bool hasTaps(int64_t phase) const {
    return taps(phase) > 0 && places(phase) > 0;
  }
  int64_t taps(int64_t phase) const {
    return depth(phase).taps * height(phase).taps * width(phase).taps;
  }
  int64_t places(int64_t phase) const {
    return depth(phase).places * height(phase).places * width(phase).places;
  }
  /// The phase with the most multiplications.
  int64_t largest() const;

  igemm::Geometry getGeometry(int64_t phase) const;
  /// The filter of a phase, output channel by output channel of all groups, and
  /// within them in the order of a forward convolution's filter.
  std::vector<char> makeFilter(int64_t phase, llvm::ArrayRef<char> filter,
                               int64_t elementBytes) const;

  int64_t strideD = 1, strideH = 1, strideW = 1;

private:
  int64_t batch, groups, channels, outChannels; ///< channels of one group
  int64_t inDepth = 1, inHeight = 1, inWidth = 1;
  int64_t kernelD = 1, kernelH = 1, kernelW = 1;
  std::vector<PhaseDim> slices = {PhaseDim()}, rows = slices, columns;
};

/// The place of a phase for the interleaving launch: f32, in the layout of the
/// problem's result, at these bytes of the workspace; negative if there is
/// none.
struct PhasePlace {
  int64_t bytes, depth, height, width;
};

/// Appends the launch that interleaves the phases and applies the epilogue.
void appendInterleaving(SolutionPlan &plan, const Problem &problem,
                        const Phases &phases,
                        llvm::ArrayRef<PhasePlace> places);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_CONVBACKWARD_PHASES_H
