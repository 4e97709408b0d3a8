//===- Fft.h - Convolution in the frequency domain ------------ -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Overlap-save: the output is divided into tiles. The input of each, which
// overlaps that of its neighbours, is transformed as a tile of tileH x tileW
// points; its product with the transformed filter is transformed back; and the
// pixels that are not affected by the wrap-around of the circular convolution
// are stored. Filters of many taps cost no more than those of few, as long as
// their tiles yield about as many pixels (Mathieu, Henaff and LeCun, "Fast
// Training of Convolutional Networks through FFTs", ICLR 2014; tiles: Zlateski,
// Jia, Li and Durand, "FFT Convolutions are Faster than Winograd on Modern
// CPUs, Here is Why", 2018).
//
// Lanes are channels, so that the transforms are scalar code on vectors
// (Fourier.h). The spectrum of a real tile is symmetric, and kept as
// tileH tileW / 2 pairs of numbers (TileTransform.h). Complex products are made
// of three real ones,
//
//   m1 = (a.re + a.im) w.re
//   m2 = a.re (w.im - w.re)    re = m1 - m3
//   m3 = a.im (w.re + w.im)    im = m1 + m2
//
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition,
// section 23.2.4), so that the sums over channels are products of matrices, one
// for each of 3 points per pair: the engine of Winograd (TileEngine.h) runs
// them. A pair of two real numbers (p, q) has (a.re, a.im) = (q, p) and filter
// points (0, w.q, -w.p), whose sums are those two products in the same places.
//
// With one channel per group nothing is summed: a task does all steps for one
// tile of one vector of channels.
//
// Error: relative to the norm of the result, that of a transform of n points
// grows with log2(n) at most (Higham, section 24.1). Here two transforms in f32
// and the sum over the channels follow each other; the filter is transformed in
// f64. On uniform operands the relative L2 error is less than 2^-24 log2(n) for
// up to 16 channels, with n the points of a tile, and grows with their root
// (FftTest.cpp). A pixel that is not finite spoils the tiles that read it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_FFT_FFT_H
#define TARPON_LIB_KERNELS_HOST_CONV_FFT_FFT_H

#include "Host/Conv/Winograd/TileEngine.h"

#include <complex>

namespace tarpon::fft {

/// The points of a tile: powers of two from 8 on, or a height of 1.
struct TileShape {
  int64_t height, width;

  int64_t pairs() const { return height * width / 2; }
  /// The number of products per channel and tile.
  int64_t points() const { return 3 * pairs(); }
  /// Returns true if a pair holds two real numbers.
  bool isRealPair(int64_t pair) const {
    return pair == 0 || (height > 1 && pair == height / 2);
  }
};

/// The properties that the code of a kernel depends on.
struct KernelSpec {
  KernelSpec(const Problem &problem, const TargetInfo &target,
             const PerfConfig &config);

  TileShape tile;
  bool depthwise;
  /// Unused if depthwise.
  winograd::ProductSpec product;
  winograd::ChannelSource input;
  /// The spec of storing some pixels of a row by one vector of channels.
  igemm::KernelSpec output;

  std::string symbol() const;
};

/// The parameters of a launch behind those of the engine.
enum Param : int64_t {
  OutTileH = winograd::NumParams, ///< pixels that a tile yields
  OutTileW,
  NumParams
};

/// Emits the kernels; KernelEmitter.cpp and DepthwiseEmitter.cpp.
void emitKernel(KernelBuilder &b, const KernelSpec &spec);
void emitDepthwise(KernelBuilder &b, const KernelSpec &spec);
/// The bytes of scratch that the steps use.
int64_t getScratchBytes(const TileShape &tile);

/// Returns true if each channel has one filter of its own.
bool isDepthwise(const Problem &problem);
/// The sizes of the problem; as one group if depthwise.
igemm::Geometry makeGeometry(const Problem &problem);

/// Computes the spectrum of one filter's taps, by pair, scaled such that the
/// transforms cancel; FilterSpectrum.cpp.
class FilterSpectrum {
public:
  FilterSpectrum(const TileShape &tile, int64_t kernelH, int64_t kernelW);

  std::vector<std::complex<double>> transform(llvm::ArrayRef<float> taps) const;
  /// Computes the spectrum as three points per pair.
  void transformToPoints(llvm::ArrayRef<float> taps,
                         llvm::MutableArrayRef<double> points) const;

private:
  TileShape tile;
  int64_t kernelH, kernelW;
  /// e^(2 pi i k / n) for a row and a column.
  std::vector<std::complex<double>> rowRoots, columnRoots;
};

/// The spectra of all channels: [channels / lanes][pair][2][lanes].
std::vector<char> packDepthwiseFilter(const TileShape &tile,
                                      const igemm::Geometry &geometry,
                                      int64_t lanes,
                                      llvm::ArrayRef<char> filter);

/// The cost of a problem's transforms, for the geometry of makeGeometry;
/// CostModel.cpp.
winograd::TileWork getTileWork(const TileShape &tile, const Problem &problem,
                               const igemm::Geometry &geometry,
                               const TargetInfo &target);
/// The estimated cycles of a depthwise problem on the target's threads;
/// CostModel.cpp.
double estimateDepthwiseCycles(const TileShape &tile, const Problem &problem,
                               const igemm::Geometry &geometry,
                               const TargetInfo &target);

} // namespace tarpon::fft

#endif // TARPON_LIB_KERNELS_HOST_CONV_FFT_FFT_H
