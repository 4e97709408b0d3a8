//===- Prologue.h - Computes pixels on their way to LDS ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The producer of a problem as the tiled engine computes it: in place of a
// chunk of the input, a lane loads the cells of a window around its pixel, and
// stores to LDS what a depthwise convolution or an elementwise operation makes
// of them. Each workgroup computes the pixels and channels that it multiplies,
// so that nothing is computed twice where one workgroup has all output
// channels.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PROLOGUE_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PROLOGUE_H

#include "Common/LaunchBuilder.h"
#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "Ints.h"

#include <vector>

namespace tarpon::gpuigemm {

using igemm::Geometry;
using igemm::OperandAccess;

/// Buffers and parameters of the producer in the launch of the product.
/// Captured by value in KernelSource::emit.
class Prologue {
public:
  /// Tells whether the engine computes this producer, which is a problem of its
  /// own.
  static Applicability check(const Problem &producer);
  /// The window of the producer around each of its results.
  static Geometry getWindow(const Problem &producer);

  /// `first` is the number of the producer's operand 0 in the launch, which its
  /// other ones follow.
  Prologue(LaunchBuilder &launch, const Problem &producer, int64_t first);

  std::string symbol() const;
  /// The cells along each side of the window, outermost first.
  int64_t rows() const { return kernelH; }
  int64_t columns() const { return kernelW; }
  int64_t cells() const { return kernelH * kernelW; }

  class Bound;
  /// The result refers to this object.
  Bound bind(GpuKernelBuilder &b) const;

private:
  DType dtype;
  int64_t kernelH, kernelW;
  bool hasFilter;
  std::vector<OperandAccess> operands;
  int firstOperand; ///< that steps read, among the producer's
  EpilogueEmitter steps;
  int64_t filter = 0, firstBuffer = 0;
  int64_t channels; ///< in the filter and in operands
};

/// The producer in an emitted kernel.
class Prologue::Bound {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  /// The chunks of several pixels from their cells, which are chunks as loaded,
  /// pixel by pixel. `channelBytes` (i32) is where the chunks start in a pixel;
  /// they are zeros if these channels do not exist (`exists`, i1).
  Values compute(mlir::ArrayRef<Value> cells, Value channelBytes, Value exists);

private:
  friend class Prologue;
  Bound(const Prologue &prologue, GpuKernelBuilder &b);

  /// A chunk's elements in f32.
  Value decode(Value chunk);
  Value encode(Value values);
  Value loadElements(DType dtype, Value base, Value element);
  /// The operands of the steps at a chunk's channels.
  Values loadOperands(Value channel);

  const Prologue &prologue;
  GpuKernelBuilder &b;
  Ints ints;
  int64_t elements; ///< of a chunk
  Values params;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_PROLOGUE_H
