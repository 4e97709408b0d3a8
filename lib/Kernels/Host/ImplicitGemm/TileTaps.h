//===- TileTaps.h - The taps that tiles of pixels read ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Near the borders of an image, a tap may be padding for all pixels of a tile;
// with large dilations that is so for most tiles. Such taps are neither packed
// nor multiplied if a table lists the others.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_TILETAPS_H
#define TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_TILETAPS_H

#include "ImplicitGemm.h"

namespace tarpon::igemm {

/// The taps that read input for some pixel of each tile of an image.
class TileTaps {
public:
  TileTaps(const Geometry &geometry, int64_t tileM);

  /// The share of all taps of all tiles.
  double getShare() const;

  /// The table is of 64-bit numbers. For each tile it tells where, in bytes
  /// from the table's start, the list of its taps begins and ends.
  std::vector<int64_t> makeTable() const;

  /// The columns of a list: the tap's number, and its distances from the corner
  /// of the window in slices, rows and columns of the input.
  enum Column : int64_t { Number, Slices, Rows, Columns, NumColumns };
  static constexpr int64_t kEntryBytes = NumColumns * 8;
  /// The bytes of a tile in the table, in front of all lists.
  static constexpr int64_t kTileBytes = 2 * 8;

private:
  /// The numbers of a tile's taps, in ascending order.
  using Taps = std::vector<int64_t>;

  Geometry geometry;
  std::vector<Taps> tiles;
};

/// The share of products that remains if taps of padding are skipped, or 1 if
/// too few are padding, or cannot be skipped: each needs whole lines of the
/// panel.
double getRemainingShare(const KernelSpec &spec, const Geometry &geometry);

/// The list of a tile's taps in the table of TileTaps, as a kernel reads it.
class TapList {
public:
  using Value = mlir::Value;

  TapList() = default;
  TapList(KernelBuilder &b, Value table, Value tile);

  /// Runs `body` for each tap, from the sums of the one before to its own.
  mlir::SmallVector<Value>
  forTaps(KernelBuilder &b, mlir::ValueRange start,
          llvm::function_ref<mlir::SmallVector<Value>(Value tap,
                                                      mlir::ValueRange sums)>
              body) const;
  static Value get(KernelBuilder &b, Value tap, TileTaps::Column column);

private:
  Value table, first, last;
};

} // namespace tarpon::igemm

#endif // TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_TILETAPS_H
