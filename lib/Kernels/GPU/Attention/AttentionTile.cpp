//===- AttentionTile.cpp - The blocks of fused attention ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionTile.h"

#include "Common/AttentionShapes.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::gpuattention;
using runtime::DType;

TileFields TileFields::read(const PerfConfig &config) {
  return {config.get("waves"), config.get("query_tiles"),
          config.get("key_block")};
}

PerfConfig TileFields::write() const {
  return {
      {"key_block", keyBlock}, {"query_tiles", queryTiles}, {"waves", waves}};
}

/// As many as have the bits of the result: f32 has 24, f16 11 and bf16 8.
AttentionForm AttentionForm::get(const Problem &problem) {
  DType dtype = problem.operands[0].dtype, result = problem.result.dtype;
  int64_t parts = 1;
  if (result == DType::F32)
    parts = dtype == DType::F16 ? 2 : 3;
  else if (result == DType::F16 && dtype == DType::BF16)
    parts = 2;
  return {attention::hasMask(problem), parts};
}

std::optional<WaveOp> AttentionTile::findOp(const GpuTarget &gpu, DType dtype) {
  constexpr int64_t kRows = 16;
  if (dtype != DType::F16 && dtype != DType::BF16)
    return std::nullopt;
  return gpuigemm::findWaveOp(gpu, dtype, kRows);
}

AttentionTile::AttentionTile(const WaveOp &op, const TileFields &fields,
                             int64_t channels, int64_t resultChannels,
                             int64_t stages, const AttentionForm &form)
    : op(op), fields(fields), channels(channels),
      resultChannels(resultChannels), stages(stages), form(form) {}

static int64_t alignTo(int64_t value, int64_t multiple) {
  return static_cast<int64_t>(
      llvm::alignTo(value, static_cast<uint64_t>(multiple)));
}

int64_t AttentionTile::paddedChannels() const {
  return alignTo(channels, op.k);
}

int64_t AttentionTile::paddedResultChannels() const {
  return alignTo(resultChannels, op.m);
}

int64_t AttentionTile::run() const {
  int64_t run = 1;
  while (run < op.elementsPerColumn() && op.getOutputRow(0, run) == run)
    ++run;
  return run;
}

int64_t AttentionTile::getKeyPlace(int64_t key) const {
  int64_t perLane = fields.keyBlock / op.rowGroups();
  for (int64_t group = 0; group < op.rowGroups(); ++group)
    for (int64_t i = 0; i < perLane; ++i) {
      int64_t row = i / op.elementsPerColumn() * op.m +
                    op.getOutputRow(group, i % op.elementsPerColumn());
      if (row == key)
        return i / scoresPerStep() * op.k + group * scoresPerStep() +
               i % scoresPerStep();
    }
  llvm_unreachable("the key is not in the block");
}

int64_t AttentionTile::valuePitch() const {
  return getPitch(transposesValues() ? fields.keyBlock
                                     : paddedResultChannels());
}

int64_t AttentionTile::stageBytes() const {
  int64_t rows = transposesValues() ? paddedResultChannels() : fields.keyBlock;
  return keyBytes() + rows * valuePitch();
}

int64_t AttentionTile::ldsBytes() const {
  return queryOffset() + std::max(stageBytes(), queries() * keyPitch());
}

int64_t AttentionTile::countChunks(int64_t rows, int64_t elements) const {
  return llvm::divideCeilSigned(rows * elements * op.elementBytes(),
                                kChunkBytes * threads());
}

bool AttentionTile::sharesColumns(int64_t elements) const {
  return threads() * kChunkBytes % (elements * op.elementBytes()) == 0;
}

/// Scores, sums and operands of the queries are known; the second product's
/// are, too, where scores stay behind it. All else is what ptxas takes for
/// others: the places of chunks, above all in different columns, and loads of a
/// mask on their way.
int64_t AttentionTile::countRegisters() const {
  constexpr int64_t kOthers = 64, kOfMask = 64, kOfChunk = 8;
  int64_t operand = op.inputElements * op.elementBytes() / 4;
  int64_t others = kOthers + (form.hasMask ? kOfMask : 0);
  for (int64_t elements : {paddedChannels(), paddedResultChannels()})
    others += (sharesColumns(elements) ? 1 : kOfChunk) *
              countChunks(fields.keyBlock, elements);
  // The rest of the probabilities is beside what they were.
  int64_t sums = keyTiles() * form.parts + resultTiles();
  int64_t operands = channelSteps() + (form.parts > 1 ? keySteps() : 0);
  return fields.queryTiles * (sums * op.outputElements + operands * operand) +
         others;
}

/// Beside more scores, ptxas finds no room for their powers.
bool AttentionTile::fits(const GpuTarget &gpu) const {
  constexpr int64_t kMostRegisters = 255, kMostScores = 96;
  int64_t scores =
      fields.queryTiles * keyTiles() * form.parts * op.outputElements;
  int64_t simdWaves = llvm::divideCeil(fields.waves, gpu.simdsPerUnit);
  int64_t registers = std::min(gpu.maxVectorRegisters, kMostRegisters);
  return fields.keyBlock % op.k == 0 && fields.keyBlock % op.m == 0 &&
         threads() <= gpu.maxWorkgroup && ldsBytes() <= gpu.ldsBytes &&
         scores <= kMostScores && countRegisters() <= registers &&
         simdWaves * countRegisters() <= gpu.vectorRegisters;
}

std::string AttentionTile::name() const {
  return op.name() + "_w" + std::to_string(fields.waves) + "_q" +
         std::to_string(fields.queryTiles) + "_k" +
         std::to_string(fields.keyBlock) + "_c" + std::to_string(channels) +
         "x" + std::to_string(resultChannels) + "_p" +
         std::to_string(form.parts);
}
