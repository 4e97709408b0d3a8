//===- ResultEmitter.cpp - From accumulators to the stored result ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels on register tiles share: the multiplication of one unit, and
// all that comes behind the product.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

/// acc += sum of four u8 * s8 per lane.
static Value multiplyAddBytes(KernelBuilder &b, Value a, Value w, Value acc) {
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

Value igemm::multiplyAdd(KernelBuilder &b, Arith arith, Value a, Value w,
                         Value acc) {
  switch (arith) {
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
    return multiplyAddBytes(b, a, w, acc);
  }
  llvm_unreachable("unknown arithmetic");
}

ResultEmitter::ResultEmitter(KernelBuilder &b, const KernelSpec &spec,
                             int64_t firstBuffer, Value scales)
    : b(b), spec(spec), scales(scales),
      inverseScale(b.getFloatParam(ResultInverseScale)),
      zeroPoint(b.getFloatParam(ResultZeroPoint)),
      resultChannels(b.getParam(ResultChannels)),
      outPixels(b.getParam(OutPixels)),
      epilogueParams(spec.epilogue.loadParams(b)) {
  int64_t count = static_cast<int64_t>(spec.operands.size());
  for (int64_t i = 0; i < count; ++i) {
    operandBuffers.push_back(b.getBuffer(firstBuffer + i));
    int64_t at = NumParams + 2 * i;
    operandScales.emplace_back(b.getFloatParam(at), b.getFloatParam(at + 1));
  }
  result = b.getBuffer(firstBuffer + count);
}

/// Most tiles are whole, and need no masks.
void ResultEmitter::emit(ArrayRef<Value> accumulators, Value tableOffset,
                         TileAccess::Place place) {
  Value isWhole = b.andI(b.eq(place.pixels, b.cst(spec.tileM)),
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
  Tile values = toFloat(accumulators, tableOffset);
  applyEpilogue(values, place);
  quantizeResult(values);
  accessTo(spec.resultDtype, result).store(values, place);
}

void ResultEmitter::emitPrefetch(const TileAccess::Place &place) {
  for (size_t i = 0; i < spec.operands.size(); ++i)
    if (spec.operands[i].kind == AccessKind::Tensor)
      accessTo(spec.operands[i].dtype, operandBuffers[i])
          .prefetch(place, /*write=*/false);
  accessTo(spec.resultDtype, result).prefetch(place, /*write=*/true);
}

ResultEmitter::Tile ResultEmitter::toFloat(ArrayRef<Value> accumulators,
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

TileAccess ResultEmitter::accessTo(DType dtype, Value base) {
  return TileAccess(b, spec, dtype, spec.resultLayout, base, resultChannels,
                    outPixels);
}

Value ResultEmitter::dequantize(size_t index, Value value) {
  if (!spec.operands[index].quantized)
    return value;
  auto [scale, zeroPoint] = operandScales[index];
  Value shifted = b.subF(value, b.broadcast(zeroPoint, b.lanes()));
  return b.mulF(shifted, b.broadcast(scale, b.lanes()));
}

/// A scalar operand, or vector v of a per-channel one.
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

void ResultEmitter::applyEpilogue(Tile &tile, const TileAccess::Place &place) {
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

void ResultEmitter::quantizeResult(Tile &tile) {
  if (!spec.resultQuantized)
    return;
  Value scale = b.broadcast(inverseScale, b.lanes());
  Value offset = b.broadcast(zeroPoint, b.lanes());
  for (SmallVector<Value> &row : tile)
    for (Value &value : row)
      value = b.fma(value, scale, offset);
}
