//===- TileWork.h - Distributes tiles of images to lanes --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of the transforms before and after the products: a lane has one
// vector of channels of one tile. If the channels of a pixel are contiguous,
// neighbouring lanes have neighbouring vectors. In nchw a run of lanes has
// neighbouring tiles, and the next run the next channels of the same tiles, so
// that a wave reads and writes whole pieces of both the image and the
// transformed tiles.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_WINOGRAD_TILEWORK_H
#define TARPON_LIB_KERNELS_GPU_WINOGRAD_TILEWORK_H

#include "GPU/ImplicitGemm/Ints.h"
#include "GPU/MagicDivision.h"

namespace tarpon::gpuwinograd {

using gpuigemm::Ints;

/// The tiles of all images.
struct TileGrid {
  int64_t images, tilesY, tilesX;

  int64_t tiles() const { return images * tilesY * tilesX; }
};

/// The lanes of a workgroup.
inline constexpr int64_t kWorkgroup = 256;

class TileWork {
public:
  using Value = mlir::Value;

  /// `vectors` is the number of vectors of channels of each tile; for `planes`
  /// see above.
  TileWork(LaunchBuilder &launch, const TileGrid &grid, int64_t vectors,
           bool planes);

  int64_t tasks() const;

  /// The place of a lane's work; all values are i32.
  struct Place {
    Value tile, vector;
    Value image, y, x; ///< of the tile: its image, row and column
  };
  void emit(KernelBuilder &b,
            llvm::function_ref<void(const Place &)> body) const;

private:
  bool planes;
  int64_t numPlaces;
  int64_t places, tiles; ///< parameters
  MagicDivisor vectors, tilesX, tilesY;
};

} // namespace tarpon::gpuwinograd

#endif // TARPON_LIB_KERNELS_GPU_WINOGRAD_TILEWORK_H
