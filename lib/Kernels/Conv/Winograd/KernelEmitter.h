//===- KernelEmitter.h - Emits a Winograd kernel ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_CONV_WINOGRAD_KERNELEMITTER_H
#define TARPON_LIB_KERNELS_CONV_WINOGRAD_KERNELEMITTER_H

#include "../../ImplicitGemm/KernelEmitter.h"
#include "Winograd.h"

namespace tarpon::winograd {

using mlir::SmallVector;
using mlir::Value;
using mlir::ValueRange;

/// The parameters of the launch, and loops that all steps have.
class Context {
public:
  Context(KernelBuilder &b, const KernelSpec &spec);

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

/// Memory of the thread that runs the kernel.
struct Scratch {
  /// A line of zeros.
  Value zeros;
  /// A line for each point: the transforms of F(4x4) have more values than
  /// there are registers, and pass through it from columns to rows.
  Value between;
  /// kRowPixels lines for each row of a tile's input.
  Value staging;
};

/// B^T d B: from the input to the panels; InputTransform.cpp.
class InputTransform {
public:
  /// Panels of one point are `pointBytes` apart, and those of tileM tiles
  /// `panelBytes`.
  InputTransform(KernelBuilder &b, const KernelSpec &spec,
                 const Context &context, const Scratch &scratch,
                 Value panelBytes, Value pointBytes);

  /// Tiles [first, last) of the images whose group starts at `input`.
  void emit(Value input, Value first, Value last, Value panels);

private:
  /// Where the input of a part of a row of tiles starts: may be outside.
  struct Corner {
    Value image, y, x;
  };
  /// The column is an i64.
  using Load = llvm::function_ref<Value(int64_t row, Value column)>;

  void emitDirect(const Corner &corner, Value destination);
  void emitStaged(const Corner &corner, Value firstIndex, Value count,
                  Value panels);
  void stageRows(const Corner &corner, Value channel);
  void emitTile(Value destination, Load load);
  void emitTileInRegisters(Value destination, Load load);
  Value loadChannels(Value pointer, Value channel);
  Value channelOffset(Value channel);
  Value panelOffset(Value index);
  void forVectors(Value destination,
                  llvm::function_ref<void(Value channel, Value at)> body);

  KernelBuilder &b;
  const KernelSpec &spec;
  const Context &context;
  Scratch scratch;
  Value panelBytes, pointBytes;
};

/// A^T m A: from the products to the result; OutputTransform.cpp.
class OutputTransform {
public:
  OutputTransform(KernelBuilder &b, const KernelSpec &spec,
                  const Context &context, const Scratch &scratch);

  /// Tiles [first, last) and tileN channels from `channel` in the group on.
  void emit(Value products, Value first, Value last, Value group,
            Value channel);

private:
  using Place = igemm::TileAccess::Place;

  /// A part of a row of tiles, and a vector of its channels.
  struct Part {
    Value count, image, y, x;
    /// The first channel of all groups, and those of the group from it on.
    Value channel, channels;
  };
  void emitDirect(Value products, const Part &part);
  void emitStaged(Value products, const Part &part);
  using Store = llvm::function_ref<void(Value row, SmallVector<Value> pixels)>;
  /// Runs `store` for each row of a tile's pixels.
  void transformTile(Value products, Store store);
  void transformTileInRegisters(Value products, Store store);
  /// The transform of column `x`.
  SmallVector<Value> transformColumn(Value products, Value x);
  /// The first pixels of row `row` of a part's tiles.
  Place placeOf(const Part &part, Value row);

  KernelBuilder &b;
  const KernelSpec &spec;
  const Context &context;
  Scratch scratch;
  igemm::ResultEmitter result;
};

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_CONV_WINOGRAD_KERNELEMITTER_H
