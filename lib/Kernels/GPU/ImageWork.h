//===- ImageWork.h - Distributes the places of an image ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of kernels with windows (pools, depthwise convolutions): each lane
// has a tile, a few places of the result side by side in the last dimension,
// and in nhwc a vector of channels of each. Neighbouring lanes have
// neighbouring memory: channels in nhwc, tiles in nchw.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMAGEWORK_H
#define TARPON_LIB_KERNELS_GPU_IMAGEWORK_H

#include "ElementWork.h"

namespace tarpon {

/// One dimension of a window over the input. All values are parameters of a
/// launch.
struct GpuWindowDim {
  mlir::Value kernel, stride, pad, padEnd, dilation, input;
  /// The elements from one place of the input to the next.
  mlir::Value step;
};

class GpuImageWork {
public:
  /// The problem has strides, pads and dilations. `vector` divides the
  /// channels, and is 1 in nchw.
  GpuImageWork(LaunchBuilder &launch, const Problem &problem,
               llvm::ArrayRef<int64_t> kernel, int64_t vector, int64_t tile,
               int64_t workgroup);

  /// Checks that operand and result have one layout, nchw or nhwc, and spatial
  /// dimensions.
  static Applicability check(const Problem &problem);

  int64_t tasks() const { return numTasks; }
  int64_t getVector() const { return vector; }
  int64_t spatialRank() const { return static_cast<int64_t>(sizes.size()); }
  std::string symbolPart() const;

  /// A lane's first place of the result, and the input's element at which the
  /// window's dimensions start.
  struct Place {
    mlir::Value image, channel, start;
    llvm::SmallVector<mlir::Value> out;
    llvm::SmallVector<GpuWindowDim> window;
  };
  void emit(KernelBuilder &b,
            llvm::function_ref<void(const Place &)> body) const;
  /// The place `x` (in the last dimension) of the result.
  VectorPlace getOutput(KernelBuilder &b, const Place &place,
                        mlir::Value x) const;
  /// The number of places of the last dimension of the result.
  mlir::Value getWidth(KernelBuilder &b) const { return b.getParam(width); }

private:
  struct DimParams {
    int64_t kernel, stride, pad, padEnd, dilation, input, step;
  };

  bool isNhwc;
  int64_t vector, tile, workgroup;
  MagicDivisor channels; ///< or vectors of them
  /// The sizes of the result, the last one in tiles.
  std::vector<MagicDivisor> sizes;
  std::vector<DimParams> dims;
  int64_t width, total, numChannels, imageStep, channelStep; ///< parameters
  int64_t numTasks;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_IMAGEWORK_H
