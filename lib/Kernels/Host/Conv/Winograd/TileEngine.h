//===- TileEngine.h - Products between two transforms -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine behind the convolutions that multiply transformed tiles: Winograd
// and FFT. The output is divided into tiles of some rows and columns of pixels.
// One launch does everything, and the data between its three steps stays in the
// L2 cache of a thread. A task has a block of tiles and some of the output
// channels:
//
//   1. transform the input of all tiles: panels [point][tiles / tileM]
//      [C / 16][tileM][16 channels], one line of 64 bytes after the other;
//      products of integers have two channels in each unit of 4 bytes, and so
//      32 in a line;
//   2. for tileN output channels and each point, multiply the panels with the
//      filter, which was transformed at compile time: [K / tileN][point][C]
//      [tileN], and put the products to [tile][point][tileN], in f32;
//   3. transform those back, apply the epilogue and store.
//
// The filter is read once per block, in order; it is larger than the original,
// 36 / 9 times for F(4x4,3x3), and where it does not fit into the caches its
// bandwidth limits the speed. Consecutive tasks of a thread have the same tiles
// if possible, and then share the first step: a note at the start of the
// thread's scratch says whose panels it holds.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TILEENGINE_H
#define TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TILEENGINE_H

#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/Support/MathExtras.h"

namespace tarpon::winograd {

/// Channels of floats in one line of an input panel, which is 64 bytes.
inline constexpr int64_t kLineChannels = 16;
inline constexpr int64_t kLineBytes = 64;
/// The note and the padding of its line, in front of the steps' scratch, which
/// panels and products follow.
inline constexpr int64_t kNoteBytes = kLineBytes;
static_assert(runtime::kScratchNoteBytes >= sizeof(int64_t),
              "a note is the number of a block");
/// The number of pixels of a row that are transposed together if channels are
/// not innermost.
inline constexpr int64_t kRowPixels = 16;

/// The parameters of a launch, in order, behind those of storing the result.
enum Param : int64_t {
  InputImageBytes, ///< from one image to the next
  InputGroupBytes, ///< from the channels of one group to the next
  InputPixelBytes, ///< from one pixel to the next
  InputBlockBytes, ///< from one block of channels to the next; from one channel
                   ///< to the next in nchw
  InputHeight,
  InputWidth,
  Channels, ///< per group
  Lines,    ///< of a tile in a panel: ceil(Channels / lineChannels())
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
  NumParams,
  DilationH = NumParams, ///< only where a kernel has dilations, as the next
  DilationW,
};

/// The tiles of the images, and the cost of transforming them.
struct TileWork {
  /// The number of products per tile and pair of channels.
  int64_t points;
  int64_t tilesX, tilesY; ///< of one image
  /// The cycles per tile and vector of channels of the transforms between
  /// vectors and memory.
  double inputCycles, outputCycles;
  /// The additional cycles if panels and products are several times as large as
  /// the L2 cache.
  double farCycles = 0;
  /// F32, or I16Dot.
  igemm::Arith arith = igemm::Arith::F32;

  int64_t tiles(const igemm::Geometry &geometry) const {
    return geometry.batch * tilesX * tilesY;
  }
  /// The units of a tile's channels in a panel.
  int64_t units(const igemm::Geometry &geometry) const {
    int64_t perUnit = igemm::elementsPerUnit(arith);
    int64_t line = igemm::kLineUnits * perUnit;
    return llvm::alignTo(geometry.channels, line) / perUnit;
  }
};

/// The input of a kernel: f32, or bytes.
struct ChannelSource {
  runtime::DType dtype;
  Layout layout;
  /// True if the channels of a group fill whole lines, so that no masks are
  /// needed.
  bool alignedChannels;
};

/// The register tile of the products.
struct ProductSpec {
  int64_t points, tileM, tileN;
  igemm::Arith arith = igemm::Arith::F32;

  bool isInteger() const { return arith != igemm::Arith::F32; }
  /// Channels in one line of an input panel.
  int64_t lineChannels() const {
    return igemm::kLineUnits * igemm::elementsPerUnit(arith);
  }
  /// The bytes of one point's filter for tileN channels of the result. Behind
  /// integers are the factors that turn their sums into numbers, in f32.
  int64_t filterBytes(int64_t lines) const {
    return (lines * igemm::kLineUnits + isInteger()) * tileN *
           igemm::kUnitBytes;
  }

  /// The bytes of all points' panels, with one more line per point: otherwise
  /// their addresses would differ by powers of two and fall into the same sets
  /// of a cache. The same holds for products.
  int64_t panelBytes(int64_t blockTiles, int64_t lines) const {
    return points * (blockTiles * lines + 1) * kLineBytes;
  }
  /// The bytes of one tile's products.
  int64_t tileBytes() const { return points * tileN * 4 + kLineBytes; }
  int64_t productBytes(int64_t blockTiles) const {
    return blockTiles * tileBytes();
  }
};

//===----------------------------------------------------------------------===//
// Planning; TilePlan.cpp
//===----------------------------------------------------------------------===//

/// A vector of channels must lie within one block.
bool hasWholeVectors(const Layout &layout, const TargetInfo &target);

/// The spec of storing `pixels` pixels of a row by one vector of channels.
igemm::KernelSpec makeOutputSpec(const Problem &problem,
                                 const TargetInfo &target,
                                 const igemm::Geometry &geometry,
                                 int64_t pixels);
/// The index of the first Param: those of storing the result come before.
int64_t getFirstParam(const igemm::KernelSpec &output);

/// Returns true if the config has a register tile and a block that fit; it may
/// have other fields too.
bool isValidBlock(const TargetInfo &target, const PerfConfig &config,
                  igemm::Arith arith = igemm::Arith::F32);
/// Configs with the time by which a solver ranks them.
using RankedConfigs = std::vector<std::pair<double, PerfConfig>>;
/// Appends `fields` combined with all register tiles worth trying, in blocks of
/// several sizes, and their estimated cycles.
void appendTiles(const TargetInfo &target, const igemm::Geometry &geometry,
                 const TileWork &work, const PerfConfig &fields,
                 RankedConfigs &list);
/// Does the same for the register tiles that suffice for models without tuning:
/// as many rows as the registers hold of two vectors, and for images of few
/// tiles half of that, eight, and four of four vectors.
void appendDefaultTiles(const TargetInfo &target,
                        const igemm::Geometry &geometry, const TileWork &work,
                        const PerfConfig &fields, RankedConfigs &list);
void sortByCycles(RankedConfigs &list);
/// The first configs of a sorted list that use few different kernels;
/// `standard` is among them.
std::vector<PerfConfig> chooseConfigs(const RankedConfigs &sorted,
                                      const PerfConfig &standard);

/// The number of tiles of output channels per task, given the number of blocks
/// of tiles of all groups: channels are divided if there are too few blocks to
/// keep the threads busy.
int64_t chooseChannelBlock(const TargetInfo &target, int64_t tileBlocks,
                           int64_t channelTiles);
/// Estimates the cycles of a config on the target's threads; CostModel.cpp.
double estimateCycles(const TargetInfo &target, const TileWork &work,
                      const igemm::Geometry &geometry,
                      const PerfConfig &config);
/// The fraction of the threads' peak that this number of cycles achieves.
double getFraction(const Problem &problem, const TargetInfo &target,
                   double cycles);

/// Writes the transform of one filter's taps, a number per point.
using FilterTransform = llvm::function_ref<void(llvm::ArrayRef<float> taps,
                                                llvm::MutableArrayRef<double>)>;
/// Packs a filter of floats for the engine; FilterPack.cpp.
std::vector<char> packFilter(const ProductSpec &spec,
                             const igemm::Geometry &geometry,
                             llvm::ArrayRef<char> filter,
                             FilterTransform transform);

/// The bytes in front of a filter of integers, which begin with the number of
/// lines whose sums fit 32 bits.
inline constexpr int64_t kFilterHeadBytes = kLineBytes;

/// The parameters of storing the result, in the order of igemm::Param, and what
/// padding holds; after them those of dequantising the epilogue's operands, and
/// the epilogue's own.
std::vector<int64_t> makeResultParams(const Problem &problem,
                                      const igemm::KernelSpec &output,
                                      const igemm::Geometry &geometry);
/// The Params except those that divide the work.
std::vector<int64_t> makeTileParams(const TensorDesc &input,
                                    const igemm::Geometry &geometry,
                                    const TileWork &work);
/// Sets the Params that divide the work; returns the number of tasks.
int64_t setTaskParams(std::vector<int64_t> &params, const ProductSpec &spec,
                      const TargetInfo &target, const igemm::Geometry &geometry,
                      int64_t blockTiles);
/// Binds input, constant 0, the epilogue's operands and the result.
void bindBuffers(LaunchPlan &launch, const igemm::KernelSpec &output);

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_TILEENGINE_H
