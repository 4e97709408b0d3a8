//===- InputTransform.cpp - Transforms the input to panels ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where channels are innermost, a tile reads vectors of channels from its
// pixels directly. Pixels outside of the image are read from a line of zeros.
// In nchw, 16 pixels of each row are first transposed to vectors of channels;
// they are the input of several tiles of the row.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

InputTransform::InputTransform(KernelBuilder &b, const KernelSpec &spec,
                               const Context &context, const Scratch &scratch)
    : b(b), spec(spec), context(context), scratch(scratch),
      reader(b, spec.input, context), strides(b, context, spec.product),
      rows(b, context[DilationH], spec.transform.outTile()),
      columns(b, context[DilationW], spec.transform.outTile()) {}

void InputTransform::emit(Value input, Value first, Value last, Value panels) {
  int64_t step = 1;
  if (spec.isInputNchw())
    step = (kRowPixels - 2) / spec.transform.outTile();
  context.forParts(
      first, last, step,
      [&](Value tile, Value count, Value image, Value y, Value x) {
        Corner corner = {
            b.offset(input, b.mul(image, context[InputImageBytes])),
            b.sub(rows.firstPixel(y), context[PadTop]),
            b.sub(columns.firstPixel(x), context[PadLeft])};
        Value index = b.sub(tile, first);
        if (spec.isInputNchw())
          emitStaged(corner, index, count, panels);
        else
          emitDirect(corner,
                     b.offset(panels, reader.panelOffset(
                                          strides, spec.product.tileM, index)));
      });
}

void InputTransform::emitTileInRegisters(Value destination, Load load) {
  int64_t size = spec.transform.inTile();
  std::vector<SmallVector<Value>> columns;
  for (int64_t x = 0; x < size; ++x) {
    SmallVector<Value> column;
    for (int64_t y = 0; y < size; ++y)
      column.push_back(load(y, b.cst(x)));
    columns.push_back(spec.transform.emitInput(b, column));
  }
  Value at = destination;
  for (int64_t y = 0; y < size; ++y) {
    SmallVector<Value> row;
    for (int64_t x = 0; x < size; ++x)
      row.push_back(columns[x][y]);
    for (Value value : spec.transform.emitInput(b, row)) {
      b.store(value, at);
      at = b.offset(at, strides.pointBytes);
    }
  }
}

void InputTransform::emitTile(Value destination, Load load) {
  int64_t size = spec.transform.inTile();
  if (holdsInRegisters(b.getTarget(), spec.transform, size * size))
    return emitTileInRegisters(destination, load);
  Value rowBytes = b.cst(size * kLineBytes);
  b.forLoop(b.cst(size), [&](Value x) {
    SmallVector<Value> column;
    for (int64_t y = 0; y < size; ++y)
      column.push_back(load(y, x));
    Value at = b.offset(scratch.between, b.mul(x, kLineBytes));
    for (Value value : spec.transform.emitInput(b, column)) {
      b.store(value, at);
      at = b.offset(at, rowBytes);
    }
  });
  b.forLoop(b.cst(size), [&](Value y) {
    Value from = b.offset(scratch.between, b.mul(y, rowBytes));
    SmallVector<Value> row;
    for (int64_t x = 0; x < size; ++x)
      row.push_back(
          b.load(b.offset(from, x * kLineBytes), reader.vectorType()));
    Value at = b.offset(destination, b.mul(b.mul(y, size), strides.pointBytes));
    for (Value value : spec.transform.emitInput(b, row)) {
      b.store(value, at);
      at = b.offset(at, strides.pointBytes);
    }
  });
}

void InputTransform::emitDirect(const Corner &corner, Value destination) {
  int64_t size = spec.transform.inTile();
  Value pixelBytes = context[InputPixelBytes];
  Value rowBytes = b.mul(context[InputWidth], pixelBytes);
  Value origin = b.offset(corner.image, b.add(b.mul(corner.y, rowBytes),
                                              b.mul(corner.x, pixelBytes)));
  // As unsigned numbers, negative coordinates are large.
  auto isColumn = [&](Value x) {
    return b.ult(b.add(corner.x, columns.distanceTo(x)), context[InputWidth]);
  };
  SmallVector<Value> rowInside;
  for (int64_t i = 0; i < size; ++i)
    rowInside.push_back(
        b.ult(b.add(corner.y, rows.distanceTo(i)), context[InputHeight]));
  Value isInner = b.andI(b.andI(rowInside.front(), rowInside.back()),
                         b.andI(isColumn(b.cst(0)), isColumn(b.cst(size - 1))));
  Value rowStep = rows.distanceTo(rowBytes);
  Value columnStep = columns.distanceTo(pixelBytes);
  auto emitVectors = [&](bool inner) {
    reader.forVectors(
        spec.product.tileM, destination, [&](Value channel, Value at) {
          Value source = b.offset(origin, reader.offsetOf(channel));
          emitTile(at, [&](int64_t y, Value x) {
            Value pointer = b.offset(
                source, b.add(b.mul(rowStep, y), b.mul(columnStep, x)));
            if (!inner)
              pointer = b.select(b.andI(rowInside[y], isColumn(x)), pointer,
                                 scratch.zeros);
            return reader.load(pointer, channel);
          });
        });
  };
  b.ifThenElse(
      isInner, [&] { emitVectors(true); }, [&] { emitVectors(false); });
}

void InputTransform::emitStaged(const Corner &corner, Value firstIndex,
                                Value count, Value panels) {
  reader.forVectors(spec.product.tileM, panels, [&](Value channel, Value base) {
    b.forLoop(b.cst(spec.transform.inTile()), [&](Value row) {
      reader.stageRow(
          corner.image, b.add(corner.y, row), corner.x, kRowPixels, channel,
          b.offset(scratch.staging, b.mul(row, kRowPixels * kLineBytes)));
    });
    b.forLoop(count, [&](Value tile) {
      Value left = b.mul(tile, spec.transform.outTile() * kLineBytes);
      Value source = b.offset(scratch.staging, left);
      Value index = b.add(firstIndex, tile);
      Value place = reader.panelOffset(strides, spec.product.tileM, index);
      emitTile(b.offset(base, place), [&](int64_t y, Value x) {
        Value pixel = b.add(x, y * kRowPixels);
        return b.load(b.offset(source, b.mul(pixel, kLineBytes)),
                      reader.vectorType());
      });
    });
  });
}
