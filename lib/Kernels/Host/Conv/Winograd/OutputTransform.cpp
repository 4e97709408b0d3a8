//===- OutputTransform.cpp - Transforms the products to the result --------===//
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
                                 const Context &context, const Scratch &scratch)
    : b(b), spec(spec), context(context), scratch(scratch),
      result(b, spec.output, /*firstBuffer=*/2, /*scales=*/nullptr),
      rows(b, context[DilationH], spec.transform.outTile()),
      columns(b, context[DilationW], spec.transform.outTile()) {}

SmallVector<Value> OutputTransform::transformColumn(Value products, Value x) {
  int64_t size = spec.transform.inTile();
  int64_t pointBytes = spec.product.tileN * kElementBytes;
  Value from = b.offset(products, b.mul(x, pointBytes));
  SmallVector<Value> column;
  for (int64_t y = 0; y < size; ++y)
    column.push_back(b.load(b.offset(from, y * size * pointBytes),
                            b.vec(b.f32(), b.lanes())));
  return spec.transform.emitOutput(b, column);
}

void OutputTransform::transformTileInRegisters(Value products, Store store) {
  int64_t size = spec.transform.inTile();
  std::vector<SmallVector<Value>> columns;
  for (int64_t x = 0; x < size; ++x)
    columns.push_back(transformColumn(products, b.cst(x)));
  for (int64_t y = 0; y < spec.transform.outTile(); ++y) {
    SmallVector<Value> row;
    for (int64_t x = 0; x < size; ++x)
      row.push_back(columns[x][y]);
    store(b.cst(y), spec.transform.emitOutput(b, row));
  }
}

void OutputTransform::transformTile(Value products, Store store) {
  int64_t size = spec.transform.inTile(), outTile = spec.transform.outTile();
  // In nchw the loop over tiles is the innermost one, and LLVM loads the
  // factors in front of it: those other than one need registers, too.
  int64_t factors = spec.isResultNchw() ? size - 2 : 0;
  if (holdsInRegisters(b.getTarget(), spec.transform, size * outTile + factors))
    return transformTileInRegisters(products, store);
  Value rowBytes = b.cst(size * kLineBytes);
  b.forLoop(b.cst(size), [&](Value x) {
    Value at = b.offset(scratch.between, b.mul(x, kLineBytes));
    for (Value value : transformColumn(products, x)) {
      b.store(value, at);
      at = b.offset(at, rowBytes);
    }
  });
  b.forLoop(b.cst(outTile), [&](Value y) {
    Value from = b.offset(scratch.between, b.mul(y, rowBytes));
    SmallVector<Value> row;
    for (int64_t x = 0; x < size; ++x)
      row.push_back(
          b.load(b.offset(from, x * kLineBytes), b.vec(b.f32(), b.lanes())));
    store(y, spec.transform.emitOutput(b, row));
  });
}

OutputTransform::Place OutputTransform::placeOf(const Part &part, Value row) {
  int64_t outTile = spec.transform.outTile();
  Value y = b.add(rows.firstPixel(part.y), rows.distanceTo(row));
  Value x = columns.firstPixel(part.x), width = context[OutWidth];
  Value pixels =
      b.minS(b.mul(part.count, outTile), columns.countPixels(b.sub(width, x)));
  Value exists = b.slt(y, context[OutHeight]);
  return {part.image,
          b.add(b.mul(y, width), x),
          b.select(exists, pixels, b.cst(0)),
          part.channel,
          part.channels,
          spec.output.tileM,
          /*full=*/false,
          columns.distanceTo(1)};
}

void OutputTransform::emitDirect(Value products, const Part &part) {
  transformTile(products, [&](Value row, SmallVector<Value> pixels) {
    result.emit(pixels, nullptr, placeOf(part, row));
  });
}

void OutputTransform::emitStaged(Value products, const Part &part) {
  int64_t outTile = spec.transform.outTile();
  int64_t tileBytes = spec.product.tileBytes();
  b.forLoop(part.count, [&](Value tile) {
    Value first = b.offset(scratch.staging, b.mul(tile, outTile * kLineBytes));
    Value source = b.offset(products, b.mul(tile, tileBytes));
    transformTile(source, [&](Value row, SmallVector<Value> pixels) {
      Value at = b.offset(first, b.mul(row, kRowPixels * kLineBytes));
      for (Value pixel : pixels) {
        b.store(pixel, at);
        at = b.offset(at, kLineBytes);
      }
    });
  });
  b.forLoop(b.cst(outTile), [&](Value row) {
    Value line = b.offset(scratch.staging, b.mul(row, kRowPixels * kLineBytes));
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
  int64_t tileBytes = spec.product.tileBytes();
  Value left = b.sub(context[OutChannels], channel);
  Value vectors =
      b.minS(b.cst(spec.product.tileN / lanes), b.ceilDiv(left, b.cst(lanes)));
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
