//===- CopyBytes.cpp - Copies of consecutive bytes ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyBytes.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

static void copyPiece(KernelBuilder &b, Value target, Value source, Value start,
                      int64_t bytes) {
  Type type = bytes == 1 ? b.getI8Type() : Type(b.vec(b.getI8Type(), bytes));
  b.store(b.load(b.offset(source, start), type), b.offset(target, start));
}

/// Copies count < 2 * piece bytes.
static void copyShort(KernelBuilder &b, Value target, Value source, Value count,
                      int64_t piece) {
  if (piece == 0)
    return;
  // Two overlapping pieces cover any length from one to two pieces.
  b.ifThenElse(
      b.slt(count, b.cst(piece)),
      [&] { copyShort(b, target, source, count, piece / 2); },
      [&] {
        copyPiece(b, target, source, b.cst(0), piece);
        copyPiece(b, target, source, b.sub(count, piece), piece);
      });
}

void tarpon::emitCopyBytes(KernelBuilder &b, Value target, Value source,
                           Value count) {
  int64_t width = b.getTarget().vectorBits / 8;
  b.ifThenElse(
      b.slt(count, b.cst(width)),
      [&] { copyShort(b, target, source, count, width / 2); },
      [&] {
        Value last = b.sub(count, width);
        b.forLoop(b.cst(0), last, b.cst(width),
                  [&](Value i) { copyPiece(b, target, source, i, width); });
        copyPiece(b, target, source, last, width);
      });
}

bool tarpon::haveSameElements(const TensorDesc &a, const TensorDesc &b) {
  return a.dtype == b.dtype && a.quantized == b.quantized &&
         a.scales == b.scales && a.zeroPoint == b.zeroPoint;
}

void tarpon::planRowCopy(LaunchBuilder &launch, BufferSlot source,
                         BufferSlot target, const RowCopy &copy) {
  constexpr int64_t kBytesPerTask = 64 << 10;
  int64_t rowBytes = std::max<int64_t>(1, copy.rowBytes);
  int64_t chunks = llvm::divideCeil(rowBytes, kBytesPerTask);
  int64_t chunkBytes =
      llvm::alignTo(llvm::divideCeil(rowBytes, chunks), int64_t(64));
  chunks = llvm::divideCeil(rowBytes, chunkBytes);
  int64_t units = copy.rows * chunks;
  int64_t perTask = std::max<int64_t>(1, kBytesPerTask / rowBytes);
  int64_t from = launch.addBuffer(source), to = launch.addBuffer(target);
  int64_t first = launch.addParams(
      {copy.rowBytes, copy.sourceStart, copy.sourceStride, copy.targetStart,
       copy.targetStride, chunkBytes, chunks, units, perTask});
  auto emit = [=](KernelBuilder &b) {
    Value sourceBase = b.offset(b.getBuffer(from), b.getParam(first + 1));
    Value targetBase = b.offset(b.getBuffer(to), b.getParam(first + 3));
    Value bytes = b.getParam(first), chunkSize = b.getParam(first + 5);
    Value numChunks = b.getParam(first + 6), limit = b.getParam(first + 7);
    Value step = b.getParam(first + 8);
    Value begin = b.mul(b.getBegin(), step);
    Value end = b.minS(b.mul(b.getEnd(), step), limit);
    b.forLoop(begin, end, b.cst(1), [&](Value unit) {
      Value row = b.div(unit, numChunks);
      Value start = b.mul(b.rem(unit, numChunks), chunkSize);
      Value count = b.minS(chunkSize, b.sub(bytes, start));
      Value rowSource = b.mul(row, b.getParam(first + 2));
      Value rowTarget = b.mul(row, b.getParam(first + 4));
      emitCopyBytes(b, b.offset(targetBase, b.add(rowTarget, start)),
                    b.offset(sourceBase, b.add(rowSource, start)), count);
    });
  };
  launch.finish("copy_rows", emit,
                std::max<int64_t>(1, llvm::divideCeil(units, perTask)));
}
