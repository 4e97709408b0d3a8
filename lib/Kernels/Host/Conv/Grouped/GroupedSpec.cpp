//===- GroupedSpec.cpp - The groups in the lanes of a vector --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::grouped;

std::string GroupedSpec::symbol() const {
  std::string text = "grouped_" + tile.inputLayout.name();
  text += "_c" + std::to_string(inChannels) + "k" + std::to_string(outChannels);
  text += "_w" + std::to_string(kernelW) + "s" + std::to_string(strideW) + "d" +
          std::to_string(dilationW);
  return text + "_" + tile.commonSymbol();
}

int64_t GroupedSpec::blockGroups() const {
  return std::lcm(outChannels, tile.tileN) / outChannels;
}

int64_t GroupedSpec::blockTiles() const { return blockOutputs() / tile.tileN; }

VectorGroups GroupedSpec::getVector(int64_t channel) const {
  VectorGroups groups = {groupOf(channel), 1, Spread::Broadcast};
  groups.count = groupOf(channel + lanes - 1) - groups.first + 1;
  if (groups.count == 1)
    return groups;
  // vpermilps moves within 128 bits, vpermps anywhere.
  constexpr int64_t kLaneFloats = 4;
  bool staysInLanes = lanes > kLaneFloats;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t from = (groupOf(channel + lane) - groups.first) * inChannels;
    int64_t start = lane / kLaneFloats * kLaneFloats;
    staysInLanes &= from >= start && from + inChannels <= start + kLaneFloats;
  }
  if (staysInLanes)
    groups.spread = Spread::PermuteInLanes;
  else if (lanes > 2 * kLaneFloats && groups.count * inChannels <= lanes)
    groups.spread = Spread::Permute;
  else if (groups.count == 2)
    groups.spread = Spread::Blend;
  else
    groups.spread = Spread::None;
  return groups;
}

SmallVector<int64_t> GroupedSpec::getColumns(int64_t rows) const {
  std::set<int64_t> columns;
  for (int64_t p = 0; p < rows; ++p)
    for (int64_t kw = 0; kw < kernelW; ++kw)
      columns.insert(p * strideW + kw * dilationW);
  return {columns.begin(), columns.end()};
}

int64_t GroupedSpec::countRegisters() const {
  // Sums and weights; the pixel's vector, and another while it is made; the
  // index of permutations.
  return vectors() * (tile.tileM + kernelW) + 3;
}
