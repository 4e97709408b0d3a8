//===- OutputTransform.cpp - From the products to the result --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where channels are innermost, each row of a tile is stored on its own. In
// nchw, the rows of neighbouring tiles are put side by side first, so that
// squares of 16 pixels can be transposed.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

static constexpr int64_t kElementBytes = 4;

/// The operands of the epilogue are bound behind input and filter.
OutputTransform::OutputTransform(KernelBuilder &b, const KernelSpec &spec,
                                 const Context &context, Value staging)
    : b(b), spec(spec), context(context), staging(staging),
      result(b, spec.output, /*firstBuffer=*/2, /*scales=*/nullptr) {}

OutputTransform::Pixels OutputTransform::transformTile(Value products) {
  int64_t size = spec.transform.inTile();
  std::vector<SmallVector<Value>> columns;
  for (int64_t x = 0; x < size; ++x) {
    SmallVector<Value> column;
    for (int64_t y = 0; y < size; ++y) {
      int64_t at = (y * size + x) * spec.tileN * kElementBytes;
      column.push_back(
          b.load(b.offset(products, at), b.vec(b.f32(), b.lanes())));
    }
    columns.push_back(spec.transform.emitOutput(b, column));
  }
  Pixels rows;
  for (int64_t y = 0; y < spec.transform.outTile(); ++y) {
    SmallVector<Value> row;
    for (int64_t x = 0; x < size; ++x)
      row.push_back(columns[x][y]);
    rows.push_back(spec.transform.emitOutput(b, row));
  }
  return rows;
}

OutputTransform::Place OutputTransform::placeOf(const Part &part, Value row) {
  int64_t outTile = spec.transform.outTile();
  Value y = b.add(b.mul(part.y, outTile), row);
  Value x = b.mul(part.x, outTile), width = context[OutWidth];
  Value pixels = b.minS(b.mul(part.count, outTile), b.sub(width, x));
  Value exists = b.slt(y, context[OutHeight]);
  return {part.image,
          b.add(b.mul(y, width), x),
          b.select(exists, pixels, b.cst(0)),
          part.channel,
          part.channels,
          spec.output.tileM};
}

void OutputTransform::emitDirect(Value products, const Part &part) {
  Pixels pixels = transformTile(products);
  for (auto [i, row] : llvm::enumerate(pixels))
    result.emit(row, nullptr, placeOf(part, b.cst(static_cast<int64_t>(i))));
}

void OutputTransform::emitStaged(Value products, const Part &part) {
  int64_t outTile = spec.transform.outTile();
  int64_t tileBytes = spec.transform.points() * spec.tileN * kElementBytes;
  b.forLoop(part.count, [&](Value tile) {
    Value at = b.offset(staging, b.mul(tile, outTile * kLineBytes));
    Pixels pixels = transformTile(b.offset(products, b.mul(tile, tileBytes)));
    for (int64_t i = 0; i < outTile; ++i)
      for (int64_t j = 0; j < outTile; ++j)
        b.store(pixels[i][j], b.offset(at, (i * kRowPixels + j) * kLineBytes));
  });
  b.forLoop(b.cst(outTile), [&](Value row) {
    Value line = b.offset(staging, b.mul(row, kRowPixels * kLineBytes));
    SmallVector<Value> pixels;
    for (int64_t p = 0; p < kRowPixels; ++p)
      pixels.push_back(
          b.load(b.offset(line, p * kLineBytes), b.vec(b.f32(), b.lanes())));
    result.emit(pixels, nullptr, placeOf(part, row));
  });
}

void OutputTransform::emit(Value products, Value first, Value last, Value group,
                           Value channel) {
  int64_t outTile = spec.transform.outTile(), lanes = b.lanes();
  int64_t tileBytes = spec.transform.points() * spec.tileN * kElementBytes;
  Value left = b.sub(context[OutChannels], channel);
  Value vectors =
      b.minS(b.cst(spec.tileN / lanes), b.ceilDiv(left, b.cst(lanes)));
  Value firstChannel = b.add(b.mul(group, context[OutChannels]), channel);
  int64_t step = spec.isResultNchw() ? kRowPixels / outTile : 1;
  context.forParts(
      first, last, step,
      [&](Value tile, Value count, Value image, Value y, Value x) {
        Value tiles = b.offset(products, b.mul(b.sub(tile, first), tileBytes));
        b.forLoop(vectors, [&](Value vector) {
          Value done = b.mul(vector, lanes);
          Part part = {
              count, image, y, x, b.add(firstChannel, done), b.sub(left, done)};
          Value source = b.offset(tiles, b.mul(done, kElementBytes));
          if (spec.isResultNchw())
            emitStaged(source, part);
          else
            emitDirect(source, part);
        });
      });
}
