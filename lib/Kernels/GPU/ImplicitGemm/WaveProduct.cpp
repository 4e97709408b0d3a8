//===- WaveProduct.cpp - One step of a wave's product ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaveProduct.h"

#include "GPU/GpuInstructions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

WaveProduct::WaveProduct(GpuKernelBuilder &b, const Tile &tile)
    : b(b), ints(b), tile(tile), op(tile.getOp()) {}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void WaveProduct::prepare(Value thread) {
  const TileFields &f = tile.getFields();
  Value lane = ints.rem(thread, op.waveSize);
  Value wave = ints.div(thread, op.waveSize);
  int64_t wavesM = f.blockM / f.waveM;
  waveChannel = ints.mul(ints.rem(wave, wavesM), f.waveM);
  wavePixel = ints.mul(ints.div(wave, wavesM), f.waveN);
  bool isFma = op.kind == Op::Kind::Fma;
  Value lineB = ints.rem(lane, op.n);
  if (op.kind == Op::Kind::Wgmma) {
    // Each wave of the group has 16 pixels.
    Value inWave = ints.rem(lane, op.waveSize / 4);
    rowGroup = ints.rem(inWave, op.rowGroups());
    lanePixel = b.add(ints.mul(ints.div(lane, op.waveSize / 4), op.n / 4),
                      ints.div(inWave, op.rowGroups()));
    return;
  }
  if (op.kind == Op::Kind::MmaSync) {
    rowGroup = ints.rem(lane, op.rowGroups());
    lanePixel = ints.div(lane, op.rowGroups());
  } else {
    rowGroup = ints.div(lane, op.n);
    lanePixel = lineB;
  }
  Value lineA = isFma ? rowGroup : ints.rem(lane, op.m);
  Value kGroup = ints.cst(0);
  if (op.kGroups > 1)
    kGroup = ints.rem(ints.div(lane, op.m), op.kGroups);
  Value kGroupA = kGroup;
  // An instruction takes half of the channels, from neighbouring registers:
  // those of both k groups lie beside each other.
  if (op.kind == Op::Kind::MmaSync) {
    kGroupA = ints.rem(ints.div(lane, op.m / 2), op.kGroups);
    lineA = b.add(ints.rem(lane, op.m / 2),
                  ints.mul(ints.div(lane, op.m), op.m / 2));
  }
  addressesA = makeAddresses(b.add(waveChannel, lineA), kGroupA, 0, op.m);
  addressesB =
      makeAddresses(b.add(wavePixel, lineB), kGroup, tile.bytesOfA(), op.n);
}

/// The number of tiles of this many rows until swizzles repeat.
static int64_t countAddressSets(int64_t rows) {
  return std::max<int64_t>(1, 8 / rows);
}

WaveProduct::Values WaveProduct::makeAddresses(Value firstRow, Value kGroup,
                                               int64_t start,
                                               int64_t rowsPerTile) {
  Values addresses;
  for (int64_t set = 0; set < countAddressSets(rowsPerTile); ++set) {
    Value row = ints.add(firstRow, set * rowsPerTile);
    Value swizzle =
        ints.rem(ints.div(row, tile.rowsPerLine()), tile.swizzledChunks());
    Value first = ints.exclusiveOr(ints.mul(kGroup, op.unitChunks()), swizzle);
    Value rowStart = ints.add(ints.mul(row, tile.rowBytes()), start);
    for (int64_t unit = 0; unit < tile.unitsPerStep(); ++unit)
      for (int64_t chunk = 0; chunk < op.unitChunks(); ++chunk) {
        // The number has no bits in common with the lane's groups, so that
        // adding it is the same as an exclusive or.
        int64_t number = unit * op.kGroups * op.unitChunks() + chunk;
        Value place = ints.exclusiveOr(first, number);
        addresses.push_back(b.add(rowStart, ints.mul(place, kChunkBytes)));
      }
  }
  return addresses;
}

Value WaveProduct::getRunChannel(int64_t index) {
  Value inGroup = ints.mul(rowGroup, tile.run());
  return ints.add(b.add(waveChannel, inGroup),
                  tile.getChannel(0, index * tile.run()));
}

Value WaveProduct::getPixel(int64_t column) {
  return ints.add(b.add(wavePixel, lanePixel), op.getColumn(column));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Type WaveProduct::getSumType() {
  if (op.kind == Op::Kind::Fma)
    return b.vec(b.f32(), tile.tilesN());
  Type element = op.isInteger() ? Type(b.getI32Type()) : b.f32();
  if (op.kind == Op::Kind::Wgmma)
    return LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(op.outputElements, element));
  return b.vec(element, op.outputElements);
}

WaveProduct::Values WaveProduct::makeSums() {
  int64_t count = tile.tilesM();
  if (op.kind != Op::Kind::Fma)
    count *= tile.tilesN();
  if (op.kind == Op::Kind::Wgmma)
    return Values(count, LLVM::ZeroOp::create(b, getSumType()));
  return Values(count, b.cstLike(getSumType(), 0));
}

Value WaveProduct::getSum(const Values &sums, int64_t row, int64_t column,
                          int64_t element) {
  if (op.kind == Op::Kind::Fma)
    return vector::ExtractOp::create(b, sums[row], column);
  int64_t tileColumn = column / op.columnsPerLane;
  // The structure has pairs of both columns in turn.
  if (op.kind == Op::Kind::Wgmma)
    return LLVM::ExtractValueOp::create(
        b, sums[row * tile.tilesN() + tileColumn],
        element / 2 * 4 + column % 2 * 2 + element % 2);
  element += column % op.columnsPerLane * op.elementsPerColumn();
  return vector::ExtractOp::create(b, sums[row * tile.tilesN() + tileColumn],
                                   element);
}

Value WaveProduct::getRun(const Values &sums, int64_t column, int64_t index) {
  Values elements;
  for (int64_t i = 0; i < tile.run(); ++i) {
    int64_t sum = index * tile.run() + i;
    elements.push_back(getSum(sums, sum / op.elementsPerColumn(), column,
                              sum % op.elementsPerColumn()));
  }
  VectorType type = b.vec(elements[0].getType(), tile.run());
  return vector::FromElementsOp::create(b, type, elements);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value WaveProduct::loadChunk(Value address, Value stage, int64_t offset) {
  if (stage)
    address = b.add(address, stage);
  // Rows of other tiles are a constant offset away, which the instruction adds.
  Value pointer = b.offset(b.offset(b.getLds(), address), offset);
  if (op.kind == Op::Kind::MmaSync)
    return b.getInstructions().loadFragment(b, pointer, /*transposed=*/false);
  return b.getInstructions().loadStage(b, pointer);
}

WaveProduct::Values WaveProduct::loadUnits(const Values &addresses, Value stage,
                                           int64_t unit, int64_t tiles,
                                           int64_t rowsPerTile) {
  int64_t sets = countAddressSets(rowsPerTile), chunks = op.unitChunks();
  Values units;
  for (int64_t i = 0; i < tiles; ++i) {
    int64_t set = i % sets;
    int64_t offset = (i - set) * rowsPerTile * tile.rowBytes();
    Value loaded;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t index = (set * tile.unitsPerStep() + unit) * chunks + chunk;
      Value part = loadChunk(addresses[index], stage, offset);
      loaded = loaded ? Value(b.shuffle(loaded, part, {0, 1, 2, 3, 4, 5, 6, 7}))
                      : part;
    }
    units.push_back(loaded);
  }
  return units;
}

Type WaveProduct::getInputType() {
  Type element = b.f32();
  if (op.dtype == DType::F16)
    element = b.getF16Type();
  else if (op.dtype == DType::BF16)
    element = b.getBF16Type();
  else if (op.dtype == DType::I8)
    element = b.getI8Type();
  return b.vec(element, op.inputElements);
}

Value WaveProduct::getOperand(Value unit, int64_t index) {
  int64_t dwords = op.inputElements * op.elementBytes() / 4;
  int64_t all = cast<VectorType>(unit.getType()).getNumElements();
  if (dwords < all) {
    SmallVector<int64_t> part;
    for (int64_t i = 0; i < dwords; ++i)
      part.push_back(index * dwords + i);
    unit = b.shuffle(unit, unit, part);
  }
  Value operand = b.bitcast(unit, getInputType());
  return op.inputElements == 1
             ? Value(vector::ExtractOp::create(b, operand, int64_t(0)))
             : operand;
}

void WaveProduct::multiplyMatrices(const Values &a, const Values &bs,
                                   Values &sums) {
  for (int64_t index = 0; index < op.opsPerUnit(); ++index)
    for (int64_t column = 0; column < tile.tilesN(); ++column) {
      Value right = getOperand(bs[column], index);
      if (op.isTf32)
        right = b.getInstructions().roundToTf32(b, right);
      for (int64_t row = 0; row < tile.tilesM(); ++row) {
        Value left = getOperand(a[row], index);
        Value &sum = sums[row * tile.tilesN() + column];
        sum = b.getInstructions().multiply(b, {op.m, op.n, op.k, op.unsignedB},
                                           left, right, sum);
      }
    }
}

void WaveProduct::multiplyVectors(const Values &a, const Values &bs,
                                  Values &sums) {
  for (int64_t index = 0; index < op.opsPerUnit(); ++index) {
    Values columns;
    for (Value unit : bs)
      columns.push_back(getOperand(unit, index));
    VectorType type = b.vec(b.f32(), tile.tilesN());
    Value right = vector::FromElementsOp::create(b, type, columns);
    for (int64_t row = 0; row < tile.tilesM(); ++row) {
      Value left =
          vector::BroadcastOp::create(b, type, getOperand(a[row], index));
      sums[row] = b.fma(left, right, sums[row]);
    }
  }
}

WaveProduct::Values
WaveProduct::multiplyGroups(Value stage, const Values &before,
                            llvm::function_ref<void()> work) {
  const GpuInstructions &instructions = b.getInstructions();
  Values sums = before;
  Value channels = ints.mul(waveChannel, tile.rowBytes());
  Value pixels =
      ints.add(ints.mul(wavePixel, tile.rowBytes()), tile.bytesOfA());
  if (stage) {
    channels = b.add(channels, stage);
    pixels = b.add(pixels, stage);
  }
  Type input = cast<VectorType>(getInputType()).getElementType();
  instructions.beginProducts(b);
  for (int64_t unit = 0; unit < tile.unitsPerStep(); ++unit)
    for (int64_t row = 0; row < tile.tilesM(); ++row)
      for (int64_t column = 0; column < tile.tilesN(); ++column) {
        auto place = [&](Value start, int64_t lines) {
          return ints.add(start,
                          lines * tile.rowBytes() + unit * op.depthBytes());
        };
        Value &sum = sums[row * tile.tilesN() + column];
        sum = instructions.multiplyGroup(b, {op.m, op.n, op.k, op.unsignedB},
                                         input, place(channels, row * op.m),
                                         place(pixels, column * op.n), sum);
      }
  instructions.commitProducts(b);
  if (work)
    work();
  instructions.waitForProducts(b, tile.stepsUnderWay());
  return sums;
}

void WaveProduct::finish() {
  if (tile.stepsUnderWay() > 0)
    b.getInstructions().waitForProducts(b, 0);
}

WaveProduct::Values WaveProduct::multiply(Value stage, const Values &before,
                                          llvm::function_ref<void()> work) {
  if (op.kind == Op::Kind::Wgmma)
    return multiplyGroups(stage, before, work);
  struct Operands {
    Values a, b;
  };
  auto load = [&](int64_t unit) {
    Operands operands;
    operands.a = loadUnits(addressesA, stage, unit, tile.tilesM(), op.m);
    operands.b = loadUnits(addressesB, stage, unit, tile.tilesN(), op.n);
    return operands;
  };
  Values sums = before;
  Operands operands = load(0);
  for (int64_t unit = 0; unit < tile.unitsPerStep(); ++unit) {
    Operands next;
    // The scheduler of ptxas does not move loads past others.
    bool isLast = unit + 1 == tile.unitsPerStep();
    if (op.kind == Op::Kind::MmaSync && !isLast)
      next = load(unit + 1);
    if (unit == 0 && work)
      work();
    if (op.kind == Op::Kind::Fma)
      multiplyVectors(operands.a, operands.b, sums);
    else
      multiplyMatrices(operands.a, operands.b, sums);
    if (op.kind != Op::Kind::MmaSync && !isLast)
      next = load(unit + 1);
    operands = std::move(next);
  }
  return sums;
}
