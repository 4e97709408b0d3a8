//===- FusedEstimate.h - Times of fused producers ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_FUSEDESTIMATE_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_FUSEDESTIMATE_H

#include "Engine.h"

namespace tarpon::gpuigemm {

/// The expectedFraction of two launches, to which that of one is relative.
inline constexpr double kSeparateFraction = 0.5;

/// The clocks from the start of a launch to the start of the next one, with
/// such a tile: of a product whose input its producer makes on the way to LDS.
double estimateFused(const GpuTarget &gpu, const Product &product,
                     const Tile &tile);

/// The clocks of two launches, each of the kernel that its operation has by
/// itself. Of the tile only the dtype matters.
double estimateSeparate(const GpuTarget &gpu, const Product &product,
                        const Tile &tile);

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_FUSEDESTIMATE_H
