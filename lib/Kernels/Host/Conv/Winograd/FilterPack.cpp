//===- FilterPack.cpp - Packs transformed filters -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;
using llvm::divideCeil;

/// Packs the filters of one channel of a tile of output channels at a time, so
/// that writes are contiguous for each point.
std::vector<char> winograd::packFilter(const ProductSpec &spec,
                                       const igemm::Geometry &g,
                                       ArrayRef<char> filter,
                                       FilterTransform transform) {
  int64_t depth = llvm::alignTo(g.channels, kLineChannels);
  int64_t channelTiles = divideCeil(g.outChannels, spec.tileN);
  std::vector<char> bytes(
      g.groups * channelTiles * spec.points * depth * spec.tileN * 4, 0);
  auto *packed = reinterpret_cast<float *>(bytes.data());
  const auto *weights = reinterpret_cast<const float *>(filter.data());
  int64_t taps = g.taps();
  std::vector<double> values(spec.points);
  std::vector<float> rows(spec.points * spec.tileN);
  for (int64_t tile = 0; tile < g.groups * channelTiles; ++tile) {
    int64_t first = tile % channelTiles * spec.tileN;
    int64_t columns = std::min(spec.tileN, g.outChannels - first);
    int64_t k = tile / channelTiles * g.outChannels + first;
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t column = 0; column < columns; ++column) {
        const float *source = weights + ((k + column) * g.channels + c) * taps;
        transform(ArrayRef(source, taps), values);
        for (int64_t e = 0; e < spec.points; ++e)
          rows[e * spec.tileN + column] = static_cast<float>(values[e]);
      }
      for (int64_t e = 0; e < spec.points; ++e)
        std::copy_n(&rows[e * spec.tileN], columns,
                    packed +
                        ((tile * spec.points + e) * depth + c) * spec.tileN);
    }
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

namespace {

/// Packs a filter of i8; see ProductSpec::filterBytes.
class IntegerPacker {
public:
  IntegerPacker(const ProductSpec &spec, const igemm::Geometry &g,
                const Transform &transform);
  std::vector<char> pack(ArrayRef<char> filter, ArrayRef<float> scales);

private:
  void packChannel(const int8_t *filter, int64_t channel, float scale);
  void packTaps(const int8_t *taps, int64_t input, int16_t *panel);
  int64_t countExactLines() const;

  const ProductSpec &spec;
  const igemm::Geometry &g;
  const Transform &transform;
  std::vector<double> factors, growth, values;
  int64_t channelTiles, lines, panelBytes;
  std::vector<char> bytes;
  /// The largest sum of a line's products, and that of the line and the channel
  /// that are being packed, of each point.
  double largest = 0;
  std::vector<double> lineSums;
};

} // namespace

IntegerPacker::IntegerPacker(const ProductSpec &spec, const igemm::Geometry &g,
                             const Transform &transform)
    : spec(spec), g(g), transform(transform), factors(transform.pointFactors()),
      growth(transform.inputGrowth()), values(spec.points),
      channelTiles(divideCeil(g.outChannels, spec.tileN)),
      lines(divideCeil(g.channels, spec.lineChannels())),
      panelBytes(spec.filterBytes(lines)),
      bytes(kFilterHeadBytes +
            g.groups * channelTiles * spec.points * panelBytes),
      lineSums(spec.points) {}

/// Adds the taps between one channel of the input and one of the result, whose
/// first unit is at `panel` for the first point.
void IntegerPacker::packTaps(const int8_t *taps, int64_t input,
                             int16_t *panel) {
  std::array<float, 9> numbers;
  std::copy_n(taps, numbers.size(), numbers.begin());
  transform.transformFilter(numbers, values);
  int64_t unit = input / 2 * spec.tileN * 2 + input % 2;
  for (int64_t e = 0; e < spec.points; ++e) {
    auto value = static_cast<int16_t>(std::lround(values[e] / factors[e]));
    panel[e * panelBytes / 2 + unit] = value;
    lineSums[e] += kByteRange * growth[e] * std::abs(value);
    largest = std::max(largest, lineSums[e]);
  }
}

void IntegerPacker::packChannel(const int8_t *filter, int64_t channel,
                                float scale) {
  int64_t group = channel / g.outChannels, inGroup = channel % g.outChannels;
  int64_t tile = group * channelTiles + inGroup / spec.tileN;
  int64_t column = inGroup % spec.tileN;
  char *panel =
      bytes.data() + kFilterHeadBytes + tile * spec.points * panelBytes;
  for (int64_t c = 0; c < g.channels; ++c) {
    if (c % spec.lineChannels() == 0)
      std::fill(lineSums.begin(), lineSums.end(), 0);
    packTaps(filter + (channel * g.channels + c) * g.taps(), c,
             reinterpret_cast<int16_t *>(panel) + 2 * column);
  }
  int64_t behind = lines * igemm::kLineUnits * spec.tileN + column;
  for (int64_t e = 0; e < spec.points; ++e)
    reinterpret_cast<float *>(panel + e * panelBytes)[behind] =
        static_cast<float>(factors[e] * scale);
}

/// At least two of the largest possible lines fit: see WinogradF4x3I8.cpp.
int64_t IntegerPacker::countExactLines() const {
  constexpr double kLargest = std::numeric_limits<int32_t>::max();
  return largest > 0 ? std::min<int64_t>(lines, kLargest / largest) : lines;
}

std::vector<char> IntegerPacker::pack(ArrayRef<char> filter,
                                      ArrayRef<float> scales) {
  const auto *taps = reinterpret_cast<const int8_t *>(filter.data());
  for (int64_t k = 0; k < g.groups * g.outChannels; ++k)
    packChannel(taps, k, scales[scales.size() == 1 ? 0 : k]);
  int64_t exactLines = countExactLines();
  std::memcpy(bytes.data(), &exactLines, sizeof(exactLines));
  return std::move(bytes);
}

std::vector<char> winograd::packIntegerFilter(const ProductSpec &spec,
                                              const igemm::Geometry &g,
                                              ArrayRef<char> filter,
                                              const Transform &transform,
                                              ArrayRef<float> scales) {
  return IntegerPacker(spec, g, transform).pack(filter, scales);
}
