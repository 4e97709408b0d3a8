//===- AmxProduct.cpp - A product in AMX's tile registers -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles are values of LLVM's type for them: LLVM allocates their registers and
// configures them, once for a kernel, since all have one shape.
//
//===----------------------------------------------------------------------===//

#include "AmxProduct.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

Value AmxProduct::makeTile(StringRef intrinsic, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(
             b, LLVM::LLVMX86AMXType::get(b.getContext()),
             b.getStringAttr(intrinsic), arguments)
      .getResult(0);
}

SmallVector<Value> AmxProduct::getShape() {
  Type type = b.getI16Type();
  return {b.cstLike(type, kAmxTile), b.cstLike(type, kLineBytes)};
}

Value AmxProduct::loadTile(Value from, Value rowBytes) {
  SmallVector<Value> arguments = getShape();
  arguments.append({from, rowBytes});
  return makeTile("llvm.x86.tileloadd64.internal", arguments);
}

void AmxProduct::storeTile(Value tile, Value to, Value rowBytes) {
  SmallVector<Value> arguments = getShape();
  arguments.append({to, rowBytes, tile});
  LLVM::CallIntrinsicOp::create(
      b, b.getStringAttr("llvm.x86.tilestored64.internal"), arguments);
}

Value AmxProduct::multiplyTile(Value sum, Value pixels, Value channels) {
  SmallVector<Value> arguments = getShape();
  // The sums' rows and columns, and the bytes of K in a row.
  arguments.append({arguments.back(), sum, pixels, channels});
  return makeTile(spec.arith == Arith::I8Dot ? "llvm.x86.tdpbusd.internal"
                                             : "llvm.x86.tdpbf16ps.internal",
                  arguments);
}

SmallVector<Value> AmxProduct::loadSums(Value from, Value rowBytes,
                                        Value tileBytes) {
  SmallVector<Value> sums;
  for (int64_t m = 0; m < tilesM; ++m) {
    Value row = b.offset(from, b.mul(rowBytes, m * kAmxTile));
    for (int64_t n = 0; n < tilesN; ++n)
      sums.push_back(loadTile(b.offset(row, b.mul(tileBytes, n)), rowBytes));
  }
  return sums;
}

void AmxProduct::storeSums(ValueRange sums, Value to) {
  Value rowBytes = b.cst(sumRowBytes());
  for (int64_t m = 0; m < tilesM; ++m)
    for (int64_t n = 0; n < tilesN; ++n)
      storeTile(sums[m * tilesN + n],
                b.offset(to, m * kAmxTile * sumRowBytes() + n * kLineBytes),
                rowBytes);
}

SmallVector<Value> AmxProduct::multiplyLine(Value panel, Value filter,
                                            ValueRange sums) {
  SmallVector<Value> channels, result;
  for (int64_t n = 0; n < tilesN; ++n)
    channels.push_back(loadTile(b.offset(filter, n * kLineBytes),
                                b.cst(spec.tileN * kUnitBytes)));
  for (int64_t m = 0; m < tilesM; ++m) {
    Value pixels =
        loadTile(b.offset(panel, m * kAmxTile * kLineBytes), b.cst(kLineBytes));
    for (int64_t n = 0; n < tilesN; ++n)
      result.push_back(multiplyTile(sums[m * tilesN + n], pixels, channels[n]));
  }
  return result;
}
