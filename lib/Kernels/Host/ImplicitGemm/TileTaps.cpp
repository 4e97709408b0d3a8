//===- TileTaps.cpp - The taps that tiles of pixels read ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTaps.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

namespace {

/// One dimension of a geometry.
struct Axis {
  int64_t size, places, kernel, stride, dilation, pad;

  bool isInside(int64_t place, int64_t tap) const {
    int64_t at = place * stride - pad + tap * dilation;
    return at >= 0 && at < size;
  }
  /// The share of taps, over all places, that read input.
  double getShare() const {
    int64_t inside = 0;
    for (int64_t place = 0; place < places; ++place)
      for (int64_t tap = 0; tap < kernel; ++tap)
        inside += isInside(place, tap);
    return static_cast<double>(inside) / static_cast<double>(places * kernel);
  }
};

/// The dimensions of a geometry, slices first.
struct Axes {
  explicit Axes(const Geometry &g)
      : d{g.depth, g.outDepth, g.kernelD, g.strideD, g.dilationD, g.padFront},
        h{g.height, g.outHeight, g.kernelH, g.strideH, g.dilationH, g.padTop},
        w{g.width, g.outWidth, g.kernelW, g.strideW, g.dilationW, g.padLeft} {}

  /// The taps are marked in `reads`.
  void markTaps(int64_t pixel, std::vector<bool> &reads) const {
    int64_t x = pixel % w.places, y = pixel / w.places % h.places,
            z = pixel / w.places / h.places;
    size_t tap = 0;
    for (int64_t kd = 0; kd < d.kernel; ++kd)
      for (int64_t kh = 0; kh < h.kernel; ++kh)
        for (int64_t kw = 0; kw < w.kernel; ++kw, ++tap)
          if (d.isInside(z, kd) && h.isInside(y, kh) && w.isInside(x, kw))
            reads[tap] = true;
  }

  Axis d, h, w;
};

} // namespace

TileTaps::TileTaps(const Geometry &geometry, int64_t tileM)
    : geometry(geometry) {
  Axes axes(geometry);
  for (int64_t first = 0; first < geometry.outPixels(); first += tileM) {
    std::vector<bool> reads(geometry.taps(), false);
    int64_t last = std::min(first + tileM, geometry.outPixels());
    for (int64_t pixel = first; pixel < last; ++pixel)
      axes.markTaps(pixel, reads);
    Taps &taps = tiles.emplace_back();
    for (int64_t tap = 0; tap < geometry.taps(); ++tap)
      if (reads[tap])
        taps.push_back(tap);
  }
}

double TileTaps::getShare() const {
  size_t sum = 0;
  for (const Taps &taps : tiles)
    sum += taps.size();
  return static_cast<double>(sum) /
         static_cast<double>(tiles.size() * geometry.taps());
}

std::vector<int64_t> TileTaps::makeTable() const {
  std::vector<int64_t> table(tiles.size() * 2);
  // Most tiles share their list with others.
  std::map<Taps, int64_t> starts;
  for (size_t tile = 0; tile < tiles.size(); ++tile) {
    const Taps &taps = tiles[tile];
    auto [at, isNew] =
        starts.try_emplace(taps, static_cast<int64_t>(table.size()) * 8);
    table[tile * 2] = at->second;
    table[tile * 2 + 1] =
        at->second + static_cast<int64_t>(taps.size()) * kEntryBytes;
    if (!isNew)
      continue;
    for (int64_t tap : taps) {
      int64_t row = tap / geometry.kernelW;
      table.push_back(tap);
      table.push_back(row / geometry.kernelH * geometry.dilationD);
      table.push_back(row % geometry.kernelH * geometry.dilationH);
      table.push_back(tap % geometry.kernelW * geometry.dilationW);
    }
  }
  return table;
}

double igemm::getRemainingShare(const KernelSpec &spec, const Geometry &g) {
  // A tap's loop starts anew, and another kernel has to be compiled.
  constexpr int64_t kFewLines = 4;
  constexpr double kWorthwhile = 0.8;
  // The initial sums of I8Dot are those of all taps.
  if (spec.arith == Arith::I8Dot || g.batched ||
      choosePackMode(spec, g) != PackLines ||
      g.channels < kFewLines * spec.pieceElements())
    return 1;
  // No tile skips more than its pixels would one by one.
  Axes axes(g);
  if (axes.d.getShare() * axes.h.getShare() * axes.w.getShare() > kWorthwhile)
    return 1;
  // A tile that skips all taps takes time, too.
  double least = 1 / static_cast<double>(g.taps());
  double share = std::max(TileTaps(g, spec.tileM).getShare(), least);
  return share > kWorthwhile ? 1 : share;
}

//===----------------------------------------------------------------------===//
// Lists of taps
//===----------------------------------------------------------------------===//

TapList::TapList(KernelBuilder &b, Value table, Value tile) : table(table) {
  Value entry = b.offset(table, b.mul(tile, TileTaps::kTileBytes));
  first = b.load(entry, b.i64());
  last = b.load(b.offset(entry, 8), b.i64());
}

SmallVector<Value> TapList::forTaps(
    KernelBuilder &b, ValueRange start,
    function_ref<SmallVector<Value>(Value tap, ValueRange sums)> body) const {
  return b.forLoop(first, last, b.cst(TileTaps::kEntryBytes), start,
                   [&](Value offset, ValueRange sums) {
                     return body(b.offset(table, offset), sums);
                   });
}

Value TapList::get(KernelBuilder &b, Value tap, TileTaps::Column column) {
  return b.load(b.offset(tap, 8 * column), b.i64());
}
