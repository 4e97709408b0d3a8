//===- AmxProduct.h - A product in AMX's tile registers ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile register has 16 rows of 64 bytes. A line of the input panel is a tile
// for each 16 pixels, and a line of the filter panel one for each 16 channels,
// so that a product needs nothing but loads of tiles. Sums reach vectors
// through memory only.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_AMXPRODUCT_H
#define TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_AMXPRODUCT_H

#include "ImplicitGemm.h"

namespace tarpon::igemm {

/// The pixels, and the channels, of a tile of sums.
inline constexpr int64_t kAmxTile = 16;

/// Multiplies `rows` pixels by spec.tileN channels; sum [m][n] of the tiles is
/// at m * tilesN + n.
class AmxProduct {
public:
  using Value = mlir::Value;

  AmxProduct(KernelBuilder &b, const KernelSpec &spec, int64_t rows)
      : b(b), spec(spec), tilesM(rows / kAmxTile),
        tilesN(spec.tileN / kAmxTile) {}

  /// Loads all sums: pixels are `rowBytes` apart, and tiles of channels
  /// `tileBytes`. With 0, all pixels start from the same row of channels, or
  /// all channels from the same 64 bytes.
  mlir::SmallVector<Value> loadSums(Value from, Value rowBytes,
                                    Value tileBytes);
  /// Stores them as [rows][spec.tileN].
  void storeSums(mlir::ValueRange sums, Value to);
  /// Adds the products of one line of K, from its places in the panels.
  mlir::SmallVector<Value> multiplyLine(Value panel, Value filter,
                                        mlir::ValueRange sums);
  int64_t sumRowBytes() const { return spec.tileN * kUnitBytes; }

private:
  Value loadTile(Value from, Value rowBytes);
  void storeTile(Value tile, Value to, Value rowBytes);
  Value multiplyTile(Value sum, Value pixels, Value channels);
  /// The rows and the bytes of a row, which every instruction is told.
  mlir::SmallVector<Value> getShape();
  Value makeTile(mlir::StringRef intrinsic, mlir::ValueRange arguments);

  KernelBuilder &b;
  const KernelSpec &spec;
  int64_t tilesM, tilesN;
};

} // namespace tarpon::igemm

#endif // TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_AMXPRODUCT_H
