//===- Attention.h - Fused attention ----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention without a matrix of scores: blocks of keys pass by a block of
// queries, for each of which a running maximum and a running sum are kept, and
// what was summed up is scaled whenever the maximum grows (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao, Fu,
// Ermon, Rudra and Re, "FlashAttention", 2022).
//
// Lanes are queries. Both products are then those of the register tile: rows of
// keys, or channels of values, are broadcast from where they lie, and nothing
// is added or compared across lanes.
//
//   queries    [tile][channel][lane]     transposed once for each block
//   scores     [key][lane]               of one tile and one block of keys
//   sums       [tile][channel][lane]     transposed when they are stored
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_ATTENTION_ATTENTION_H
#define TARPON_LIB_KERNELS_HOST_ATTENTION_ATTENTION_H

#include "Common/AttentionShapes.h"
#include "Common/VectorAccess.h"

namespace tarpon::attention {

/// The register tile: rows (keys, or channels of values) by vectors of queries.
struct TileShape {
  int64_t rows, vectors;

  static TileShape choose(const TargetInfo &target);
  int64_t queries(const TargetInfo &target) const {
    return vectors * target.lanes();
  }
};

/// The parts that plan() and the emitted code share. Captured by value.
struct AttentionKernel {
  bool causal;
  TileShape tile;
  FlatTensor query, key, value;
  std::optional<FlatTensor> mask;
  VectorOutput output;
  /// False for keys and values that are converted to f32 block by block.
  bool keysInPlace, valuesInPlace;

  /// Parameters. Blocks are counted in positions, but those of queries that a
  /// batch and head has.
  int64_t queries, keys, channels, resultChannels, queryBlock, keyBlock, blocks;
  int64_t ahead; ///< keys - queries
  int64_t scale;
  int64_t maskInner, maskCount, maskRows;   ///< see MaskMatrices; 1 or queries
  int64_t channelRows, resultRows, keyRows; ///< padded to whole vectors

  std::string symbol() const;
  /// Emits the kernel; AttentionEmitter.cpp.
  void emit(KernelBuilder &b) const;
};

/// The rows of a buffer that are read or written by whole vectors and tiles.
int64_t padRows(int64_t rows, const TargetInfo &target);

/// The bytes of a task's scratch, as the emitter divides it.
int64_t getScratchBytes(const TargetInfo &target, const TileShape &tile,
                        int64_t queryTiles, int64_t channelRows,
                        int64_t resultRows, int64_t keyRows);

} // namespace tarpon::attention

#endif // TARPON_LIB_KERNELS_HOST_ATTENTION_ATTENTION_H
