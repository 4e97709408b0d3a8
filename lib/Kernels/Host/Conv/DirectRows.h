//===- DirectRows.h - Direct convolution over padded rows -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For inputs whose window rows are short runs of consecutive elements: few
// channels in nhwc, any number in nchw. A task copies the input rows of its
// output rows into a buffer, once, with their padding:
//
//   rows of the input   [row][plane][padding, elements, padding]
//   packed filter       [group][channel tile][kernel row][plane][run][tileN]
//
// A plane is a channel in nchw; nhwc has one. The run of an output pixel starts
// `pixelStep` elements behind that of the pixel to its left, which is a
// compile-time constant: the inner loop reads the rows in place, broadcasting
// from constant offsets. Units, accumulators and the code behind the product
// are those of the implicit GEMM engine.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_DIRECTROWS_H
#define TARPON_LIB_KERNELS_HOST_CONV_DIRECTROWS_H

#include "Host/ImplicitGemm/KernelEmitter.h"

namespace tarpon::directrows {

/// The properties that the code of a kernel depends on.
struct RowsSpec {
  igemm::KernelSpec tile;
  /// The elements from one output pixel's run to that of the next.
  int64_t pixelStep;

  std::string symbol() const;
  int64_t perUnit() const { return igemm::elementsPerUnit(tile.arith); }
  /// The size of one element in the rows.
  int64_t elementBytes() const { return igemm::kUnitBytes / perUnit(); }
  /// The number of units that are multiplied between two tests of the inner
  /// loop: so few that no two pixels read the same one. Otherwise LLVM would
  /// keep it in a register that the sums need.
  int64_t chunkUnits() const;
};

// NOLINTBEGIN(readability-identifier-naming): they are used as enumerators.
/// The kernel has the engine's parameters; these have another meaning.
inline constexpr igemm::Param
    PlaneBytes = igemm::InputPixelBytes, ///< from one input plane to the next
    InputRowBytes = igemm::InputPieceBytes, ///< from one row to the next
    Planes = igemm::Pieces,
    RunElements = igemm::RunElements,   ///< of a plane
    RowElements = igemm::PixelElements, ///< of one plane's row in the input
    RowPadding = igemm::PadLeft,        ///< elements in front of them
    RowBytes = igemm::UnitsPerRun,      ///< of one plane's row in the buffer
    RowTiles = igemm::PixelTiles,       ///< pixel tiles per output row
    BlockRows = igemm::BlockM,          ///< output rows per task
    RowBlocks = igemm::PixelBlocks;     ///< per image
// NOLINTEND(readability-identifier-naming)

/// Emits the kernel; DirectRowsEmitter.cpp.
void emitKernel(KernelBuilder &b, const RowsSpec &spec);

} // namespace tarpon::directrows

#endif // TARPON_LIB_KERNELS_HOST_CONV_DIRECTROWS_H
