//===- TileRows.h - The addresses of a tile's pixels ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The addresses of the pixels of a register tile, a run-time stride apart, in
// few registers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_TILEROWS_H
#define TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_TILEROWS_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

namespace tarpon::pointwise {

/// Each pointer serves kRows pixels: multiples of the stride are scaled by 1, 2
/// or 4 in an address, so that those of 1, 3 and 5 strides suffice as indices.
/// 28 pixels take seven registers.
class TileRows {
public:
  using Value = mlir::Value;

  static constexpr int64_t kRows = 7;

  TileRows(KernelBuilder &b, int64_t rows, Value strideBytes);

  /// The pointers to the first pixel and to every kRows-th.
  mlir::SmallVector<Value> getPointers(Value first);

  /// Begins a pass of the inner loop with these pointers. LLVM would compute
  /// each pixel's address ahead of the loop, in more registers than there are:
  /// what it cannot see through stays as it is.
  void beginPass(mlir::ValueRange pointers);
  /// The address `bytes` behind the start of a pixel.
  Value getAddress(int64_t pixel, int64_t bytes);
  /// The pointers, moved on by `bytes`.
  mlir::SmallVector<Value> advance(int64_t bytes);

private:
  KernelBuilder &b;
  int64_t rows;
  /// The multiples 1, 3 and 5 of the stride, those that the tile needs.
  mlir::SmallVector<Value> odd;
  /// The values that LLVM cannot see through, in the current pass.
  mlir::SmallVector<Value> pointers, strides;
};

} // namespace tarpon::pointwise

#endif // TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_TILEROWS_H
