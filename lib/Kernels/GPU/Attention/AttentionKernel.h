//===- AttentionKernel.h - The launch of fused attention --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention without a matrix of scores: a workgroup has some queries of one
// batch and head, by which blocks of keys pass; see
// Host/Attention/Attention.h, which has the sources of the method.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONKERNEL_H
#define TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONKERNEL_H

#include "AttentionTile.h"
#include "Common/VectorAccess.h"

namespace tarpon::gpuattention {

/// The parts that plan() and the emitted code share. Captured by value.
struct AttentionKernel {
  AttentionTile tile;
  bool causal;
  int64_t query, key, value; ///< buffers
  std::optional<FlatTensor> mask;
  VectorOutput output;
  /// Parameters. Queries and keys are those of one batch and head, which has
  /// this many blocks.
  int64_t queries, keys, blocks;
  int64_t ahead;                          ///< keys - queries
  int64_t factor;                         ///< of scores
  int64_t maskInner, maskCount, maskRows; ///< as Mask has them

  std::string symbol() const;
  /// Emits the kernel; AttentionEmitter.cpp.
  void emit(KernelBuilder &b) const;
};

/// Powers are computed to base two: scores are scaled by log2(e), too, where no
/// mask is added to them. Behind a mask of the least finite number, whose
/// multiple is infinite, their differences are.
double getScoreFactor(double scale, bool hasMask);

} // namespace tarpon::gpuattention

#endif // TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONKERNEL_H
