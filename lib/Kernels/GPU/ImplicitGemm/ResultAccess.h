//===- ResultAccess.h - Turns sums into results -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of runs of neighbouring channels become results: dequantisation,
// epilogue, requantisation, and a store of the whole run if its channels are
// contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_RESULTACCESS_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_RESULTACCESS_H

#include "Common/LaunchBuilder.h"
#include "GPU/MagicDivision.h"
#include "Host/ImplicitGemm/ImplicitGemm.h"
#include "Ints.h"
#include "Tile.h"
#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

namespace tarpon::gpuigemm {

using igemm::AccessKind;
using igemm::Geometry;
using igemm::OperandAccess;

/// The properties that the code after the sums depends on.
struct ResultSpec {
  ResultSpec(const Problem &problem, const Geometry &geometry, const Tile &tile,
             const GpuTarget &gpu);

  DType dtype;
  bool quantized;
  /// True if channels are outermost, false if they are contiguous.
  bool planes;
  /// True if the sums are i32, with factors per channel.
  bool integerSums;
  /// True if a number per channel is added to i32 sums first.
  bool addsStarts;
  /// True if a run may end in the middle.
  bool channelTail;
  /// The channels of a run that are accessed at once where it may end early.
  int64_t part;
  /// True if a table has the images and pixels of some operands; see
  /// igemm::Batch.
  bool batched;
  int64_t run;
  std::vector<OperandAccess> operands;

  std::string symbol(const EpilogueEmitter &epilogue) const;
};

/// Tables per channel, padded to whole tiles: the scale of the i32 sum, for
/// each group; and the number that is added to the sum first, for each filter
/// (of a group or of a batch), if the spec says so.
struct ChannelTables {
  BufferSlot scales, starts;
};

/// The number of columns of a batch's table. For each image it has the first
/// byte of the input, the index of the filter, and for each operand that
/// isInTable its first element and the elements from one pixel to the next; all
/// i32.
int64_t countTableColumns(llvm::ArrayRef<OperandAccess> operands);

/// Buffers and parameters of a launch that stores results.
class ResultAccess {
public:
  /// `tables` and `batchTable` are used where the spec needs them.
  /// `paddedChannels` is that of the tables, per group.
  ResultAccess(LaunchBuilder &launch, const Problem &problem,
               const ResultSpec &spec, const Geometry &geometry,
               const ChannelTables &tables, int64_t paddedChannels,
               BufferSlot batchTable);

  std::string symbol() const { return spec.symbol(epilogue); }
  const ResultSpec &getSpec() const { return spec; }

  class Bound;
  /// The result refers to this object.
  Bound bind(GpuKernelBuilder &b) const;

private:
  ResultSpec spec;
  int64_t firstOperand;
  EpilogueEmitter epilogue;
  int64_t scales = 0, starts = 0, table = 0, firstBuffer = 0, result = 0;
  int64_t channels, pitch, planeElements, imageElements, paddedChannels;
  int64_t inverseScale = 0, firstScale = 0;
  MagicDivisor outPixels;
};

/// The access in an emitted kernel.
class ResultAccess::Bound {
public:
  using Value = mlir::Value;

  /// The place of a pixel of a group of channels. All values are i32.
  struct Pixel {
    Value element;    ///< of the group's channel 0 in the result
    Value image, row; ///< of a batch
  };

  /// `pixel` counts over all images; `row` within `image`.
  Pixel getPixel(Value pixel, Value group, Value image, Value row);

  /// The values that all pixels of a run of channels share, for the channels
  /// that exist (the first one of the run does).
  struct Channels {
    Value first; ///< of the group, and
    Value ofAll; ///< of all groups
    Value factors, starts;
    mlir::SmallVector<Value> operands;
  };
  Channels getChannels(Value group, Value first, Value image);

  /// The operands of a run of one pixel, as they are in memory: what the
  /// epilogue reads of them before the run is stored. Null for operands that
  /// pixels share.
  using Loaded = mlir::SmallVector<Value>;
  /// The registers that the operands of a run of a pixel take.
  int64_t countRegisters() const;
  bool hasPixelOperands() const;
  /// `first` is the run's first channel in its group.
  Loaded load(const Pixel &pixel, Value first);

  /// Stores the results of a run of sums, which is a vector, if the pixel
  /// `exists` (i1).
  void store(const Pixel &pixel, const Channels &channels, const Loaded &loaded,
             Value sums, Value exists);

  Value getChannelCount() { return channelCount; }

private:
  friend class ResultAccess;
  Bound(const ResultAccess &access, GpuKernelBuilder &b);

  bool isPerPixel(size_t operand) const;
  /// The numbers that an operand's stored elements are.
  Value decode(size_t operand, Value stored);
  /// A run that starts at an element of a buffer, as it is stored.
  Value loadRun(DType dtype, Value base, Value element, Value channel,
                bool strided);
  void storeRun(Value values, Value element, Value channel);
  Value loadTable(size_t operand, Value image, int64_t column);
  Value loadPerPixel(size_t operand, const Pixel &pixel, Value first);
  /// Elements as they are stored, in a vector.
  Value loadAt(DType dtype, Value base, Value element, int64_t lanes);
  /// One element for a whole run.
  Value loadScalar(DType dtype, Value base, Value element);
  Value getPointer(DType dtype, Value base, Value element);
  /// Calls f(i) for each part of the run, from channel i on, that exists.
  void forExisting(Value channel, int64_t part,
                   llvm::function_ref<void(int64_t i)> f);
  bool mayEndEarly() const { return access.spec.channelTail; }
  /// Returns true if vectors of runs start where the target's accesses may.
  bool areRunsAligned();

  const ResultAccess &access;
  GpuKernelBuilder &b;
  Ints ints;
  mlir::SmallVector<Value> epilogueParams, buffers, scalars;
  mlir::SmallVector<std::pair<Value, Value>> operandScales;
  Value result, scales, starts, table;
  Value channelCount, pitch, planeElements, imageElements;
  Value inverseScale, zeroPoint;
  MagicDivisor::Bound outPixels;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_RESULTACCESS_H
