//===- ResultEmitter.cpp - Turns accumulators into results ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code after the product, which the kernels on register tiles share.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

Value igemm::loadTableEntry(KernelBuilder &b, const KernelSpec &spec,
                            Value table, Value image, int64_t column) {
  Value row = b.mul(image, 8 * spec.tableColumns());
  return b.load(b.offset(b.offset(table, row), 8 * column), b.i64());
}

ResultEmitter::ResultEmitter(KernelBuilder &b, const KernelSpec &spec,
                             int64_t firstBuffer, Value scales, Value table)
    : b(b), spec(spec), scales(scales), table(table),
      inverseScale(b.getFloatParam(ResultInverseScale)),
      zeroPoint(b.getFloatParam(ResultZeroPoint)),
      resultChannels(b.getParam(ResultChannels)),
      outPixels(b.getParam(OutPixels)),
      epilogueParams(spec.epilogue.loadParams(b)) {
  int64_t count = static_cast<int64_t>(spec.operands.size());
  for (int64_t i = 0; i < count; ++i) {
    operandBuffers.push_back(b.getBuffer(firstBuffer + i));
    int64_t at = NumParams + 2 * i;
    // (q - zero point) * scale as one multiplication and addition.
    Value scale = b.getFloatParam(at);
    Value shift = b.subF(b.cstF(0), b.mulF(b.getFloatParam(at + 1), scale));
    operandScales.emplace_back(scale, shift);
  }
  result = b.getBuffer(firstBuffer + count);
}

/// Most tiles are whole and need no masks. Those of nchw do, because tiles are
/// not whole vectors of pixels.
void ResultEmitter::emit(ArrayRef<Value> accumulators, Value tableOffset,
                         TileAccess::Place place) {
  if (place.rows < spec.tileM || spec.resultLayout.kind == Layout::NCHW)
    return finish(accumulators, tableOffset, place);
  Value isWhole = b.andI(b.eq(place.pixels, b.cst(place.rows)),
                         b.slt(b.cst(spec.tileN - 1), place.channels));
  b.ifThenElse(
      isWhole,
      [&] {
        TileAccess::Place whole = place;
        whole.full = true;
        finish(accumulators, tableOffset, whole);
      },
      [&] { finish(accumulators, tableOffset, place); });
}

void ResultEmitter::finish(ArrayRef<Value> accumulators, Value tableOffset,
                           const TileAccess::Place &place) {
  PerChannel perChannel = loadPerChannel(tableOffset, place);
  if (spec.resultLayout.kind == Layout::NCHW)
    finishTile(accumulators, perChannel, place);
  else
    finishRows(accumulators, perChannel, place);
}

/// Finishes pixel by pixel, so that a pixel's operands need not wait in
/// registers.
void ResultEmitter::finishRows(ArrayRef<Value> accumulators,
                               const PerChannel &perChannel,
                               const TileAccess::Place &place) {
  using Cells = std::vector<SmallVector<TileAccess::Cell>>;
  TileAccess output = accessTo(spec.resultDtype, result);
  Cells outputCells = output.getCells(place);
  std::vector<Cells> tensorCells(spec.operands.size());
  std::vector<ImageRows> imageRows(spec.operands.size());
  for (size_t i = 0; i < spec.operands.size(); ++i)
    if (isTensor(i))
      tensorCells[i] = accessToOperand(i).getCells(place);
    else if (isPerPixel(i))
      imageRows[i] = getImageRows(i, place);
  for (int64_t p = 0; p < place.rows; ++p) {
    SmallVector<Value> row;
    for (int64_t v = 0; v < vectors(); ++v)
      row.push_back(apply(
          accumulators[p * vectors() + v], v, perChannel, [&](size_t operand) {
            if (!isTensor(operand))
              return loadFromTable(operand, imageRows[operand], place, p, v);
            return accessToOperand(operand).load(tensorCells[operand][p][v]);
          }));
    for (int64_t v = 0; v < vectors(); ++v)
      output.store(row[v], outputCells[p][v]);
  }
}

/// In nchw the tile is transposed as a whole. No product of a batch is nchw.
void ResultEmitter::finishTile(ArrayRef<Value> accumulators,
                               const PerChannel &perChannel,
                               const TileAccess::Place &place) {
  std::vector<Tile> tensors(spec.operands.size());
  for (size_t i = 0; i < spec.operands.size(); ++i)
    if (isTensor(i))
      tensors[i] = accessToOperand(i).load(place);
  Tile values(place.rows);
  for (int64_t p = 0; p < place.rows; ++p)
    for (int64_t v = 0; v < vectors(); ++v)
      values[p].push_back(
          apply(accumulators[p * vectors() + v], v, perChannel,
                [&](size_t operand) { return tensors[operand][p][v]; }));
  accessTo(spec.resultDtype, result).store(values, place);
}

void ResultEmitter::emitPrefetch(const TileAccess::Place &place) {
  for (size_t i = 0; i < spec.operands.size(); ++i)
    if (isTensor(i))
      accessToOperand(i).prefetch(place, /*write=*/false);
  accessTo(spec.resultDtype, result).prefetch(place, /*write=*/true);
}

TileAccess ResultEmitter::accessTo(DType dtype, Value base) {
  return TileAccess(b, spec, dtype, spec.resultLayout, base, resultChannels,
                    outPixels);
}

Value ResultEmitter::dequantize(size_t index, Value value) {
  if (!spec.operands[index].quantized)
    return value;
  auto [scale, offset] = operandScales[index];
  return b.fma(value, b.broadcast(scale, b.lanes()),
               b.broadcast(offset, b.lanes()));
}

/// Loads a scalar operand, or vector v of a per-channel one.
Value ResultEmitter::loadPerChannel(size_t index,
                                    const TileAccess::Place &place, int64_t v) {
  const OperandAccess &access = spec.operands[index];
  Value base = operandBuffers[index];
  if (access.kind == AccessKind::Scalar)
    return dequantize(
        index, b.broadcast(b.loadConverted(access.dtype, base), b.lanes()));
  Value channel = b.add(place.channel, v * b.lanes());
  Value at = b.offset(base, b.mul(channel, runtime::dtypeBytes(access.dtype)));
  Value mask;
  if (!place.full)
    mask = b.firstLanes(b.sub(place.channels, v * b.lanes()), b.lanes());
  return dequantize(index, b.loadConverted(access.dtype, at, b.lanes(), mask));
}

ResultEmitter::PerChannel
ResultEmitter::loadPerChannel(Value tableOffset,
                              const TileAccess::Place &place) {
  PerChannel values;
  values.factors.resize(vectors());
  values.operands.resize(spec.operands.size());
  Type type = b.vec(b.f32(), b.lanes());
  for (int64_t v = 0; v < vectors(); ++v) {
    if (spec.arith == Arith::I8Dot)
      values.factors[v] = b.load(
          b.offset(b.offset(scales, tableOffset), v * b.lanes() * 4), type);
    for (size_t i = 0; i < spec.operands.size(); ++i)
      if (!isPerPixel(i))
        values.operands[i].push_back(loadPerChannel(i, place, v));
  }
  return values;
}

ResultEmitter::ImageRows
ResultEmitter::getImageRows(size_t index, const TileAccess::Place &place) {
  int64_t column = 2;
  for (size_t i = 0; i < index; ++i)
    if (isInTable(spec.operands[i].kind))
      column += 2;
  Value element = loadTableEntry(b, spec, table, place.image, column);
  if (spec.operands[index].kind == AccessKind::Rows)
    element = b.add(element, place.channel);
  return {element, loadTableEntry(b, spec, table, place.image, column + 1)};
}

Value ResultEmitter::loadFromTable(size_t index, const ImageRows &rows,
                                   const TileAccess::Place &place, int64_t p,
                                   int64_t v) {
  const OperandAccess &access = spec.operands[index];
  int64_t bytes = runtime::dtypeBytes(access.dtype);
  // Pixels that do not exist read the last one that does.
  Value inTile = b.minS(b.cst(p), b.sub(place.pixels, 1));
  Value at =
      b.add(rows.element, b.mul(b.add(place.pixel, inTile), rows.stride));
  Value base = operandBuffers[index];
  if (access.kind == AccessKind::Pixels)
    return b.broadcast(
        b.loadConverted(access.dtype, b.offset(base, b.mul(at, bytes))),
        b.lanes());
  Value pointer = b.offset(base, b.mul(b.add(at, v * b.lanes()), bytes));
  Value mask;
  if (!place.full)
    mask = b.firstLanes(b.sub(place.channels, v * b.lanes()), b.lanes());
  return b.loadConverted(access.dtype, pointer, b.lanes(), mask);
}

/// The result for one sum: scaled, with the epilogue applied, and divided by
/// the result's quantisation step.
Value ResultEmitter::apply(Value sum, int64_t v, const PerChannel &perChannel,
                           LoadTensor loadTensor) {
  if (spec.arith == Arith::I8Dot)
    sum = arith::SIToFPOp::create(b, b.vec(b.f32(), b.lanes()), sum);
  int firstOperand = spec.operands.empty() ? 0 : spec.operands[0].operand;
  Value value = spec.epilogue.emit(
      b, sum, epilogueParams,
      [&](int operand) -> Value {
        size_t i = operand - firstOperand;
        return isPerPixel(i) ? dequantize(i, loadTensor(i))
                             : perChannel.operands[i][v];
      },
      perChannel.factors[v]);
  if (!spec.resultQuantized)
    return value;
  return b.fma(value, b.broadcast(inverseScale, b.lanes()),
               b.broadcast(zeroPoint, b.lanes()));
}
