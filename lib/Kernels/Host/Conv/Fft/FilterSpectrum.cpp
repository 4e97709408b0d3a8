//===- FilterSpectrum.cpp - Filters in the frequency domain ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes in f64 by the definition of the transform, since a filter has few
// taps.
//
//===----------------------------------------------------------------------===//

#include "Fft.h"
#include "Fourier.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;

using Number = std::complex<double>;

static std::vector<Number> makeRoots(int64_t n) {
  std::vector<Number> roots;
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(
        std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k) /
                            static_cast<double>(n)));
  return roots;
}

FilterSpectrum::FilterSpectrum(const TileShape &tile, int64_t kernelH,
                               int64_t kernelW)
    : tile(tile), kernelH(kernelH), kernelW(kernelW),
      rowRoots(makeRoots(tile.width)), columnRoots(makeRoots(tile.height)) {}

/// The convolution of neural networks is a correlation: the spectrum is the
/// conjugate of the filter's, which is why the exponents are positive.
std::vector<Number> FilterSpectrum::transform(ArrayRef<float> taps) const {
  int64_t frequencies = tile.width / 2 + 1, height = tile.height;
  std::vector<Number> rows(kernelH * frequencies);
  for (int64_t y = 0; y < kernelH; ++y)
    for (int64_t k = 0; k < frequencies; ++k)
      for (int64_t x = 0; x < kernelW; ++x)
        rows[y * frequencies + k] += rowRoots[k * x % tile.width] *
                                     static_cast<double>(taps[y * kernelW + x]);
  auto column = [&](int64_t kx, int64_t ky) {
    Number sum;
    for (int64_t y = 0; y < kernelH; ++y)
      sum += columnRoots[ky * y % height] * rows[y * frequencies + kx];
    return sum;
  };
  std::vector<Number> pairs(tile.pairs());
  double realColumn = getPairScale(tile.width, 0);
  if (height == 1)
    pairs[0] = realColumn *
               Number(column(0, 0).real(), column(tile.width / 2, 0).real());
  for (int64_t side = 0; side < 2 && height > 1; ++side) {
    int64_t kx = side * tile.width / 2;
    Number *first = &pairs[side * height / 2];
    first[0] = realColumn * getPairScale(height, 0) *
               Number(column(kx, 0).real(), column(kx, height / 2).real());
    for (int64_t ky = 1; ky < height / 2; ++ky)
      first[ky] = realColumn * getPairScale(height, ky) * column(kx, ky);
  }
  for (int64_t kx = 1; kx < tile.width / 2; ++kx)
    for (int64_t ky = 0; ky < height; ++ky)
      pairs[kx * height + ky] = getPairScale(tile.width, kx) /
                                static_cast<double>(height) * column(kx, ky);
  return pairs;
}

void FilterSpectrum::transformToPoints(ArrayRef<float> taps,
                                       MutableArrayRef<double> points) const {
  std::vector<Number> pairs = transform(taps);
  for (int64_t pair = 0; pair < tile.pairs(); ++pair) {
    double re = pairs[pair].real(), im = pairs[pair].imag();
    double *point = &points[3 * pair];
    point[0] = tile.isRealPair(pair) ? 0 : re;
    point[1] = tile.isRealPair(pair) ? im : im - re;
    point[2] = tile.isRealPair(pair) ? -re : re + im;
  }
}

std::vector<char> fft::packDepthwiseFilter(const TileShape &tile,
                                           const igemm::Geometry &g,
                                           int64_t lanes,
                                           ArrayRef<char> filter) {
  int64_t vectors = llvm::divideCeil(g.channels, lanes), taps = g.taps();
  std::vector<char> bytes(vectors * tile.pairs() * 2 * lanes * 4, 0);
  auto *packed = reinterpret_cast<float *>(bytes.data());
  const auto *weights = reinterpret_cast<const float *>(filter.data());
  FilterSpectrum spectrum(tile, g.kernelH, g.kernelW);
  for (int64_t c = 0; c < g.channels; ++c) {
    std::vector<Number> pairs =
        spectrum.transform(ArrayRef(weights + c * taps, taps));
    for (int64_t pair = 0; pair < tile.pairs(); ++pair) {
      float *at =
          packed + (c / lanes * tile.pairs() + pair) * 2 * lanes + c % lanes;
      at[0] = static_cast<float>(pairs[pair].real());
      at[lanes] = static_cast<float>(pairs[pair].imag());
    }
  }
  return bytes;
}
