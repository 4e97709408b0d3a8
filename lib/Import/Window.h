//===- Window.h - The attributes of sliding windows -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_WINDOW_H
#define TARPON_LIB_IMPORT_WINDOW_H

#include "OnnxNode.h"

namespace tarpon {

/// The window of Conv and the pools, with an entry per spatial dimension; pads
/// has the begins before the ends. auto_pad is resolved.
struct Window {
  llvm::SmallVector<int64_t> kernel;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> dilations;
  llvm::SmallVector<int64_t> pads;
  /// True if auto_pad determines the size of the result, so that ceil_mode has
  /// no effect.
  bool autoPadded = false;
};

/// Reads the window of a node whose first input has this shape. `filter` holds
/// the kernel's sizes from the filter's shape; without it, kernel_shape is
/// required.
std::optional<Window> readWindow(OnnxNode &node,
                                 llvm::ArrayRef<int64_t> inputShape,
                                 llvm::ArrayRef<int64_t> filter = {});

/// The window of ConvTranspose; auto_pad and output_shape are resolved.
struct SpreadWindow : Window {
  llvm::SmallVector<int64_t> outputPadding;
};

std::optional<SpreadWindow> readSpreadWindow(OnnxNode &node,
                                             llvm::ArrayRef<int64_t> inputShape,
                                             llvm::ArrayRef<int64_t> filter);

/// Splits the number of an element of a tensor into its indices.
llvm::SmallVector<int64_t> splitIndex(int64_t number,
                                      llvm::ArrayRef<int64_t> sizes);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_WINDOW_H
