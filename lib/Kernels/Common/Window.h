//===- Window.h - Sliding windows of convolution and pooling ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes per dimension which cells of a window lie in the input, so that
// loops over a window need no test for padding.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_WINDOW_H
#define TARPON_LIB_KERNELS_COMMON_WINDOW_H

#include "LaunchBuilder.h"

namespace tarpon {

/// The cells [begin, end) of a window in one dimension that lie in the input.
/// Cell k reads input place start + k * dilation.
struct WindowRange {
  mlir::Value start, begin, end, dilation;
};

/// The window of a problem with strides, pads and dilations, as launch
/// parameters. Captured by value in KernelSource::emit.
class Window {
public:
  /// `kernel` and the attributes strides, pads and dilations have one entry
  /// (two for pads) per spatial dimension of `input`.
  Window(LaunchBuilder &launch, const Problem &problem,
         llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> input);

  int64_t rank() const { return numDims; }
  /// The window at output place `out` of spatial dimension `dim`.
  WindowRange at(KernelBuilder &b, int64_t dim, mlir::Value out) const;
  /// The same window where all cells are known to lie in the input.
  WindowRange inside(KernelBuilder &b, int64_t dim, mlir::Value out) const;
  /// The number of cells at `out` that lie in the input or in the explicit
  /// padding.
  mlir::Value countWithPadding(KernelBuilder &b, int64_t dim,
                               mlir::Value out) const;
  /// The number of cells of a range; never negative.
  static mlir::Value count(KernelBuilder &b, const WindowRange &range);

  mlir::Value kernel(KernelBuilder &b, int64_t dim) const {
    return field(b, dim, Field::Kernel);
  }
  mlir::Value stride(KernelBuilder &b, int64_t dim) const {
    return field(b, dim, Field::Stride);
  }
  mlir::Value input(KernelBuilder &b, int64_t dim) const {
    return field(b, dim, Field::Input);
  }
  mlir::Value padEnd(KernelBuilder &b, int64_t dim) const {
    return field(b, dim, Field::PadEnd);
  }

private:
  struct Field {
    enum : int64_t { Kernel, Stride, Pad, PadEnd, Dilation, Input, Count };
  };
  mlir::Value field(KernelBuilder &b, int64_t dim, int64_t which) const {
    return b.getParam(first + dim * Field::Count + which);
  }

  int64_t numDims, first;
};

/// The output places [begin, end) of the last dimension whose windows lie in
/// the input.
struct InsideRange {
  int64_t begin, end;
};
InsideRange getInsideRange(const Problem &problem, int64_t kernelWidth);

/// Loops over the cells of a window: `body` gets the kernel place, the input
/// place and the carried values, and returns the new ones.
mlir::SmallVector<mlir::Value>
forWindow(KernelBuilder &b, llvm::ArrayRef<WindowRange> ranges,
          mlir::ValueRange carried,
          llvm::function_ref<mlir::SmallVector<mlir::Value>(
              llvm::ArrayRef<mlir::Value> kernel,
              llvm::ArrayRef<mlir::Value> input, mlir::ValueRange carried)>
              body);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_WINDOW_H
