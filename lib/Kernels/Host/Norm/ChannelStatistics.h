//===- ChannelStatistics.h - Sums for each channel --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statistics over a batch are computed in two launches: the first one computes
// partial results for pieces of a fixed size, whatever the number of threads;
// the second one combines those of each channel in order. The same input gives
// the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_NORM_CHANNELSTATISTICS_H
#define TARPON_LIB_KERNELS_HOST_NORM_CHANNELSTATISTICS_H

#include "Common/VectorFold.h"

namespace tarpon {

/// A tensor as elements of channels. In the rows form each piece of a channel
/// is contiguous (planes of nchw); in the columns form pixels are, with one
/// element for each channel (nhwc, and places in an image that each have
/// statistics of their own).
struct ChannelView {
  bool inRows = false;
  /// In rows: images; in columns: pixels.
  int64_t outer = 1;
  int64_t channels = 1;
  /// In rows: the size of a plane; in columns: the number of pixels that belong
  /// together, so that no piece crosses their border.
  int64_t plane = 1;

  /// With `spatial`, there is one channel for each of dimension 1; otherwise
  /// one for each place in an image. None for blocked layouts.
  static std::optional<ChannelView> get(const TensorDesc &desc, bool spatial);
  /// The columns form of nhwc images that have statistics of their own.
  static ChannelView getImages(const TensorDesc &desc);

  /// The number of elements of one channel.
  int64_t getCount() const { return inRows ? outer * plane : outer; }
  /// The elements of a piece other than the last one of a plane, and the number
  /// of pieces of a plane and of a channel.
  int64_t getPiece() const;
  int64_t getPiecesOfPlane() const;
  int64_t getPieces() const { return getCount() / plane * getPiecesOfPlane(); }
  /// The number of elements of the last piece of a plane.
  int64_t getLastPiece() const {
    return plane - (getPiecesOfPlane() - 1) * getPiece();
  }
  /// The view as a tensor whose VectorLoop has these channels.
  TensorDesc getDesc(const TensorDesc &like) const;
  std::string symbolPart() const { return inRows ? "rows" : "columns"; }
};

/// In the columns form: the first pixel of piece `index`, and the one behind
/// its last.
std::pair<mlir::Value, mlir::Value> emitPiecePixels(KernelBuilder &b,
                                                    mlir::Value index,
                                                    mlir::Value plane,
                                                    mlir::Value piece);

/// The bytes of one f32 for each channel of each piece; a multiple of 64.
int64_t getPartialBytes(const ChannelView &view);
/// The bytes of one f32 for each channel; a multiple of 64.
int64_t getVectorBytes(const ChannelView &view);

/// Adds a launch that writes, for each piece and channel, the mean and the sum
/// of squared distances from it, at these bytes of the workspace, indexed by
/// [piece][channel]. `prefix` is the prefix of the solver's kernels.
void planPartialMoments(SolutionPlan &plan, llvm::StringRef prefix,
                        const ChannelView &view, const TensorDesc &input,
                        const TargetInfo &target, int64_t meanAt,
                        int64_t squaresAt);

/// Moments of whole channels, from those of pieces. Captured by value.
class CombinedMoments {
public:
  CombinedMoments(LaunchBuilder &launch, const ChannelView &view,
                  int64_t meanAt, int64_t squaresAt);

  struct Result {
    mlir::Value mean, squares; ///< vectors
  };
  /// The statistics of `lanes` channels from `channel` on.
  Result emit(KernelBuilder &b, mlir::Value channel, int64_t lanes) const;

private:
  int64_t means, squares;                  ///< buffers
  int64_t pieces, channels, inverseCount;  ///< parameters
  int64_t piece, lastPiece, piecesOfPlane; ///< parameters
};

/// A loop over channels in vectors, see forVectors.
class ChannelLoop {
public:
  ChannelLoop(LaunchBuilder &launch, int64_t channels);
  int64_t tasks() const { return numTasks; }
  void emit(KernelBuilder &b,
            llvm::function_ref<void(mlir::Value channel, mlir::Value mask)>
                body) const;

private:
  int64_t channels, perTask; ///< parameters
  int64_t numTasks;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_NORM_CHANNELSTATISTICS_H
