//===- KernelEmitter.h - Emits a Winograd kernel ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_KERNELEMITTER_H
#define TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_KERNELEMITTER_H

#include "Host/ImplicitGemm/KernelEmitter.h"
#include "Winograd.h"

namespace tarpon::winograd {

using mlir::SmallVector;
using mlir::Value;
using mlir::ValueRange;

/// The parameters of the launch, and the loops that all steps share.
class Context {
public:
  /// `dilated` tells if the dilations are among the parameters.
  Context(KernelBuilder &b, const igemm::KernelSpec &output,
          bool dilated = false);

  Value operator[](Param p) const { return params[p]; }

  /// Runs `body` for parts of tiles [first, last) that lie in one row of one
  /// image and are `step` tiles long or shorter. `tile` is the first, which is
  /// the `x`-th in row `y` of the image; the part has `count` tiles.
  using PartBody = llvm::function_ref<void(Value tile, Value count, Value image,
                                           Value y, Value x)>;
  void forParts(Value first, Value last, int64_t step, PartBody body) const;

private:
  KernelBuilder &b;
  SmallVector<Value> params;
};

/// The pixels of the tiles along one dimension of the result; see Winograd.h.
class TileAxis {
public:
  TileAxis(KernelBuilder &b, Value dilation, int64_t outTile)
      : b(b), dilation(dilation), outTile(outTile) {}

  Value firstPixel(Value tile) const {
    Value first = b.mul(b.div(tile, dilation), b.mul(dilation, outTile));
    return b.add(first, b.rem(tile, dilation));
  }
  /// The distance from a pixel to the `count`-th one behind it of its residue.
  Value distanceTo(Value count) const { return b.mul(count, dilation); }
  Value distanceTo(int64_t count) const { return b.mul(dilation, count); }
  /// The number of pixels of one residue in `extent` pixels, the first of which
  /// is one.
  Value countPixels(Value extent) const { return b.ceilDiv(extent, dilation); }

private:
  KernelBuilder &b;
  Value dilation;
  int64_t outTile;
};

/// The transforms before and after the products.
class TileSteps {
public:
  virtual ~TileSteps() = default;
  /// Transforms tiles [first, last) of the images whose group starts at `input`
  /// to panels. The panels of neighbouring points are `pointBytes` apart, and
  /// those of tileM tiles `panelBytes`.
  virtual void emitInput(Value input, Value first, Value last,
                         Value panels) = 0;
  /// Transforms back and stores tiles [first, last), for tileN channels from
  /// `channel` in the group on.
  virtual void emitOutput(Value products, Value first, Value last, Value group,
                          Value channel) = 0;
};

/// Bytes of a panel of the input, and of all panels of one point.
struct PanelStrides {
  PanelStrides(KernelBuilder &b, const Context &context,
               const ProductSpec &spec);
  Value panelBytes, pointBytes;
};

/// Emits the tasks of the launch: runs the steps and multiplies, with panels
/// and products from `memory` on. They also use the first kNoteBytes of the
/// scratch; KernelEmitter.cpp.
void emitTasks(KernelBuilder &b, const ProductSpec &spec,
               const Context &context, Value memory, TileSteps &steps);

/// Reads vectors of channels of a group, and places them in panels: a unit of a
/// line is a channel in f32, or two in i16 less the zero point;
/// ChannelReader.cpp.
class ChannelReader {
public:
  ChannelReader(KernelBuilder &b, const ChannelSource &source,
                const Context &context);

  int64_t vectorChannels() const { return b.lanes() * perUnit; }
  mlir::VectorType vectorType();
  /// The offset from the first channel of the group to `channel`, if channels
  /// are innermost.
  Value offsetOf(Value channel);
  Value load(Value pointer, Value channel);
  /// In nchw, of f32: writes `pixels` pixels from (y, x) on, which may be
  /// outside of the image that starts at `image`, as lines of b.lanes()
  /// channels from `channel` on.
  void stageRow(Value image, Value y, Value x, int64_t pixels, Value channel,
                Value line);

  /// The offset from the first panel to the first line of tile `index` of the
  /// block.
  Value panelOffset(const PanelStrides &strides, int64_t tileM, Value index);
  /// The offset from a tile's first line to its vector that starts at
  /// `channel`.
  Value panelChannelOffset(int64_t tileM, Value channel);
  /// Runs `body` for each vector of channels that a tile has in its panel, the
  /// padding of the last line included. `at` is its place.
  void forVectors(int64_t tileM, Value destination,
                  llvm::function_ref<void(Value channel, Value at)> body);

private:
  KernelBuilder &b;
  ChannelSource source;
  const Context &context;
  int64_t elementBytes, perUnit;
  /// That of bytes.
  Value zeroPoint;
};

/// The scratch memory of the thread that runs the kernel.
struct Scratch {
  /// A line of zeros: of bytes, of zero points.
  Value zeros;
  /// A line for each point: the transforms of F(4x4) have more values than
  /// there are registers, and pass them from columns to rows through memory.
  Value between;
  /// kRowPixels lines for each row of a tile's input.
  Value staging;
};

/// Transforms the input to panels, B^T d B; InputTransform.cpp.
class InputTransform {
public:
  InputTransform(KernelBuilder &b, const KernelSpec &spec,
                 const Context &context, const Scratch &scratch);

  /// See TileSteps.
  void emit(Value input, Value first, Value last, Value panels);

private:
  /// The start of the input of a part of a row of tiles; it may lie outside.
  struct Corner {
    Value image, y, x;
  };
  /// The column is an i64.
  using Load = llvm::function_ref<Value(int64_t row, Value column)>;

  void emitDirect(const Corner &corner, Value destination);
  void emitStaged(const Corner &corner, Value firstIndex, Value count,
                  Value panels);
  void emitTile(Value destination, Load load);
  void emitTileInRegisters(Value destination, Load load);

  KernelBuilder &b;
  const KernelSpec &spec;
  const Context &context;
  Scratch scratch;
  ChannelReader reader;
  PanelStrides strides;
  TileAxis rows, columns;
};

/// Transforms the products to the result, A^T m A; OutputTransform.cpp.
class OutputTransform {
public:
  OutputTransform(KernelBuilder &b, const KernelSpec &spec,
                  const Context &context, const Scratch &scratch);

  /// See TileSteps.
  void emit(Value products, Value first, Value last, Value group,
            Value channel);

private:
  using Place = igemm::TileAccess::Place;

  /// A part of a row of tiles, and a vector of its channels.
  struct Part {
    Value count, image, y, x;
    /// The first channel, counted over all groups, and the group's channels
    /// from it on.
    Value channel, channels;
  };
  void emitDirect(Value products, const Part &part);
  void emitStaged(Value products, const Part &part);
  using Store = llvm::function_ref<void(Value row, SmallVector<Value> pixels)>;
  /// Runs `store` for each row of a tile's pixels.
  void transformTile(Value products, Store store);
  void transformTileInRegisters(Value products, Store store);
  /// Transforms column `x`.
  SmallVector<Value> transformColumn(Value products, Value x);
  /// The place of the first pixels of row `row` of a part's tiles.
  Place placeOf(const Part &part, Value row);

  KernelBuilder &b;
  const KernelSpec &spec;
  const Context &context;
  Scratch scratch;
  igemm::ResultEmitter result;
  TileAxis rows, columns;
};

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_KERNELEMITTER_H
