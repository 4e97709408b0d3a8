//===- Tile.cpp - Divides a product among a GPU's lanes -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile.h"

#include "GPU/GpuInstructions.h"

#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using namespace tarpon::gpuigemm;

//===----------------------------------------------------------------------===//
// The perf config
//===----------------------------------------------------------------------===//

namespace {
struct Field {
  const char *name;
  int64_t TileFields::*member;
};
} // namespace

static constexpr Field kFields[] = {
    {"block_m", &TileFields::blockM},
    {"block_n", &TileFields::blockN},
    {"block_k", &TileFields::blockK},
    {"wave_m", &TileFields::waveM},
    {"wave_n", &TileFields::waveN},
    {"inst", &TileFields::inst},
    {"stages", &TileFields::stages},
    {"split_k", &TileFields::splitK},
    {"swizzle", &TileFields::swizzle},
    {"waves_per_eu", &TileFields::wavesPerEu},
    {"groups_per_unit", &TileFields::groupsPerUnit},
};

PerfConfig TileFields::toConfig() const {
  PerfConfig config;
  for (const Field &field : kFields)
    config.set(field.name, this->*field.member);
  return config;
}

std::optional<TileFields> TileFields::fromConfig(const PerfConfig &config,
                                                 std::string *reason) {
  TileFields fields{};
  bool isComplete = config.getFields().size() == std::size(kFields);
  for (const Field &field : kFields)
    if (isComplete &= config.has(field.name); isComplete)
      fields.*field.member = config.get(field.name);
  if (isComplete)
    return fields;
  if (reason) {
    *reason = "the fields are";
    for (const Field &field : kFields)
      *reason += std::string(&field == kFields ? " " : ", ") + field.name;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Valid tiles
//===----------------------------------------------------------------------===//

/// Returns "" if the sides of the tile fit each other, otherwise the reason.
static std::string checkShape(const WaveOp &op, const TileFields &f) {
  auto isMultiple = [](int64_t a, int64_t b) { return a >= b && a % b == 0; };
  if (f.blockM > 1024 || f.blockN > 1024 || f.blockK > 1024)
    return "a block of at most 1024 a side is needed";
  if (!isMultiple(f.waveM, op.m) || !isMultiple(f.waveN, op.n))
    return "a wave's tile must be made of whole instructions";
  if (!llvm::isPowerOf2_64(f.waveM))
    return "a wave's tile must have a power of two of channels";
  if (f.waveM < 2 * op.rowGroups())
    return "a lane must hold at least two channels of a pixel";
  if (!isMultiple(f.blockM, f.waveM) || !isMultiple(f.blockN, f.waveN))
    return "a block must be made of whole wave tiles";
  if (f.swizzle < 0 || f.swizzle > 1)
    return "swizzle is 0 or 1";
  if (f.splitK < 0 || f.splitK > 64)
    return "split_k is from 0 to 64";
  if (f.groupsPerUnit < 0 || f.groupsPerUnit > 32)
    return "groups_per_unit is from 0 to 32";
  if (f.sharesSteps() && f.groupsPerUnit == 0)
    return "steps are shared by workgroups that take turns";
  int64_t rowBytes = f.blockK * op.elementBytes();
  constexpr int64_t kSwizzledBytes = 128;
  if (op.kind == WaveOp::Kind::Wgmma &&
      (rowBytes != kSwizzledBytes || f.swizzle == 0 || f.stages < 2))
    return "a warpgroup needs stages of rows of 128 bytes, swizzled";
  if (f.blockK < 1 || !llvm::isPowerOf2_64(rowBytes) ||
      !isMultiple(rowBytes, op.depthBytes()))
    return "block_k must be a power of two of whole instructions";
  return "";
}

/// Returns "" if the lanes can share the loads of a step, otherwise the reason.
static std::string checkLoads(const Tile &tile) {
  int64_t rows = tile.rowsPerLoad();
  const TileFields &f = tile.getFields();
  // Swizzles repeat after eight rows, so that a lane needs one address.
  if (rows < 8 || rows % 8 != 0)
    return "the lanes must load whole groups of eight rows";
  // Three warpgroups do not divide a block of a power of two.
  bool mayBePart = tile.getOp().kind == WaveOp::Kind::Wgmma;
  if (!mayBePart && (f.blockM % rows != 0 || f.blockN % rows != 0))
    return "the lanes must load whole blocks";
  return "";
}

int64_t gpuigemm::getMostStages(const GpuTarget &gpu) {
  // One more than groups of copies, as one is multiplied; two through
  // registers.
  return std::max<int64_t>(
      2, getGpuInstructions(gpu.vendor).getCopyForm(gpu).mostGroups + 1);
}

/// Returns "" if the target has so many stages and lanes, otherwise the reason.
static std::string checkWorkgroup(const GpuTarget &gpu, const Tile &tile) {
  int64_t mostStages = getMostStages(gpu), stages = tile.getFields().stages;
  if (stages < 1 || stages > mostStages)
    return "LDS has one to " + std::to_string(mostStages) + " stages";
  if (tile.threads() > gpu.maxWorkgroup)
    return "has more lanes than a workgroup may have";
  return "";
}

/// Returns "" if the loads and sums of the tile fit the target's LDS and
/// registers, otherwise the reason. The loads must be whole.
static std::string checkMemory(const GpuTarget &gpu, const Tile &tile) {
  if (tile.ldsBytes() > gpu.ldsBytes)
    return "needs more LDS than there is";
  int64_t waves = tile.getFields().wavesPerEu;
  if (waves < 0 || waves > gpu.maxWaves)
    return "asks for more waves than a SIMD has";
  if (tile.estimateRegisters() > tile.mostRegisters(gpu))
    return "needs more registers than there are";
  return "";
}

/// Returns true if a lane's sums and what turns a run of them into results fit
/// the registers that ptxas gives each lane of such a workgroup. A run of bytes
/// has its factors, starts, operands and results, all of 32 bits.
static bool fitsEpilogue(const GpuTarget &gpu, const Tile &tile) {
  if (gpu.vendor != GpuVendor::NVIDIA)
    return true;
  constexpr int64_t kVectors = 4, kOthers = 8;
  int64_t all = gpu.vectorRegisters * gpu.waveSize * gpu.simdsPerUnit;
  int64_t sums = tile.sumsPerColumn() * tile.columns();
  return sums + kVectors * tile.run() + kOthers <= all / tile.threads();
}

std::optional<Tile> Tile::make(const GpuTarget &gpu, DType dtype,
                               const TileFields &fields, std::string *reason) {
  auto fail = [&](const std::string &why) -> std::optional<Tile> {
    if (reason)
      *reason = why;
    return std::nullopt;
  };
  std::optional<WaveOp> op = findWaveOp(gpu, dtype, fields.inst);
  if (!op)
    return fail("the target has no such instruction");
  if (std::string why = checkShape(*op, fields); !why.empty())
    return fail(why);
  Tile tile(*op, fields, getGpuInstructions(gpu.vendor).getCopyForm(gpu).bytes);
  if (std::string why = checkWorkgroup(gpu, tile); !why.empty())
    return fail(why);
  if (std::string why = checkLoads(tile); !why.empty())
    return fail(why);
  if (std::string why = checkMemory(gpu, tile); !why.empty())
    return fail(why);
  if (!fitsEpilogue(gpu, tile))
    return fail("leaves the epilogue too few registers");
  return tile;
}

int64_t Tile::mostRegisters(const GpuTarget &gpu) const {
  int64_t most = gpu.maxVectorRegisters;
  if (fields.wavesPerEu == 0)
    return most;
  return std::min(most, gpu.vectorRegisters / fields.wavesPerEu /
                            gpu.vectorGranule * gpu.vectorGranule);
}

int64_t Tile::estimateRegisters() const {
  int64_t lanes = op.waveSize;
  int64_t sums = fields.waveM * fields.waveN / lanes;
  bool isStaged = copyBytes == 0 || fields.stages == 1;
  int64_t staged =
      isStaged ? (loadsOfA() + loadsOfB()) * kChunkBytes / 4 : int64_t(0);
  int64_t operands = (tilesM() + tilesN()) * op.unitBytes() / 4;
  if (op.kind == WaveOp::Kind::Wgmma)
    operands = 0;
  // A pixel needs registers for its place, its offset, and that of the tap.
  int64_t pixels = isStaged ? loadsOfB() : loadsOfB(copyBytes);
  int64_t addresses = 4 * pixels + 24;
  // Under a limit, ptxas does not spread the loads of another workgroup's sums:
  // two tiles of bytes with nchw results spilled on an H200.
  int64_t others = fields.sharesSteps() && fields.wavesPerEu > 0 ? sums : 0;
  return sums + others + staged + operands + addresses;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static constexpr int64_t kLineChunks = 8; ///< 128 bytes: all banks

int64_t Tile::rowsPerLine() const {
  return std::max<int64_t>(1, kLineChunks / rowChunks());
}

int64_t Tile::swizzledChunks() const {
  return fields.swizzle ? std::min(rowChunks(), kLineChunks) : 1;
}

int64_t Tile::getSwizzle(int64_t row) const {
  return row / rowsPerLine() % swizzledChunks();
}

int64_t Tile::getChannel(int64_t group, int64_t index) const {
  return index / run() * run() * op.rowGroups() + group * run() + index % run();
}

std::vector<int64_t> Tile::getRowChannels() const {
  std::vector<int64_t> channels(fields.waveM);
  for (int64_t tile = 0; tile < tilesM(); ++tile)
    for (int64_t group = 0; group < op.rowGroups(); ++group)
      for (int64_t e = 0; e < op.elementsPerColumn(); ++e)
        channels[tile * op.m + op.getOutputRow(group, e)] =
            getChannel(group, tile * op.elementsPerColumn() + e);
  return channels;
}

std::string Tile::name() const {
  auto number = [](int64_t value) { return std::to_string(value); };
  return "m" + number(fields.blockM) + "n" + number(fields.blockN) + "k" +
         number(fields.blockK) + "_w" + number(fields.waveM) + "x" +
         number(fields.waveN) + "_" + op.name() + "_s" + number(fields.stages) +
         "z" + number(fields.swizzle) + "e" + number(fields.wavesPerEu);
}
