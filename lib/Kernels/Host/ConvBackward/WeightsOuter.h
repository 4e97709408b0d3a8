//===- WeightsOuter.h - Weight gradients as sums of outer products -*- C++ -*-//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of one tap of the filter is a sum of outer products: over all
// output pixels, the K numbers of dy at the pixel times the C numbers of x at
// the pixel that the tap reads there. With channels last both are contiguous,
// so that nothing is packed: tileK numbers of dy are broadcast, tileC numbers
// of x are vectors, and their products stay in registers.
//
// A task has some tiles with all their taps. It processes the pixels in chunks
// that fit the cache, and keeps the sums of its tiles in scratch memory in
// between.
//
// In a depthwise convolution a channel of dy is only multiplied with the same
// channel of x: the products are those of two vectors, and all groups together
// count as one with one output channel.
//
// If there are few channels, the taps of a kernel row are merged: with channels
// last and no dilation they are one run of kernelW * C numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONVBACKWARD_WEIGHTSOUTER_H
#define TARPON_LIB_KERNELS_HOST_CONVBACKWARD_WEIGHTSOUTER_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/Solver.h"

#include <array>

namespace tarpon::outer {

/// The forward convolution; missing dimensions have one place. Channels are
/// counted per group.
struct Geometry {
  /// True if there are as many groups as channels of x and of dy; see above.
  bool isDepthwise;
  int64_t gradientChannels; ///< of all groups

  static constexpr int kDims = 3;
  using Dims = std::array<int64_t, kDims>;

  explicit Geometry(const Problem &problem);

  int64_t batch, groups, channels, outChannels;
  Dims in, out, kernel, stride, dilation, pad;

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t rows() const { return batch * out[0] * out[1]; }

private:
  void joinRows();
};

/// The properties that the code of a kernel depends on.
struct KernelSpec {
  int64_t tileK, tileC;
  /// True if a row of the kernel counts as one tap with kernelW * C channels.
  bool mergedRows;
  /// True if the channels do not fill whole tiles.
  bool masked;
  bool depthwise;
  DType resultDtype;

  KernelSpec(const Problem &problem, const Geometry &geometry,
             const PerfConfig &config);
  std::string symbol() const;

  /// The channels of a tap, the taps, and the taps of a row, as the kernel
  /// counts them.
  int64_t runChannels(const Geometry &g) const {
    return mergedRows ? g.channels * g.kernel[2] : g.channels;
  }
  int64_t runTaps(const Geometry &g) const {
    return mergedRows ? g.taps() / g.kernel[2] : g.taps();
  }
};

enum Param : int64_t {
  InDepth,
  InHeight,
  InWidth,
  OutDepth,
  OutHeight,
  OutWidth,
  KernelD,
  KernelH,
  KernelW, ///< 1 where rows are merged
  StrideD,
  StrideH,
  StrideW,
  DilationD,
  DilationH,
  DilationW,
  PadD,
  PadH,
  PadW,
  XPixelBytes,
  XRowBytes,
  XImageBytes,
  YPixelBytes,
  YRowBytes,
  XChannels, ///< of all groups
  RunChannels,
  OutChannels, ///< per group
  Taps,        ///< runs per filter
  RowTaps,     ///< taps that a run holds
  Rows,        ///< of dy, in all images
  ChunkRows,
  InsideBegin, ///< the outputs of a row whose runs lie in the input
  InsideEnd,
  KTiles, ///< per group
  CTiles,
  BlockK, ///< tiles per task
  BlockC,
  KBlocks,
  CBlocks,
  NumParams
};

void emitKernel(KernelBuilder &b, const KernelSpec &spec);

} // namespace tarpon::outer

#endif // TARPON_LIB_KERNELS_HOST_CONVBACKWARD_WEIGHTSOUTER_H
