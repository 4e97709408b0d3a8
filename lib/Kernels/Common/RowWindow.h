//===- RowWindow.h - Sliding windows in vectors of pixels -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows over nchw tensors, in vectors of consecutive places of a row of the
// result. With a stride of n, n vectors are loaded and every n-th lane is kept.
// Most vectors have windows that lie in the input, and need no masks.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_ROWWINDOW_H
#define TARPON_LIB_KERNELS_COMMON_ROWWINDOW_H

#include "VectorAccess.h"
#include "Window.h"

namespace tarpon {

/// The operation that combines the cells of a window.
enum class WindowOp : uint8_t {
  Max,
  MaxIndices, ///< the maximum and, in a second result, where it lies
  Mean,
  PaddedMean,
  WeightedSum
};

/// A launch over all rows of a result. Captured by value.
class RowWindow {
public:
  /// `kernel` is the window's shape. For weighted sums, `weights` holds f32
  /// cells for each channel, and `scales` the factor of each channel's sum, or
  /// nothing.
  RowWindow(LaunchBuilder &launch, const Problem &problem, WindowOp op,
            llvm::ArrayRef<int64_t> kernel,
            std::optional<ConstantPlan> weights = std::nullopt,
            std::vector<float> scales = {});

  static Applicability check(const Problem &problem, int64_t mostStride = 2);

  int64_t tasks() const { return numTasks; }
  std::string symbolPart() const;
  void emit(KernelBuilder &b) const;

private:
  using Value = mlir::Value;
  struct Row;

  void emitRow(KernelBuilder &b, const Row &row) const;
  void emitVector(KernelBuilder &b, const Row &row, Value x,
                  bool isInside) const;
  Value emitCells(KernelBuilder &b, const Row &row, Value x,
                  bool isInside) const;
  mlir::SmallVector<Value> emitMaxima(KernelBuilder &b, const Row &row, Value x,
                                      bool isInside) const;
  Value emitRowStart(KernelBuilder &b, const Row &row,
                     mlir::ArrayRef<Value> place) const;
  Value emitKept(KernelBuilder &b, mlir::ArrayRef<Value> parts) const;
  Value emitLoad(KernelBuilder &b, const Row &row, Value start, Value first,
                 bool isInside) const;
  Value emitMean(KernelBuilder &b, const Row &row, Value x, Value sum,
                 bool isInside) const;
  Value emitWidthCount(KernelBuilder &b, Value x, bool withPadding,
                       bool isInside) const;
  Value emitLanePlaces(KernelBuilder &b, Value first, int64_t step) const;

  WindowOp op;
  int64_t stride; ///< of the last dimension
  FlatTensor input;
  VectorOutput output;
  std::optional<FlatTensor> indices;
  Window window;
  int64_t numTasks;
  int64_t weightBuffer = -1, scaleBuffer = -1, pixelSteps = -1;
  // Indices of parameters: of one, or of the first of several.
  int64_t inStrides, outDims, channels, inPlane, rows, rowsPerTask, insideBegin,
      insideEnd, cells;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_ROWWINDOW_H
