//===- KernelEmitter.cpp - Emits an implicit GEMM kernel ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task: pack the pixel tiles of a block, then for each tile of channels and
// each packed tile multiply, apply the epilogue and store.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

namespace {

class KernelEmitter {
public:
  KernelEmitter(KernelBuilder &b, const KernelSpec &spec);
  void emit();

private:
  using Tile = TileAccess::Tile;

  Value param(Param p) { return params[p]; }
  int64_t vectors() const { return spec.tileN / b.lanes(); }

  void fillPaddingLine();
  void emitTask(Value task);
  void emitChannelTile(Value image, Value group, Value channelTile,
                       Value firstTile, Value lastTile);
  SmallVector<Value> emitProduct(Value panel, Value filter,
                                 ArrayRef<Value> start);
  SmallVector<Value> emitSteps(Value a, Value w, ValueRange accumulators);
  Value multiplyAdd(Value a, Value w, Value acc);
  Value multiplyAddBytes(Value a, Value w, Value acc);
  SmallVector<Value> startValues(Value tableOffset);
  Tile toFloat(ArrayRef<Value> accumulators, Value tableOffset);
  void applyEpilogue(Tile &tile, const TileAccess::Place &place);
  Value loadPerChannel(size_t index, const TileAccess::Place &place, int64_t v);
  Value dequantize(size_t index, Value value);
  void quantizeResult(Tile &tile);
  TileAccess accessTo(DType dtype, Value base);

  /// Steps of K between two tests of the loop.
  static constexpr int64_t kUnroll = 4;

  KernelBuilder &b;
  const KernelSpec &spec;
  SmallVector<Value> params, epilogueParams, operandBuffers;
  SmallVector<std::pair<Value, Value>> operandScales;
  Value input, filter, scales, starts, result;
  Value panels, fill, panelBytes, filterTileBytes;
};

} // namespace

KernelEmitter::KernelEmitter(KernelBuilder &b, const KernelSpec &spec)
    : b(b), spec(spec) {
  for (int64_t p = 0; p < NumParams; ++p)
    params.push_back(p == ResultInverseScale || p == ResultZeroPoint
                         ? b.getFloatParam(p)
                         : b.getParam(p));
  int64_t buffer = 0;
  input = b.getBuffer(buffer++);
  filter = b.getBuffer(buffer++);
  if (spec.arith == Arith::I8Dot) {
    scales = b.getBuffer(buffer++);
    starts = b.getBuffer(buffer++);
  }
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    operandBuffers.push_back(b.getBuffer(buffer++));
    int64_t at = NumParams + 2 * static_cast<int64_t>(i);
    operandScales.emplace_back(b.getFloatParam(at), b.getFloatParam(at + 1));
  }
  result = b.getBuffer(buffer++);
  epilogueParams = spec.epilogue.loadParams(b);

  panelBytes = b.mul(param(Lines), spec.tileM * kLineBytes);
  filterTileBytes =
      b.mul(param(Lines), kLineUnits * spec.tileN * spec.filterUnitBytes());
  fill = b.getScratch();
  panels = b.offset(fill, kLineBytes);
}

void KernelEmitter::emit() {
  fillPaddingLine();
  b.forTasks([&](Value task) { emitTask(task); });
}

void KernelEmitter::fillPaddingLine() {
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), param(FillByte));
  b.store(b.broadcast(byte, kLineBytes), fill);
}

void KernelEmitter::emitTask(Value task) {
  // Neighbouring tasks share the filter: pixel blocks run fastest.
  Value pixelBlock = b.rem(task, param(PixelBlocks));
  Value rest = b.div(task, param(PixelBlocks));
  Value channelBlock = b.rem(rest, param(ChannelBlocks));
  rest = b.div(rest, param(ChannelBlocks));
  Value group = b.rem(rest, param(Groups));
  Value image = b.div(rest, param(Groups));

  Value firstTile = b.mul(pixelBlock, param(BlockM));
  Value lastTile = b.minS(b.add(firstTile, param(BlockM)), param(PixelTiles));
  Value source = b.offset(input, b.add(b.mul(image, param(InputImageBytes)),
                                       b.mul(group, param(InputGroupBytes))));
  PackEmitter pack(b, spec, fill);
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value tile) {
    Value first = b.mul(tile, spec.tileM);
    Value count = b.minS(b.cst(spec.tileM), b.sub(param(OutPixels), first));
    Value index = b.sub(tile, firstTile);
    pack.emit(source, first, count, b.offset(panels, b.mul(index, panelBytes)));
  });

  Value firstChannels = b.mul(channelBlock, param(BlockN));
  Value lastChannels =
      b.minS(b.add(firstChannels, param(BlockN)), param(ChannelTiles));
  b.forLoop(firstChannels, lastChannels, b.cst(1), [&](Value channelTile) {
    emitChannelTile(image, group, channelTile, firstTile, lastTile);
  });
}

void KernelEmitter::emitChannelTile(Value image, Value group, Value channelTile,
                                    Value firstTile, Value lastTile) {
  Value tileIndex = b.add(b.mul(group, param(ChannelTiles)), channelTile);
  Value filterTile = b.offset(filter, b.mul(tileIndex, filterTileBytes));
  Value tableOffset = b.mul(tileIndex, spec.tileN * 4);
  Value channelInGroup = b.mul(channelTile, spec.tileN);
  b.forLoop(firstTile, lastTile, b.cst(1), [&](Value tile) {
    Value panel = b.offset(panels, b.mul(b.sub(tile, firstTile), panelBytes));
    SmallVector<Value> sums =
        emitProduct(panel, filterTile, startValues(tableOffset));
    Value pixel = b.mul(tile, spec.tileM);
    // No lane beyond the tile may be stored: it belongs to another task.
    Value pixels = b.minS(b.sub(param(OutPixels), pixel), b.cst(spec.tileM));
    TileAccess::Place place = {
        image, pixel, pixels,
        b.add(b.mul(group, param(OutChannels)), channelInGroup),
        b.sub(param(OutChannels), channelInGroup)};
    Tile values = toFloat(sums, tableOffset);
    applyEpilogue(values, place);
    quantizeResult(values);
    accessTo(spec.resultDtype, result).store(values, place);
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Accumulator [p][v] is at p * vectors() + v.
SmallVector<Value> KernelEmitter::startValues(Value tableOffset) {
  SmallVector<Value> row;
  for (int64_t v = 0; v < vectors(); ++v) {
    if (spec.arith != Arith::I8Dot)
      row.push_back(b.cstLike(b.vec(b.f32(), b.lanes()), 0));
    else
      row.push_back(
          b.load(b.offset(b.offset(starts, tableOffset), v * b.lanes() * 4),
                 b.vec(b.getI32Type(), b.lanes())));
  }
  SmallVector<Value> tile;
  for (int64_t p = 0; p < spec.tileM; ++p)
    tile.append(row);
  return tile;
}

SmallVector<Value> KernelEmitter::emitProduct(Value panel, Value filterTile,
                                              ArrayRef<Value> start) {
  int64_t stepBytes = spec.tileN * spec.filterUnitBytes();
  Value zero = b.cst(0), one = b.cst(1);
  return b.forLoop(
      zero, param(Lines), one, start, [&](Value line, ValueRange lineSums) {
        Value a = b.offset(panel, b.mul(line, spec.tileM * kLineBytes));
        Value w = b.offset(filterTile, b.mul(line, kLineUnits * stepBytes));
        return b.forLoop(zero, b.cst(kLineUnits), b.cst(kUnroll), lineSums,
                         [&](Value unit, ValueRange sums) {
                           return emitSteps(
                               b.offset(a, b.mul(unit, kUnitBytes)),
                               b.offset(w, b.mul(unit, stepBytes)), sums);
                         });
      });
}

/// kUnroll steps of K; `a` and `w` point to the first one in the panels.
SmallVector<Value> KernelEmitter::emitSteps(Value a, Value w,
                                            ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  int64_t lanes = b.lanes(), unitBytes = spec.filterUnitBytes();
  bool isFloat = spec.arith == Arith::F32;
  Type unit = isFloat ? b.f32() : Type(b.getI32Type());
  for (int64_t step = 0; step < kUnroll; ++step) {
    SmallVector<Value> row;
    for (int64_t v = 0; v < vectors(); ++v) {
      Value at = b.offset(w, (step * spec.tileN + v * lanes) * unitBytes);
      row.push_back(isFloat ? b.loadConverted(spec.filterDtype, at, lanes)
                            : b.load(at, b.vec(unit, lanes)));
    }
    for (int64_t p = 0; p < spec.tileM; ++p) {
      Value at = b.offset(a, p * kLineBytes + step * kUnitBytes);
      Value pixel = b.broadcast(b.load(at, unit), lanes);
      for (int64_t v = 0; v < vectors(); ++v) {
        Value &sum = sums[p * vectors() + v];
        sum = multiplyAdd(pixel, row[v], sum);
      }
    }
  }
  return sums;
}

Value KernelEmitter::multiplyAdd(Value a, Value w, Value acc) {
  switch (spec.arith) {
  case Arith::F32:
    return b.fma(a, w, acc);
  case Arith::BF16Dot: {
    Type pairs = b.vec(b.getBF16Type(), 2 * b.lanes());
    return LLVM::CallIntrinsicOp::create(
               b, acc.getType(),
               b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
               ValueRange{acc, b.bitcast(a, pairs), b.bitcast(w, pairs)})
        .getResult(0);
  }
  case Arith::I8Dot:
    return multiplyAddBytes(a, w, acc);
  }
  llvm_unreachable("unknown arithmetic");
}

/// acc += sum of four u8 * s8 per lane.
Value KernelEmitter::multiplyAddBytes(Value a, Value w, Value acc) {
  if (b.getTarget().hasVnni) {
    Type bytes = b.vec(b.getI8Type(), 4 * b.lanes());
    return LLVM::CallIntrinsicOp::create(
               b, acc.getType(),
               b.getStringAttr("llvm.x86.avx512.vpdpbusd.512"),
               ValueRange{acc, b.bitcast(a, bytes), b.bitcast(w, bytes)})
        .getResult(0);
  }
  Type type = acc.getType();
  Value mask = b.cstLike(type, 0xff), top = b.cstLike(type, 24);
  for (int64_t byte = 0; byte < 4; ++byte) {
    Value right = b.cstLike(type, 8.0 * static_cast<double>(byte));
    Value left = b.cstLike(type, 24 - 8.0 * static_cast<double>(byte));
    Value x = b.andI(arith::ShRUIOp::create(b, a, right), mask);
    Value shifted = arith::ShLIOp::create(b, w, left);
    Value y = arith::ShRSIOp::create(b, shifted, top);
    acc = b.add(acc, b.mul(x, y));
  }
  return acc;
}

//===----------------------------------------------------------------------===//
// Behind the product
//===----------------------------------------------------------------------===//

KernelEmitter::Tile KernelEmitter::toFloat(ArrayRef<Value> accumulators,
                                           Value tableOffset) {
  Tile tile(spec.tileM);
  Type type = b.vec(b.f32(), b.lanes());
  SmallVector<Value> factors;
  if (spec.arith == Arith::I8Dot)
    for (int64_t v = 0; v < vectors(); ++v)
      factors.push_back(b.load(
          b.offset(b.offset(scales, tableOffset), v * b.lanes() * 4), type));
  for (int64_t p = 0; p < spec.tileM; ++p)
    for (int64_t v = 0; v < vectors(); ++v) {
      Value sum = accumulators[p * vectors() + v];
      if (spec.arith == Arith::I8Dot)
        sum = b.mulF(arith::SIToFPOp::create(b, type, sum), factors[v]);
      tile[p].push_back(sum);
    }
  return tile;
}

TileAccess KernelEmitter::accessTo(DType dtype, Value base) {
  return TileAccess(b, spec, dtype, spec.resultLayout, base,
                    param(ResultChannels), param(OutPixels));
}

Value KernelEmitter::dequantize(size_t index, Value value) {
  if (!spec.operands[index].quantized)
    return value;
  auto [scale, zeroPoint] = operandScales[index];
  Value shifted = b.subF(value, b.broadcast(zeroPoint, b.lanes()));
  return b.mulF(shifted, b.broadcast(scale, b.lanes()));
}

/// A scalar operand, or vector v of a per-channel one.
Value KernelEmitter::loadPerChannel(size_t index,
                                    const TileAccess::Place &place, int64_t v) {
  const OperandAccess &access = spec.operands[index];
  Value base = operandBuffers[index];
  if (access.kind == AccessKind::Scalar)
    return dequantize(
        index, b.broadcast(b.loadConverted(access.dtype, base), b.lanes()));
  Value channel = b.add(place.channel, v * b.lanes());
  Value at = b.offset(base, b.mul(channel, runtime::dtypeBytes(access.dtype)));
  Value mask = b.firstLanes(b.sub(place.channels, v * b.lanes()), b.lanes());
  return dequantize(index, b.loadConverted(access.dtype, at, b.lanes(), mask));
}

void KernelEmitter::applyEpilogue(Tile &tile, const TileAccess::Place &place) {
  if (spec.epilogue.empty())
    return;
  // Everything is read ahead of the stores, which LLVM would not move it over.
  std::vector<Tile> tensors(spec.operands.size());
  std::vector<SmallVector<Value>> vectorsOf(spec.operands.size());
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    if (spec.operands[i].kind == AccessKind::Tensor)
      tensors[i] =
          accessTo(spec.operands[i].dtype, operandBuffers[i]).load(place);
    else
      for (int64_t v = 0; v < vectors(); ++v)
        vectorsOf[i].push_back(loadPerChannel(i, place, v));
  }
  int firstOperand = spec.operands.empty() ? 0 : spec.operands[0].operand;
  for (int64_t p = 0; p < spec.tileM; ++p)
    for (int64_t v = 0; v < vectors(); ++v)
      tile[p][v] = spec.epilogue.emit(
          b, tile[p][v], epilogueParams, [&](int operand) -> Value {
            size_t i = operand - firstOperand;
            return spec.operands[i].kind == AccessKind::Tensor
                       ? dequantize(i, tensors[i][p][v])
                       : vectorsOf[i][v];
          });
}

void KernelEmitter::quantizeResult(Tile &tile) {
  if (!spec.resultQuantized)
    return;
  Value scale = b.broadcast(param(ResultInverseScale), b.lanes());
  Value zeroPoint = b.broadcast(param(ResultZeroPoint), b.lanes());
  for (SmallVector<Value> &row : tile)
    for (Value &value : row)
      value = b.fma(value, scale, zeroPoint);
}

void igemm::emitKernel(KernelBuilder &b, const KernelSpec &spec) {
  KernelEmitter(b, spec).emit();
}
