//===- Winograd.h - Convolution by fewer multiplications --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine behind the Winograd solvers (Transform.h has the algorithm). The
// output is cut into tiles of m x m pixels. One launch does everything, and
// what lies between its three steps stays in the L2 cache of a thread. A task
// has a block of tiles and some of the output channels:
//
//   1. transform the input of all tiles: panels [point][tiles / tileM]
//      [C / 16][tileM][16 channels], one line of 64 bytes after the other;
//   2. for tileN output channels and each point, multiply the panels with the
//      filter, which was transformed at compile time: [K / tileN][point][C]
//      [tileN], and put the products to [tile][point][tileN];
//   3. transform those back, apply the epilogue and store.
//
// The filter is read once per block, in order; it is 36 / 9 or 16 / 9 times as
// large as before, and where it does not fit into the caches its stream is what
// limits the speed. Tasks that follow each other on a thread have the same
// tiles if they can, and then share the first step.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_CONV_WINOGRAD_WINOGRAD_H
#define TARPON_LIB_KERNELS_CONV_WINOGRAD_WINOGRAD_H

#include "../../ImplicitGemm/ImplicitGemm.h"
#include "Transform.h"
#include "tarpon/Kernels/Solver.h"

namespace tarpon::winograd {

/// Channels in one line of an input panel, which is 64 bytes.
inline constexpr int64_t kLineChannels = 16;
inline constexpr int64_t kLineBytes = 64;
/// Pixels of a row that are transposed together where channels are not
/// innermost.
inline constexpr int64_t kRowPixels = 16;

/// Everything that the code of a kernel depends on.
struct KernelSpec {
  KernelSpec(const Problem &problem, const TargetInfo &target,
             const PerfConfig &config, const Transform &transform);

  Transform transform;
  Layout inputLayout;
  int64_t tileM, tileN;
  /// The channels of a group fill whole lines: no masks.
  bool alignedChannels;
  /// How a part of a row of pixels by one vector of channels is stored. Its
  /// parameters come first.
  igemm::KernelSpec output;

  std::string symbol() const;
  int64_t firstParam() const;
  bool isInputNchw() const { return inputLayout.kind == Layout::NCHW; }
  bool isResultNchw() const { return output.resultLayout.kind == Layout::NCHW; }
};

/// The parameters of a launch, in order, from KernelSpec::firstParam() on.
enum Param : int64_t {
  InputImageBytes, ///< from one image to the next
  InputGroupBytes, ///< from the channels of one group to the next
  InputPixelBytes, ///< from one pixel to the next
  InputBlockBytes, ///< from one block of channels to the next; from one channel
                   ///< to the next in nchw
  InputHeight,
  InputWidth,
  Channels, ///< per group
  Lines,    ///< of a tile in a panel: ceil(Channels / 16)
  PadTop,
  PadLeft,
  OutHeight,
  OutWidth,
  OutChannels,   ///< per group
  TilesX,        ///< per row
  TilesY,        ///< per image
  Tiles,         ///< of all images
  BlockTiles,    ///< tiles per block, a multiple of tileM
  TileBlocks,    ///< ceil(Tiles / BlockTiles)
  ChannelTiles,  ///< per group
  BlockN,        ///< channel tiles per task
  ChannelBlocks, ///< ceil(ChannelTiles / BlockN)
  NumParams
};

/// What a thread's scratch holds, one after the other: a line of zeros, rows of
/// pixels that are being transposed, the panels of the input and the products.
struct ScratchLayout {
  explicit ScratchLayout(const Transform &transform)
      : betweenBytes(transform.points() * kLineBytes),
        stagingBytes(transform.inTile() * kRowPixels * kLineBytes) {}
  /// What the first pass of a transform leaves for the second.
  int64_t betweenBytes;
  int64_t stagingBytes;
  /// Of all points: a line more each, lest their addresses differ by powers of
  /// two, which fall on the same sets of a cache.
  static int64_t panelBytes(const KernelSpec &spec, int64_t blockTiles,
                            int64_t lines) {
    return spec.transform.points() * (blockTiles * lines + 1) * kLineBytes;
  }
  static int64_t productBytes(const KernelSpec &spec, int64_t blockTiles) {
    return spec.transform.points() * blockTiles * spec.tileN * 4;
  }
};

/// Whether a transform that holds `values` vectors between its two dimensions
/// keeps them in registers, beside a row and what is computed of it.
inline bool holdsInRegisters(const TargetInfo &target,
                             const Transform &transform, int64_t values) {
  return values + transform.inTile() + 2 <= target.vectorRegisters;
}

/// Emits the kernel; KernelEmitter.cpp.
void emitKernel(KernelBuilder &b, const KernelSpec &spec);

/// The transformed filter as the kernel reads it; Plan.cpp.
std::vector<char> packFilter(const KernelSpec &spec,
                             const igemm::Geometry &geometry,
                             llvm::ArrayRef<char> filter);

/// A guess at how long a config takes, in cycles of one core; CostModel.cpp.
double estimateCycles(const TargetInfo &target, const Transform &transform,
                      const Problem &problem, const PerfConfig &config);

/// Sizes of a 3 x 3 convolution; its windows cover the tiles.
igemm::Geometry makeGeometry(const Problem &problem);
/// Tiles of one image along each dimension.
int64_t countTiles(const Transform &transform, int64_t pixels);
/// Tiles of all images.
int64_t countTiles(const Transform &transform, const igemm::Geometry &geometry);

/// The Winograd convolutions of 3 x 3 filters. One per set of points.
class WinogradSolver : public Solver {
public:
  /// Up to `maxChannels` per group the relative L2 error is below 1e-5.
  WinogradSolver(Transform transform, int64_t maxChannels)
      : transform(std::move(transform)), maxChannels(maxChannels) {}

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const final;
  bool knowsSlices() const final { return true; }
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const final;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const final;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const final;

private:
  Transform transform;
  int64_t maxChannels;
};

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_CONV_WINOGRAD_WINOGRAD_H
