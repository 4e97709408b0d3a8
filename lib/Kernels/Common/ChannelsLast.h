//===- ChannelsLast.h - Images with consecutive channels --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sliding windows over nhwc and blocked tensors, in vectors of channels. A
// blocked tensor is treated as more images with fewer channels.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_CHANNELSLAST_H
#define TARPON_LIB_KERNELS_COMMON_CHANNELSLAST_H

#include "VectorAccess.h"
#include "Window.h"

namespace tarpon {

/// The row of pixels of the result, or the part of its channels, that one task
/// computes.
struct ChannelsLastRow {
  mlir::Value inputStart;  ///< of the image, in elements
  mlir::Value outputStart; ///< of the row, in elements
  mlir::Value firstPixel;  ///< of the row in the result, through all images
  /// The spatial indices of the row but the last.
  llvm::SmallVector<mlir::Value> outer;
  mlir::Value blockChannel; ///< the logical channel of element 0 of a pixel
  mlir::Value begin, end;   ///< the elements of a pixel to compute
};

class ChannelsLastLoop {
public:
  /// `costPerElement` is the number of operations for one element of the
  /// result.
  ChannelsLastLoop(LaunchBuilder &launch, const Problem &problem,
                   double costPerElement);

  /// Checks that operand 0 and the result have the same layout with channels
  /// last.
  static Applicability check(const Problem &problem);

  int64_t tasks() const { return numTasks; }
  std::string symbolPart() const;
  /// The largest vector of up to `lanes` lanes that fits into a pixel of this
  /// layout.
  int64_t fittingLanes(int64_t lanes) const;

  void emit(KernelBuilder &b,
            llvm::function_ref<void(const ChannelsLastRow &)> body) const;

  mlir::Value outWidth(KernelBuilder &b) const {
    return b.getParam(outDims + numDims - 1);
  }
  mlir::Value pixelSize(KernelBuilder &b) const { return b.getParam(inner); }
  /// The offset of element 0 of the input's pixel at `place`.
  mlir::Value inputPixel(KernelBuilder &b, const ChannelsLastRow &row,
                         llvm::ArrayRef<mlir::Value> place) const;
  /// The place of `lanes` elements from element `c` of pixel `x` of the row.
  VectorPlace outputPlace(KernelBuilder &b, const ChannelsLastRow &row,
                          mlir::Value x, mlir::Value c, int64_t lanes,
                          mlir::Value mask) const;

private:
  int64_t numDims; ///< spatial
  int64_t block;   ///< 0 for nhwc
  int64_t numTasks;
  // Indices of parameters: of one, or of the first of several.
  int64_t inStrides, outDims, inner, blocks, channels, inImage, units,
      unitsPerTask, chunk, chunks;
};

/// Runs `body` for the elements from begin to end in groups of up to `unroll`
/// vectors: body(first, number of vectors in the group, mask).
void forVectorGroups(
    KernelBuilder &b, mlir::Value begin, mlir::Value end, int64_t lanes,
    int64_t unroll,
    llvm::function_ref<void(mlir::Value i, int64_t count, mlir::Value mask)>
        body);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_CHANNELSLAST_H
