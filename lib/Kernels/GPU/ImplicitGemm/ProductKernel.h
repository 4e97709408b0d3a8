//===- ProductKernel.h - The kernel that multiplies ----------- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup computes a block of D[channels, pixels] = A[channels, k] *
// B[k, pixels] of one group. A step of k has channels of the input for one tap,
// and steps run over the taps first: neighbouring taps read the same pixels,
// which then are in the first-level cache. Where channels are few, a step has
// those of several taps instead. A is the packed filter:
//
//   [filter][block of channels][step of k][row of the block][blockK]
//
// and B is gathered from an nhwc input whose pixels and groups start at
// multiples of 4 bytes and whose channels come in whole chunks of 16. Both are
// loaded to registers during the product of the previous step, and go through
// LDS from there; or are copied to LDS during the products of several steps
// before. Places outside of the input, or behind the last channel, get an
// offset beyond the buffer, and read as zero. With a prologue, B is what it
// makes of the windows around pixels (Prologue.h), on the way through
// registers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTKERNEL_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTKERNEL_H

#include "Prologue.h"
#include "ResultAccess.h"
#include "SharedSteps.h"
#include "Tile.h"

namespace tarpon::gpuigemm {

/// The order of k over taps and channels.
struct Depth {
  Depth(const Tile &tile, const Geometry &geometry);

  /// True if a step of k has several taps: for few channels, which would fill a
  /// step badly. Otherwise each tap takes whole steps.
  bool merged;
  int64_t perTap; ///< elements of k
  int64_t steps;
  int64_t taps;

  /// The number of steps that have the same channels.
  int64_t tapSteps() const { return merged ? 1 : taps; }
  /// The first element of k of a step, if each tap has `perTap` of them.
  int64_t getStart(int64_t step, int64_t blockK) const {
    return step / tapSteps() * blockK + step % tapSteps() * perTap;
  }
};

/// The layout of the input's bytes.
struct InputShape {
  BufferSlot slot;
  int64_t bytes;        ///< of the whole buffer
  int64_t pixelBytes;   ///< from one pixel to the next
  int64_t groupBytes;   ///< from the channels of one group to the next
  int64_t channelBytes; ///< of one group, in whole chunks
  /// The value of padding in i8.
  int64_t zeroPoint;
  /// The windows of a prologue, if there is one. Otherwise they are those of
  /// the product's geometry.
  std::optional<Geometry> windows = std::nullopt;
};

/// The properties that the code depends on, beside ResultSpec.
struct ProductSpec {
  Tile tile;
  DType inputDtype;
  bool hasDepth; ///< three spatial dimensions
  bool merged;   ///< see Depth
  bool batched;
  /// True if sums are stored for a launch that adds up those of several
  /// workgroups.
  bool split;

  /// True if A and B are copied to LDS asynchronously.
  bool copies;
  /// True if copies have one tap, and need no padding.
  bool pointwise;
  /// True if copies need no padding.
  bool covered;
  /// True if each pixel is made from the one at its own place.
  bool dense;
  /// True if copies of several taps read most of the pixels.
  bool sharesPixels;
  /// True if the first-level cache holds the filter of all channels, which
  /// every workgroup copies.
  bool sharesFilter;
  /// True if blocks have no channels that do not exist.
  bool wholeBlocks;
  /// True if workgroups take blocks in turn.
  bool takesTurns;
  /// True if they do with parts of blocks, too.
  bool sharesSteps;
  /// True if the epilogue's operands are loaded before the steps, which then
  /// hide the time that it takes.
  bool loadsEarly;

  /// True if bytes are unsigned, and the instruction takes signed ones.
  bool isBiased() const {
    return inputDtype == DType::U8 && !tile.getOp().unsignedB;
  }
};

/// The channels of a group in such stored sums, which lie
/// [split][image][pixel][group][channel].
int64_t getSumChannels(const Tile &tile, const Geometry &geometry);

/// The number of blocks of all groups, or of all images of a batch.
int64_t countBlocks(const TileFields &fields, const Geometry &geometry);

/// Buffers and parameters of the launch. Captured by value in
/// KernelSource::emit.
class ProductKernel {
public:
  /// One dimension of the window, in the order of the pixels.
  struct Dimension {
    /// Indices of parameters: sizes in pixels, and bytes from one tap and from
    /// one pixel to the next.
    int64_t size, stride, pad, tapBytes, bytes, dilation;
    /// Divisors of a pixel by the output's extent, and of a tap by the
    /// kernel's.
    MagicDivisor pixel, tap;
  };

  /// `mostGroups` is how many workgroups take turns. If they share steps,
  /// `partialSums` and `counters` are SharedSteps'.
  ProductKernel(LaunchBuilder &launch, const ProductSpec &spec,
                const Geometry &geometry, const InputShape &input,
                BufferSlot filter, int64_t filterBytes, BufferSlot table,
                int64_t tableColumns, BufferSlot partialSums,
                BufferSlot counters, int64_t splits, int64_t mostGroups);

  void emit(KernelBuilder &b, const ResultAccess *result) const;

  /// Has pixels computed from those of the input's windows.
  void setPrologue(const Prologue &made) { prologue = made; }

  std::string symbol() const;
  int64_t tasks() const { return numTasks; }

private:
  friend class ProductEmitter;

  ProductSpec spec;
  int64_t inputBuffer, filterBuffer, tableBuffer = 0, sumsBuffer = 0;
  int64_t tableColumns;
  int64_t inputBytes, filterBytes, groupBytes, imageBytes, channelBytes;
  int64_t pixels, channels, allPixels, sumsPitch, sumsOfGroup, fill;
  int64_t steps, stepsPerSplit;
  int64_t blocks = 0, groups = 0; ///< if workgroups take turns
  std::optional<SharedSteps> shared;
  std::optional<Prologue> prologue;
  MagicDivisor channelBlocks, pixelBlocks, splits;
  /// The chunks of one tap (merged), or the number of taps.
  MagicDivisor depthDivisor;
  std::vector<Dimension> dimensions; ///< innermost first
  int64_t numTasks;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PRODUCTKERNEL_H
