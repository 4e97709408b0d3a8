//===- TileVariants.h - Other tiles than the ranked ones -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILEVARIANTS_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILEVARIANTS_H

#include "Tile.h"

#include <vector>

namespace tarpon::gpuigemm {

/// Variants of a tile with one field changed, as far as that makes sense.
std::vector<TileFields> getVariants(const GpuTarget &gpu, DType dtype,
                                    const TileFields &fields);

/// The tile, and variants for workgroups that take blocks in turn: of wgmma,
/// with fewer stages, and with warpgroups of twice as many pixels.
std::vector<TileFields> getTurnTiles(const GpuTarget &gpu, DType dtype,
                                     const TileFields &fields);

/// Tiles of warpgroups, of which each multiplies 64 or 128 pixels.
std::vector<TileFields> getGroupTiles(const GpuTarget &gpu, DType dtype,
                                      const TileFields &usual);

/// The tile divided among fewer or more waves, or waves of another shape; and
/// without swizzles, which the banks may not need. ldmatrix needs them.
std::vector<TileFields> getWaveVariants(const GpuTarget &gpu,
                                        const TileFields &fields);

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_TILEVARIANTS_H
