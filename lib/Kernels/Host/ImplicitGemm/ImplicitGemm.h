//===- ImplicitGemm.h - Register-tiled products of panels -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine behind the convolution and matmul solvers. The output is divided
// into tiles of `tileM` pixels by `tileN` channels whose accumulators stay in
// registers. The input pixels of a tile are packed into a panel, which resolves
// strides, dilations, padding, groups and layouts; the filter was packed at
// compile time. The product is then one loop over K with constant addresses:
//
//   panel of the input   [K / 16][tileM][16 units]
//   panel of the filter  [K][tileN units]
//
// A unit is 4 bytes and holds 1, 2 or 4 elements of K: the operand of one lane
// of fma, vdpbf16ps or vpdpbusd. K runs over the taps and within a tap over the
// channels, in runs that are padded to whole units (zeros in the filter).
//
// A task packs `blockM` tiles of pixels and multiplies them by its tiles of
// channels, so that each panel of the filter is used blockM times while it is
// in the cache. Background: Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", ACM TOMS 34(3), 2008.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_IMPLICITGEMM_H
#define TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_IMPLICITGEMM_H

#include "Common/Epilogue.h"
#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/Solver.h"

#include <optional>

namespace tarpon::igemm {

/// The units of K in one line of the input panel: 64 bytes.
inline constexpr int64_t kLineUnits = 16;
inline constexpr int64_t kUnitBytes = 4;
/// The units of K between two tests of the inner loop.
inline constexpr int64_t kUnroll = 4;
inline constexpr int64_t kLineBytes = kLineUnits * kUnitBytes;

/// The multiply-accumulate instruction.
enum class Arith : uint8_t {
  F32,     ///< f32 += f32 * f32; narrower floats are widened
  BF16Dot, ///< f32 += two products of bf16 (vdpbf16ps)
  I8Dot,   ///< i32 += four products u8 * s8 (vpdpbusd, or the same in steps)
  I16Dot,  ///< i32 += two products of i16 (vpdpwssd, or pmaddwd and a sum)
};

/// The number of elements of K in one unit.
int64_t elementsPerUnit(Arith arith);

/// A convolution over up to three spatial dimensions; missing ones have
/// extents, kernels and strides of 1. A matmul's rows are the width. Channels
/// are counted per group.
struct Geometry {
  int64_t batch = 1, groups = 1;
  int64_t channels = 1, height = 1, width = 1;
  int64_t outChannels = 1, outHeight = 1, outWidth = 1;
  int64_t kernelH = 1, kernelW = 1, strideH = 1, strideW = 1;
  int64_t dilationH = 1, dilationW = 1, padTop = 0, padLeft = 0;
  int64_t depth = 1, outDepth = 1, kernelD = 1, strideD = 1, dilationD = 1;
  int64_t padFront = 0;
  /// TensorDesc::pitch of an nhwc input and result; 0 if they are no slices.
  int64_t inputPitch = 0, resultPitch = 0;
  /// True if a table tells, for each image of the result, the input and the
  /// filter it is made from, and the place of epilogue operands; see Batch.
  bool batched = false;

  /// Returns true if the third dimension, in front of the others, is used.
  bool hasDepth() const {
    return depth * outDepth * kernelD != 1 || padFront != 0;
  }
  int64_t pixels() const { return depth * height * width; }
  int64_t outPixels() const { return outDepth * outHeight * outWidth; }
  int64_t taps() const { return kernelD * kernelH * kernelW; }

  /// Returns true if each output pixel reads only the input pixel at its own
  /// place.
  bool isPointwise() const {
    return taps() == 1 && strideD == 1 && strideH == 1 && strideW == 1 &&
           padFront == 0 && padTop == 0 && padLeft == 0 && outDepth == depth &&
           outHeight == height && outWidth == width;
  }
};

/// The strides of (output channel, input channel, tap) of the filter in its
/// row-major constant, in elements.
struct FilterStrides {
  int64_t outChannel, channel, tap;
};

/// A product of stacks of matrices, by image of the result.
struct Batch {
  std::vector<int64_t> inputs, filters; ///< indices into the operands' stacks
  int64_t filterCount = 1;
};

/// The relation of an epilogue operand to the result.
enum class AccessKind : uint8_t {
  Scalar,
  PerChannel,
  Tensor, ///< as the result
  Rows,   ///< channels side by side; images and pixels as the table says
  Pixels, ///< one element for all channels; images and pixels likewise
};

/// Returns true if the table of a batch has the operand's place.
inline bool isInTable(AccessKind kind) {
  return kind == AccessKind::Rows || kind == AccessKind::Pixels;
}

/// An operand of the epilogue, as the kernel reads it.
struct OperandAccess {
  int operand;
  AccessKind kind;
  DType dtype;
  bool quantized;
};

/// The properties that the code of a kernel depends on.
struct KernelSpec {
  KernelSpec(const Problem &problem, const TargetInfo &target,
             const PerfConfig &config, const Geometry &geometry,
             Layout inputLayout);

  Arith arith;
  DType inputDtype, filterDtype, resultDtype;
  bool resultQuantized;
  Layout inputLayout, resultLayout;
  int64_t tileM, tileN;
  /// True if the sums are in AMX's tile registers; see AmxProduct.h.
  bool amx;
  /// True if a row of the kernel is packed in one run: in nhwc its taps are
  /// contiguous. For inputs with few channels, which would fill lines badly one
  /// by one.
  bool mergedRows;
  /// True if there are three spatial dimensions.
  bool hasDepth;
  /// See Geometry.
  bool batched;
  /// True if a table lists the taps that each tile reads; see TileTaps.h.
  bool skipsTaps = false;
  std::vector<OperandAccess> operands;
  EpilogueEmitter epilogue;

  std::string symbol() const;
  /// The part of the symbol that all kernels on register tiles share.
  std::string commonSymbol() const;
  /// The elements of the input that are read at once, and the units that they
  /// fill.
  int64_t pieceElements() const;
  int64_t pieceUnits() const;
  /// Bytes of one unit of the packed filter.
  int64_t filterUnitBytes() const;
  /// The numbers in the table of a batch for one image: the input's first byte,
  /// the filter's index, and for each operand of kind Rows or Pixels its first
  /// element and the elements from one pixel to the next.
  int64_t tableColumns() const;
};

/// The way in which the pixels of a tile are packed into the panel.
enum PackMode : int64_t {
  PackPieces, ///< runs of any length, in masked pieces
  PackLines,  ///< the channels of a tap fill whole lines
  PackPixels, ///< a window of one pixel: pixels follow each other in memory
};

PackMode choosePackMode(const KernelSpec &spec, const Geometry &geometry);

/// The relation of an epilogue operand to the result; none if it is broadcast
/// differently.
std::optional<AccessKind> getAccess(const Problem &problem,
                                    const TensorDesc &operand, bool batched);

/// One filter in the panels.
struct PackedShape {
  int64_t runs, runElements, unitsPerRun;
  int64_t units; ///< of all runs, in whole lines
};
PackedShape getPackedShape(const KernelSpec &spec, const Geometry &geometry);

/// The place of a run-time filter's elements: (output channel of all groups) *
/// outChannel + run * run + (element of the run) * element. One of outChannel
/// and element is 1.
struct FilterSource {
  BufferSlot slot;
  DType dtype;
  int64_t images, image, outChannel, run, element;
};

/// Appends the launch that packs filters to byte `packed` of the workspace, and
/// for I8Dot writes the initial sums to byte `starts`.
void planFilterPack(SolutionPlan &plan, const KernelSpec &spec,
                    const Geometry &geometry, const PackedShape &shape,
                    const FilterSource &source, int64_t packed, int64_t starts,
                    int64_t inputZeroPoint);

/// The parameters of a launch, in order; the operands' scales and zero points
/// and the epilogue's parameters follow.
enum Param : int64_t {
  InputPixelBytes, ///< from one pixel to the next
  InputImageBytes, ///< from one image to the next
  InputGroupBytes, ///< from the channels of one group to the next
  InputPieceBytes, ///< from one piece of a run to the next
  InputHeight,
  InputWidth,
  PixelElements, ///< channels of all groups, where rows are merged
  RunElements,   ///< a run: the channels of a tap, or a row of the kernel
  Pieces,        ///< per run
  UnitsPerRun,
  KernelH,
  KernelW, ///< runs per row of the kernel
  StrideH,
  StrideW,
  DilationH,
  DilationW,
  PadTop,
  PadLeft,
  InputDepth, ///< read where the spec has a depth, like the four that follow
  KernelD,
  StrideD,
  DilationD,
  PadFront,
  OutHeight, ///< likewise
  FillByte,  ///< what padding holds: the zero point
  Mode,      ///< a PackMode
  RowLines,  ///< of a row of the kernel that lies in one piece, or 0
  Lines,     ///< of a pixel in the panel: ceil(K / 16)
  Units,     ///< of K that are multiplied: the last line may end early
  OutWidth,
  OutPixels,      ///< per image
  OutChannels,    ///< per group
  ResultChannels, ///< of all groups; from pixel to pixel of an nhwc slice
  Groups,
  PixelTiles,    ///< per image
  ChannelTiles,  ///< per group
  BlockM,        ///< pixel tiles per task
  BlockN,        ///< channel tiles per task
  AsksForInput,  ///< 1: what is asked for ahead is input, not the filter
  BlockLines,    ///< of K that are multiplied at a stretch
  KBlocks,       ///< ceil(Lines / BlockLines)
  PixelBlocks,   ///< ceil(PixelTiles / BlockM)
  ChannelBlocks, ///< ceil(ChannelTiles / BlockN)
  ResultInverseScale,
  ResultZeroPoint, ///< as f32
  NumParams
};

/// Emits the kernel; KernelEmitter.cpp.
void emitKernel(KernelBuilder &b, const KernelSpec &spec);

/// The arithmetic in which the engine multiplies such an input.
Arith chooseArith(const TensorDesc &input, const TargetInfo &target);

/// Checks that the engine supports these operands: dtypes, layouts, epilogue.
/// `packsFilters` allows a filter that is not constant.
Applicability isSupported(const Problem &problem, const TargetInfo &target,
                          const Geometry &geometry, bool packsFilters = false);

PerfConfig defaultConfig(const Problem &problem, const TargetInfo &target,
                         const Geometry &geometry);
/// Panels of the filter are as wide as a tile, whatever its height.
PerfConfig configLike(const Problem &problem, const TargetInfo &target,
                      const Geometry &geometry, const PerfConfig &like);
std::vector<PerfConfig> configs(const Problem &problem,
                                const TargetInfo &target,
                                const Geometry &geometry);
bool isValidConfig(const Problem &problem, const TargetInfo &target,
                   const PerfConfig &config);
/// The fraction of the peak, by the estimate that ranks the tiles.
double expectedFraction(const Problem &problem, const TargetInfo &target,
                        const Geometry &geometry);

/// Plans the main launch on an input in NHWC or a blocked layout.
SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                  const PerfConfig &config, const Geometry &geometry,
                  const FilterStrides &strides, Layout inputLayout,
                  const Batch *batch = nullptr);

/// The workspace of plan() for a filter that is not constant, the same for
/// every config.
int64_t filterWorkspace(const Problem &problem, const TargetInfo &target,
                        const Geometry &geometry, Layout inputLayout,
                        int64_t filters = 1);

/// The number of pixels to which the last tile of a row of pixels is reduced if
/// they suffice; implicit GEMM also reduces it to a single one.
inline int64_t tailM(int64_t tileM) { return tileM >= 4 ? tileM / 2 : 0; }

/// The tiles (pixels, channels) worth trying, best estimate first.
std::vector<std::pair<int64_t, int64_t>> rankTiles(const Problem &problem,
                                                   const TargetInfo &target,
                                                   const Geometry &geometry);
/// The estimated fraction of the peak that a tile reaches.
double estimateEfficiency(const TargetInfo &target, const Geometry &geometry,
                          int64_t tileM, int64_t tileN);

/// Returns true if a tile fits the vector registers.
bool isValidTile(const Problem &problem, const TargetInfo &target,
                 int64_t tileM, int64_t tileN);
/// Returns true if AMX multiplies in this arithmetic.
bool hasAmx(const TargetInfo &target, Arith arith);
/// Returns true if a tile fits with this arithmetic; OuterProduct.cpp.
bool fitsRegisters(const TargetInfo &target, Arith arith, int64_t tileM,
                   int64_t tileN);

/// The number of channel tiles per task, and of the tasks that they make.
/// Channels are divided only if `otherTasks` are too few to keep the threads
/// busy, because every task packs its input anew.
std::pair<int64_t, int64_t> splitChannels(const TargetInfo &target,
                                          int64_t channelTiles,
                                          int64_t otherTasks);

/// Sets FillByte and the parameters of the code behind the product: scales and
/// zero points, and behind NumParams those of the operands and the epilogue.
void setResultParams(std::vector<int64_t> &params, const Problem &problem,
                     const KernelSpec &spec);

/// Binds the buffers of a launch in the engine's order: input, packed filter,
/// for I8Dot the factors and starts per channel, the epilogue's operands,
/// result.
SolutionPlan bindLaunch(const Problem &problem, const KernelSpec &spec,
                        const Geometry &geometry, const FilterStrides &strides,
                        LaunchPlan launch, ConstantPlan filter);

/// Packs the filter, and for I8Dot the factors and offsets per channel.
std::vector<char> packFilter(const KernelSpec &spec, const Geometry &geometry,
                             const FilterStrides &strides,
                             llvm::ArrayRef<char> filter);

/// The base of the solvers on this engine: everything except the choice of
/// problems and their mapping to a geometry.
class EngineSolver : public Solver {
public:
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final {
    return igemm::defaultConfig(problem, target, getGeometry(problem));
  }

  PerfConfig configLike(const Problem &problem, const TargetInfo &target,
                        const PerfConfig &like) const final {
    return igemm::configLike(problem, target, getGeometry(problem), like);
  }

  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final {
    return igemm::configs(problem, target, getGeometry(problem));
  }

  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const final {
    return igemm::isValidConfig(problem, target, config);
  }

  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const final {
    return igemm::expectedFraction(problem, target, getGeometry(problem));
  }

protected:
  virtual Geometry getGeometry(const Problem &problem) const = 0;
};

} // namespace tarpon::igemm

#endif // TARPON_LIB_KERNELS_HOST_IMPLICITGEMM_IMPLICITGEMM_H
