//===- StrassenPlan.cpp - Tables and weights of Strassen's scheme ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strassen.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::strassen;
using llvm::divideCeil;

Sizes::Sizes(const igemm::Geometry &geometry, int64_t parts, int64_t lanes)
    : rows(geometry.batch * geometry.outPixels()), depth(geometry.channels),
      columns(geometry.outChannels), blockRows(divideCeil(rows, parts)),
      blockDepth(depth / parts),
      blockColumns(static_cast<int64_t>(
          llvm::alignTo(divideCeil(columns, parts), lanes))) {}

/// The panels and the result are those of one row of pixels in nhwc.
static igemm::KernelSpec makeTile(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config,
                                  const igemm::Geometry &geometry) {
  igemm::KernelSpec tile(problem, target, config, geometry, {Layout::NHWC, 1});
  // This kernel does not depend on how the engine would pack the input.
  tile.mergedRows = false;
  return tile;
}

KernelSpec::KernelSpec(const Problem &problem, const TargetInfo &target,
                       const PerfConfig &config,
                       const igemm::Geometry &geometry)
    : levels(config.get("levels")), scheme(makeStrassenScheme(levels)),
      tile(makeTile(problem, target, config, geometry)) {}

std::string KernelSpec::symbol() const {
  return "strassen" + std::to_string(levels) + "_" + tile.commonSymbol();
}

std::vector<int64_t> strassen::makeResultTable(const BilinearScheme &scheme) {
  std::vector<int64_t> bounds, entries;
  int64_t at = scheme.rank() * kBoundsBytes;
  for (const Product &product : scheme.products) {
    bounds.push_back(at);
    for (const Term &term : product.result) {
      entries.push_back(term.block);
      entries.push_back(runtime::floatParam(static_cast<float>(term.sign)));
      at += kEntryBytes;
    }
    bounds.push_back(at);
  }
  llvm::append_range(bounds, entries);
  return bounds;
}

/// Writes `count` columns of one row of the depth of a product's weights.
static void packRow(const Product &product, const BilinearScheme &scheme,
                    const Sizes &sizes, const igemm::FilterStrides &strides,
                    const float *weights, int64_t k, int64_t firstColumn,
                    int64_t count, float *to) {
  for (const Term &term : product.right) {
    int64_t row = term.block / scheme.parts * sizes.blockDepth + k;
    int64_t column =
        term.block % scheme.parts * sizes.blockColumns + firstColumn;
    int64_t columns = std::min(count, sizes.columns - column);
    const float *from =
        weights + row * strides.channel + column * strides.outChannel;
    for (int64_t i = 0; i < columns; ++i)
      to[i] += static_cast<float>(term.sign) * from[i * strides.outChannel];
  }
}

std::vector<char> strassen::packWeights(const KernelSpec &spec,
                                        const Sizes &sizes,
                                        const igemm::FilterStrides &strides,
                                        ArrayRef<char> weights) {
  int64_t tileN = spec.tile.tileN;
  int64_t tiles = divideCeil(sizes.blockColumns, tileN);
  int64_t rows = tiles * spec.scheme.rank() * sizes.blockDepth;
  std::vector<char> bytes(rows * tileN * igemm::kUnitBytes, 0);
  auto *to = reinterpret_cast<float *>(bytes.data());
  const auto *from = reinterpret_cast<const float *>(weights.data());
  for (int64_t tile = 0; tile < tiles; ++tile) {
    int64_t column = tile * tileN;
    int64_t count = std::min(tileN, sizes.blockColumns - column);
    for (const Product &product : spec.scheme.products)
      for (int64_t k = 0; k < sizes.blockDepth; ++k, to += tileN)
        packRow(product, spec.scheme, sizes, strides, from, k, column, count,
                to);
  }
  return bytes;
}
