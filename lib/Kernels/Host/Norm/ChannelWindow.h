//===- ChannelWindow.h - Sums over neighbouring channels --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In nchw, vectors hold pixels of one channel; in nhwc, they hold channels,
// whose neighbours are loaded from shifted addresses.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_NORM_CHANNELWINDOW_H
#define TARPON_LIB_KERNELS_HOST_NORM_CHANNELWINDOW_H

#include "Common/VectorAccess.h"

namespace tarpon {

/// Captured by value.
class ChannelWindow {
public:
  using Value = mlir::Value;

  /// The window extends from `below` channels before each one to `above` behind
  /// it, in tensors with the layout of `desc`: nchw or nhwc.
  ChannelWindow(LaunchBuilder &launch, const TensorDesc &desc, int64_t below,
                int64_t above);

  /// The sum of `term(offset, mask)` over the channels of the window that
  /// exist. The mask of lanes may be null.
  Value emitSum(KernelBuilder &b, const VectorPlace &place,
                llvm::function_ref<Value(Value offset, Value mask)> term) const;

private:
  Value emitTerm(KernelBuilder &b, const VectorPlace &place, Value distance,
                 llvm::function_ref<Value(Value, Value)> term) const;

  bool channelsLast;
  int64_t channels, channelStride, below, above; ///< parameters
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_NORM_CHANNELWINDOW_H
