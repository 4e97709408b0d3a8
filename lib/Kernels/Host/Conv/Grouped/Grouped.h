//===- Grouped.h - Direct grouped convolution -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For 2 to 64 channels per group, as ResNeXt and RegNet have them, of which a
// vector holds those of several groups: each lane is an output channel, and is
// multiplied by the input channel of its own group.
//
// The groups are divided into blocks, whose output channels are whole tiles. A
// task copies the input rows of a block into a buffer, with their padding, as
// f32; the taps of a tile are then read in place, at constant offsets:
//
//   rows of the input   [row][pixel][input channels of the block]
//   packed filter       [block][tile][kernel row][input channel][column][tileN]
//
// For one row of the kernel and one input channel of every group, the weights
// of all columns stay in registers, and so do the sums of a row of pixels. Each
// pixel of the input is made into a vector once, and multiplied by all columns
// of the kernel that see it. What that vector takes, beside a multiply-add for
// each of the three columns as a rule, decides on the speed:
//
//   one group in the vector        a broadcast: a load
//   two groups                     two broadcasts and a blend, or a permutation
//   several groups                 a load and a permutation
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_GROUPED_GROUPED_H
#define TARPON_LIB_KERNELS_HOST_CONV_GROUPED_GROUPED_H

#include "Host/ImplicitGemm/KernelEmitter.h"

namespace tarpon::grouped {

/// The way in which a pixel becomes a vector.
enum class Spread : uint8_t { Broadcast, Blend, PermuteInLanes, Permute, None };

/// The groups of one vector of output channels.
struct VectorGroups {
  int64_t first, count; ///< in the block
  Spread spread;
};

/// The properties that the code of a kernel depends on.
struct GroupedSpec {
  igemm::KernelSpec tile;
  int64_t lanes;
  int64_t inChannels, outChannels; ///< of a group
  int64_t kernelW, strideW, dilationW;

  std::string symbol() const;
  int64_t vectors() const { return tile.tileN / lanes; }
  /// The groups of a block, and the tiles of its output channels.
  int64_t blockGroups() const;
  int64_t blockTiles() const;
  /// Returns true if all tiles of a block have the same code: they belong to
  /// one group.
  bool hasEqualTiles() const { return blockGroups() == 1; }
  /// The input and output channels of a block.
  int64_t blockInputs() const { return blockGroups() * inChannels; }
  int64_t blockOutputs() const { return blockGroups() * outChannels; }
  /// The bytes of one pixel in the rows.
  int64_t lineBytes() const { return blockInputs() * igemm::kUnitBytes; }
  /// The group of an output channel of the block.
  int64_t groupOf(int64_t channel) const { return channel / outChannels; }
  /// The groups of the vector of output channels that begins with `channel`.
  VectorGroups getVector(int64_t channel) const;
  /// The input columns that `rows` pixels of a tile see, relative to the first
  /// one's, in ascending order.
  llvm::SmallVector<int64_t> getColumns(int64_t rows) const;
  /// The registers that the inner loop takes.
  int64_t countRegisters() const;
};

// NOLINTBEGIN(readability-identifier-naming): they are used as enumerators.
/// The kernel has the engine's parameters; these have another meaning.
inline constexpr igemm::Param
    InputRowBytes = igemm::InputPieceBytes, ///< from one row to the next
    InputChannels = igemm::RunElements,     ///< of all groups
    RowBytes = igemm::UnitsPerRun,          ///< of one row in the buffer
    RowTiles = igemm::PixelTiles,           ///< pixel tiles per output row
    BlockRows = igemm::BlockM,              ///< output rows per task
    RowBlocks = igemm::PixelBlocks,         ///< per image
    Blocks = igemm::ChannelTiles,           ///< blocks of groups
    TaskBlocks = igemm::BlockN,             ///< of them, per task
    BlockParts = igemm::ChannelBlocks;      ///< ceil(Blocks / TaskBlocks)
// NOLINTEND(readability-identifier-naming)

/// Emits the kernel; GroupedEmitter.cpp.
void emitKernel(KernelBuilder &b, const GroupedSpec &spec);

} // namespace tarpon::grouped

#endif // TARPON_LIB_KERNELS_HOST_CONV_GROUPED_GROUPED_H
