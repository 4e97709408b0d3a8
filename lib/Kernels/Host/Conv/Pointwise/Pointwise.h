//===- Pointwise.h - Convolution with windows of one pixel ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For windows of one pixel with a stride of 1 in nhwc: the pixels of the input
// are the rows of a matrix, which the kernel reads where they lie. The engine
// packs them, which takes as long as 16 more output channels would: networks
// that narrow and widen their tensors often have no more than that.
//
//   input                [pixel][channel], broadcast channel by channel
//   panel of the filter  [K][tileN], as the engine packs it
//
// A pixel's address needs registers, unlike its place in a panel, which is a
// constant. The tile has a pointer for every few pixels, and the multiples of
// the pixel's stride between them are scaled indices of x86's addresses.
//
// A task has several blocks of `blockM` tiles of pixels. A block is multiplied
// by the tiles of channels in turn: a panel of the filter is in the L1 while
// the block passes by. The last pixels of all, if they are fewer than a tile,
// are copied, so that nothing behind the input is read.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_POINTWISE_H
#define TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_POINTWISE_H

#include "Host/ImplicitGemm/KernelEmitter.h"

namespace tarpon::pointwise {

// NOLINTBEGIN(readability-identifier-naming): they are used as enumerators.
/// The kernel has the engine's parameters; these have another meaning.
inline constexpr igemm::Param
    FilterTileBytes = igemm::BlockLines, ///< of a panel of the filter
    TaskTiles = igemm::KBlocks,          ///< pixel tiles per task
    TaskParts = igemm::PixelBlocks,      ///< ceil(PixelTiles / TaskTiles)
    CopiedPixels = igemm::Pieces,        ///< of the last tile, or 0
    CopiedPixelBytes = igemm::RowLines;  ///< from one of them to the next
// NOLINTEND(readability-identifier-naming)

/// Emits the kernel; PointwiseEmitter.cpp.
void emitKernel(KernelBuilder &b, const igemm::KernelSpec &spec);

} // namespace tarpon::pointwise

#endif // TARPON_LIB_KERNELS_HOST_CONV_POINTWISE_POINTWISE_H
