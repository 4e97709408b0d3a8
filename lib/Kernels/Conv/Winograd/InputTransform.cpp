//===- InputTransform.cpp - From the input to the panels ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where channels are innermost, a tile reads vectors of channels from its
// pixels directly. Pixels outside of the image are read from a line of zeros.
// In nchw, 16 pixels of each row are first transposed to vectors of channels,
// for as many tiles of the row as they are the input of.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

static constexpr int64_t kElementBytes = 4;

InputTransform::InputTransform(KernelBuilder &b, const KernelSpec &spec,
                               const Context &context, const Scratch &scratch,
                               Value panelBytes, Value pointBytes)
    : b(b), spec(spec), context(context), scratch(scratch),
      panelBytes(panelBytes), pointBytes(pointBytes) {}

/// From the first panel to the first line of tile `index` of the block.
Value InputTransform::panelOffset(Value index) {
  return b.add(b.mul(b.div(index, spec.tileM), panelBytes),
               b.mul(b.rem(index, spec.tileM), kLineBytes));
}

void InputTransform::emit(Value input, Value first, Value last, Value panels) {
  int64_t step = 1, outTile = spec.transform.outTile();
  if (spec.isInputNchw())
    step = (kRowPixels - 2) / outTile;
  context.forParts(
      first, last, step,
      [&](Value tile, Value count, Value image, Value y, Value x) {
        Corner corner = {
            b.offset(input, b.mul(image, context[InputImageBytes])),
            b.sub(b.mul(y, outTile), context[PadTop]),
            b.sub(b.mul(x, outTile), context[PadLeft])};
        Value index = b.sub(tile, first);
        if (spec.isInputNchw())
          emitStaged(corner, index, count, panels);
        else
          emitDirect(corner, b.offset(panels, panelOffset(index)));
      });
}

/// From the first channel of the group to `channel`, where channels are
/// innermost.
Value InputTransform::channelOffset(Value channel) {
  if (spec.inputLayout.kind == Layout::NHWC)
    return b.mul(channel, kElementBytes);
  int64_t block = spec.inputLayout.block;
  return b.add(b.mul(b.div(channel, block), context[InputBlockBytes]),
               b.mul(b.rem(channel, block), kElementBytes));
}

/// Runs `body` for each vector of channels that a tile has in its panel, the
/// padding of the last line included. `at` is its place.
void InputTransform::forVectors(
    Value destination, function_ref<void(Value channel, Value at)> body) {
  int64_t lanes = b.lanes();
  b.forLoop(context[Lines], [&](Value line) {
    Value at = b.offset(destination, b.mul(line, spec.tileM * kLineBytes));
    for (int64_t lane = 0; lane < kLineChannels; lane += lanes)
      body(b.add(b.mul(line, kLineChannels), lane),
           b.offset(at, lane * kElementBytes));
  });
}

Value InputTransform::loadChannels(Value pointer, Value channel) {
  VectorType type = b.vec(b.f32(), b.lanes());
  if (spec.alignedChannels)
    return b.load(pointer, type);
  Value left = b.sub(context[Channels], channel);
  return b.maskedLoad(pointer, b.firstLanes(left, b.lanes()), type);
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
      at = b.offset(at, pointBytes);
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
          b.load(b.offset(from, x * kLineBytes), b.vec(b.f32(), b.lanes())));
    Value at = b.offset(destination, b.mul(b.mul(y, size), pointBytes));
    for (Value value : spec.transform.emitInput(b, row)) {
      b.store(value, at);
      at = b.offset(at, pointBytes);
    }
  });
}

void InputTransform::emitDirect(const Corner &corner, Value destination) {
  int64_t size = spec.transform.inTile();
  Value pixelBytes = context[InputPixelBytes];
  Value rowBytes = b.mul(context[InputWidth], pixelBytes);
  Value origin = b.offset(corner.image, b.add(b.mul(corner.y, rowBytes),
                                              b.mul(corner.x, pixelBytes)));
  // Compared as unsigned numbers, negative coordinates are large.
  auto isColumn = [&](Value x) {
    return b.ult(b.add(corner.x, x), context[InputWidth]);
  };
  SmallVector<Value> rowInside;
  for (int64_t i = 0; i < size; ++i)
    rowInside.push_back(b.ult(b.add(corner.y, i), context[InputHeight]));
  Value isInner = b.andI(b.andI(rowInside.front(), rowInside.back()),
                         b.andI(isColumn(b.cst(0)), isColumn(b.cst(size - 1))));
  auto emitVectors = [&](bool inner) {
    forVectors(destination, [&](Value channel, Value at) {
      Value source = b.offset(origin, channelOffset(channel));
      emitTile(at, [&](int64_t y, Value x) {
        Value pointer =
            b.offset(source, b.add(b.mul(rowBytes, y), b.mul(pixelBytes, x)));
        if (!inner)
          pointer = b.select(b.andI(rowInside[y], isColumn(x)), pointer,
                             scratch.zeros);
        return loadChannels(pointer, channel);
      });
    });
  };
  b.ifThenElse(
      isInner, [&] { emitVectors(true); }, [&] { emitVectors(false); });
}

/// Writes the pixels of all rows of the part's input, from the corner on, as
/// lines of b.lanes() channels from `channel` on.
void InputTransform::stageRows(const Corner &corner, Value channel) {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.f32(), lanes);
  Value channelBytes = context[InputBlockBytes];
  Value first = b.offset(corner.image, b.mul(channel, channelBytes));
  b.forLoop(b.cst(spec.transform.inTile()), [&](Value row) {
    Value y = b.add(corner.y, row);
    Value inside = b.ult(y, context[InputHeight]);
    Value pixel = b.add(b.mul(y, context[InputWidth]), corner.x);
    Value source = b.offset(first, b.mul(pixel, kElementBytes));
    Value line = b.offset(scratch.staging, b.mul(row, kRowPixels * kLineBytes));
    for (int64_t x = 0; x < kRowPixels; x += lanes) {
      Value column = b.add(corner.x, x);
      Value none = b.cstLike(b.vec(b.getI1Type(), lanes), 0);
      Value all = b.cstLike(none.getType(), -1);
      Value behind = b.firstLanes(b.sub(b.cst(0), column), lanes);
      Value ahead = b.firstLanes(b.sub(context[InputWidth], column), lanes);
      Value pixels = b.andI(ahead, arith::XOrIOp::create(b, behind, all));
      pixels = b.select(inside, pixels, none);
      SmallVector<Value> square;
      Value at = b.offset(source, x * kElementBytes);
      for (int64_t c = 0; c < lanes; ++c) {
        Value mask = pixels;
        if (!spec.alignedChannels)
          mask =
              b.select(b.slt(b.add(channel, c), context[Channels]), mask, none);
        square.push_back(b.maskedLoad(at, mask, type));
        at = b.offset(at, channelBytes);
      }
      for (auto [i, vector] : llvm::enumerate(b.transpose(square)))
        b.store(vector,
                b.offset(line, (x + static_cast<int64_t>(i)) * kLineBytes));
    }
  });
}

void InputTransform::emitStaged(const Corner &corner, Value firstIndex,
                                Value count, Value panels) {
  forVectors(panels, [&](Value channel, Value base) {
    stageRows(corner, channel);
    b.forLoop(count, [&](Value tile) {
      Value left = b.mul(tile, spec.transform.outTile() * kLineBytes);
      Value source = b.offset(scratch.staging, left);
      Value index = b.add(firstIndex, tile);
      emitTile(b.offset(base, panelOffset(index)), [&](int64_t y, Value x) {
        Value pixel = b.add(x, y * kRowPixels);
        return b.load(b.offset(source, b.mul(pixel, kLineBytes)),
                      b.vec(b.f32(), b.lanes()));
      });
    });
  });
}
