//===- AttentionTile.h - The blocks of fused attention ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a workgroup divides attention. Both products of a wave are those of the
// target's matrix instruction (WaveOp.h), and their columns are its queries:
//
//   scores  D (keys x queries)     = keys (A) * queries (B)
//   result  D (channels x queries) += values, transposed (A) * probabilities
//   (B)
//
// A lane thus has the scores of one query, or of two, as the result has its
// channels, so that the running maximum and sum of a query are in the lanes
// that need them. D of the first product becomes B of the second where it is:
// an instruction does not care for the order of k, here keys, as long as A and
// B agree. LDS has keys and queries row by row, and values in the order in
// which lanes hold the keys' probabilities; ldmatrix transposes them itself.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONTILE_H
#define TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONTILE_H

#include "GPU/ImplicitGemm/WaveOp.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::gpuattention {

using gpuigemm::kChunkBytes;
using gpuigemm::WaveOp;

/// The fields of a config.
struct TileFields {
  int64_t waves;      ///< of a workgroup
  int64_t queryTiles; ///< of a wave, each as wide as the instruction
  int64_t keyBlock;   ///< the keys that are in LDS at a time

  static TileFields read(const PerfConfig &config);
  PerfConfig write() const;
};

/// The properties of a problem, beside its sizes, that a kernel depends on.
struct AttentionForm {
  bool hasMask;
  /// The numbers of the operands' dtype whose sum is a probability: more than
  /// one for results that are more exact.
  int64_t parts;

  static AttentionForm get(const Problem &problem);
};

class AttentionTile {
public:
  /// `channels` are those of queries and keys, `resultChannels` those of values
  /// and of the result.
  AttentionTile(const WaveOp &op, const TileFields &fields, int64_t channels,
                int64_t resultChannels, int64_t stages,
                const AttentionForm &form);

  /// The target's instruction for the dtype of queries, keys and values; none
  /// if it has none. All vendors have one of 16 x 16.
  static std::optional<WaveOp> findOp(const GpuTarget &gpu, DType dtype);

  const WaveOp &getOp() const { return op; }
  const TileFields &getFields() const { return fields; }
  const AttentionForm &getForm() const { return form; }
  int64_t threads() const { return fields.waves * op.waveSize; }
  int64_t waveQueries() const { return fields.queryTiles * op.n; }
  int64_t queries() const { return fields.waves * waveQueries(); }
  int64_t getChannels() const { return channels; }
  int64_t getResultChannels() const { return resultChannels; }
  /// Filled up with zeros to whole products, and to whole tiles of results.
  int64_t paddedChannels() const;
  int64_t paddedResultChannels() const;

  int64_t keyTiles() const { return fields.keyBlock / op.m; }
  int64_t resultTiles() const { return paddedResultChannels() / op.m; }
  /// The products of a tile of scores, and of a tile of the result.
  int64_t channelSteps() const { return paddedChannels() / op.k; }
  int64_t keySteps() const { return fields.keyBlock / op.k; }

  /// The groups of lanes with different keys of a query, and how far apart
  /// their lanes and their keys are.
  int64_t groupLanes() const { return isMmaSync() ? 1 : op.n; }
  int64_t groupRows() const { return op.getOutputRow(1, 0); }
  /// The neighbouring channels that a lane has beside each other.
  int64_t run() const;
  /// The scores of a lane that are its part of the keys of a product.
  int64_t scoresPerStep() const { return op.k / op.rowGroups(); }

  bool isMmaSync() const { return op.kind == WaveOp::Kind::MmaSync; }
  /// True if LDS has a row of keys for each channel of the values, rather than
  /// a row of channels for each key.
  bool transposesValues() const { return !isMmaSync(); }
  /// The place of a key's value in its row: that of its probability among all
  /// lanes' operands. Each bit of the key moves to another place.
  int64_t getKeyPlace(int64_t key) const;

  //===--------------------------------------------------------------------===//
  // LDS: for each stage the keys and values of a block. The queries are there
  // before the last stage is needed.
  //===--------------------------------------------------------------------===//
  int64_t getStages() const { return stages; }
  int64_t keyPitch() const { return getPitch(paddedChannels()); }
  int64_t valuePitch() const;
  int64_t keyBytes() const { return fields.keyBlock * keyPitch(); }
  int64_t stageBytes() const;
  int64_t queryOffset() const { return (stages - 1) * stageBytes(); }
  int64_t ldsBytes() const;

  /// The chunks that a lane copies of rows of that many elements, and whether
  /// they are all in the same column.
  int64_t countChunks(int64_t rows, int64_t elements) const;
  bool sharesColumns(int64_t elements) const;

  /// About how many registers a lane needs.
  int64_t countRegisters() const;
  bool fits(const GpuTarget &gpu) const;
  /// "mma16x16x16_w4_q2_k64_c64x64"
  std::string name() const;

private:
  /// Rows are an odd number of chunks apart, so that eight rows of one column
  /// are in different banks.
  int64_t getPitch(int64_t elements) const {
    return elements * op.elementBytes() + kChunkBytes;
  }

  WaveOp op;
  TileFields fields;
  int64_t channels, resultChannels, stages;
  AttentionForm form;
};

} // namespace tarpon::gpuattention

#endif // TARPON_LIB_KERNELS_GPU_ATTENTION_ATTENTIONTILE_H
