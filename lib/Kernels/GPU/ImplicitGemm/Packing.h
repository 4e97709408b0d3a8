//===- Packing.h - Packs operands for the product ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant filters are packed at compile time, others by a launch of the same
// solution; another launch rewrites inputs that the product cannot read in
// place.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PACKING_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PACKING_H

#include "ProductKernel.h"

#include <optional>

namespace tarpon::gpuigemm {

using igemm::FilterStrides;

/// Neighbouring pixels, of few channels each, that are packed as one pixel: as
/// many along a side as the window strides over, so that a window starts at
/// whole ones. A chunk of k then has several taps. The packed image holds its
/// padding, too, so that copies need none.
struct PixelFold {
  /// One side of an image and of the window.
  struct Side {
    int64_t pixels; ///< that become one
    int64_t size;   ///< of the image, and
    int64_t pad;    ///< in front of it
    int64_t kernel; ///< of the window, before the fold

    int64_t folded() const { return (kernel + pixels - 1) / pixels; }
  };
  Side rows, columns;
  int64_t channels; ///< of a pixel, and
  int64_t room;     ///< with those that pad it
  int64_t fill;     ///< the value of padding

  /// Turns a tap and a channel after the fold into those before; returns false
  /// if the window has none there.
  bool unfold(int64_t &tap, int64_t &channel) const;
};

/// A stack of filters: one for each group, or for each element of a batch.
struct FilterStack {
  int64_t count;
  int64_t elements; ///< from one to the next
  FilterStrides strides;
  std::optional<PixelFold> fold = std::nullopt;

  /// The taps and channels of a filter, before a fold.
  int64_t countTaps(const Geometry &geometry) const {
    return fold ? fold->rows.kernel * fold->columns.kernel : geometry.taps();
  }
  int64_t countChannels(const Geometry &geometry) const {
    return fold ? fold->channels : geometry.channels;
  }
};

/// The bytes of all packed filters.
int64_t getPackedBytes(const Tile &tile, const Geometry &geometry,
                       int64_t filters);

/// The packed filters; see ProductKernel.h.
std::vector<char> packFilters(const Tile &tile, const Geometry &geometry,
                              const FilterStack &stack,
                              llvm::ArrayRef<char> bytes);

/// Appends the launch that packs operand 1 to byte `packed` of the workspace.
void planFilterPack(SolutionPlan &plan, const Tile &tile,
                    const Geometry &geometry, const FilterStack &stack,
                    DType dtype, int64_t packed);

/// The strides of an operand in memory, in elements.
struct InputStrides {
  int64_t image, pixel, channel;
};

/// Appends the launch that rewrites operand 0 as [image][pixel][group][channel]
/// at byte `packed` of the workspace, with channels padded by zeros to whole
/// chunks. `geometry` is that after the fold.
void planInputPack(SolutionPlan &plan, const Geometry &geometry, DType dtype,
                   const InputStrides &strides, int64_t images, int64_t packed,
                   const std::optional<PixelFold> &fold);
int64_t getInputPackBytes(const Geometry &geometry, DType dtype,
                          int64_t images);

/// Appends the launch that adds up the sums of several splits, which lie in the
/// workspace at `sums`, and stores results. See getSumChannels.
void planSums(SolutionPlan &plan, const Problem &problem,
              const ResultSpec &spec, const Geometry &geometry,
              const Tile &tile, const ChannelTables &tables,
              BufferSlot batchTable, BufferSlot sums, int64_t splits);

/// The number of channels per group to which per-channel tables are padded.
int64_t getPaddedChannels(const Tile &tile, const Geometry &geometry);

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PACKING_H
