//===- TileVariants.cpp - Other tiles than the ranked ones ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileVariants.h"

using namespace tarpon;
using namespace tarpon::gpuigemm;

std::vector<TileFields> gpuigemm::getVariants(const GpuTarget &gpu, DType dtype,
                                              const TileFields &fields) {
  std::vector<TileFields> variants;
  auto add = [&](auto change) {
    TileFields variant = fields;
    change(variant);
    variants.push_back(variant);
  };
  if (fields.stages > 1) {
    add([](TileFields &f) { ++f.stages; });
    add([](TileFields &f) { --f.stages; });
    add([](TileFields &f) { f.splitK *= 2; });
    add([](TileFields &f) { f.blockK *= 2, f.stages = 2; });
  } else {
    add([](TileFields &f) { f.stages = 2; });
    add([](TileFields &f) {
      f.stages = 2;
      f.blockK /= 2;
    });
  }
  add([](TileFields &f) { f.blockK /= 2; });
  for (int64_t inst : getWaveOpSizes(gpu, dtype))
    if (findWaveOp(gpu, dtype, inst)->kind != WaveOp::Kind::Wgmma)
      add([=](TileFields &f) { f.inst = inst; });
  add([](TileFields &f) { f.splitK = f.splitK == 1 ? 2 : f.splitK / 2; });
  add([](TileFields &f) { f.wavesPerEu = f.wavesPerEu == 0 ? 3 : 0; });
  return variants;
}

std::vector<TileFields> gpuigemm::getTurnTiles(const GpuTarget &gpu,
                                               DType dtype,
                                               const TileFields &fields) {
  std::vector<TileFields> tiles = {fields};
  std::optional<WaveOp> op = findWaveOp(gpu, dtype, fields.inst);
  if (!op || op->kind != WaveOp::Kind::Wgmma)
    return tiles;
  constexpr int64_t kFewStages = 3;
  TileFields fewer = fields, wider = fields;
  fewer.stages = std::max(kFewStages, fields.stages - 1);
  wider.waveN *= 2;
  wider.stages = kFewStages;
  for (const TileFields &tile : {fewer, wider})
    if (tile.toConfig() != fields.toConfig() && Tile::make(gpu, dtype, tile))
      tiles.push_back(tile);
  return tiles;
}

std::vector<TileFields> gpuigemm::getGroupTiles(const GpuTarget &gpu,
                                                DType dtype,
                                                const TileFields &usual) {
  struct Shape {
    int64_t m, n, waveN, inst, stages;
  };
  static constexpr Shape kShapes[] = {
      {128, 128, 128, 128, 3}, {256, 128, 128, 128, 4}, {256, 128, 128, 128, 3},
      {128, 128, 64, 128, 3},  {128, 192, 64, 128, 5},  {256, 128, 64, 256, 4},
      {128, 256, 64, 128, 4},  {64, 192, 64, 64, 5},    {128, 128, 64, 128, 5},
      {128, 256, 128, 128, 4}, {64, 128, 64, 64, 4},    {64, 64, 64, 64, 4},
      {128, 64, 64, 128, 4},   {256, 64, 64, 256, 5}};
  std::vector<TileFields> tiles;
  for (const Shape &shape : kShapes)
    for (int64_t splits : {usual.splitK, int64_t(1)}) {
      std::optional<WaveOp> op = findWaveOp(gpu, dtype, shape.inst);
      if (!op || op->kind != WaveOp::Kind::Wgmma)
        continue;
      TileFields fields = usual;
      fields.blockM = shape.m;
      fields.blockN = shape.n;
      fields.waveM = shape.inst;
      fields.waveN = shape.waveN;
      fields.inst = shape.inst;
      fields.stages = shape.stages;
      fields.splitK = splits;
      tiles.push_back(fields);
    }
  return tiles;
}

std::vector<TileFields> gpuigemm::getWaveVariants(const GpuTarget &gpu,
                                                  const TileFields &fields) {
  std::vector<TileFields> variants;
  auto add = [&](int64_t waveM, int64_t waveN, int64_t swizzle) {
    TileFields variant = fields;
    variant.waveM = waveM;
    variant.waveN = waveN;
    variant.swizzle = swizzle;
    variants.push_back(variant);
  };
  int64_t m = fields.waveM, n = fields.waveN;
  if (gpu.matrixUnit != MatrixUnit::MmaSync)
    add(m, n, 0);
  add(2 * m, n / 2, 1);
  add(m / 2, 2 * n, 1);
  add(m, n / 2, 1);
  add(m / 2, n, 1);
  add(2 * m, n, 1);
  add(m, 2 * n, 1);
  return variants;
}
