//===- ByteNumbers.cpp - Vectors of 8-bit integers as f32 -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteNumbers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tarpon;

static int64_t countLanes(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

/// A vector even of one lane.
static Value splat(GpuKernelBuilder &b, Value value, int64_t lanes) {
  return vector::BroadcastOp::create(b, b.vec(value.getType(), lanes), value);
}

static bool usesMantissas(GpuKernelBuilder &b, int64_t lanes) {
  constexpr int64_t kWordBytes = 4;
  return b.getGpu().vendor == GpuVendor::NVIDIA && lanes % kWordBytes == 0;
}

//===----------------------------------------------------------------------===//
// From bytes
//===----------------------------------------------------------------------===//

/// A permutation of bytes puts each one below the two upper bytes of 2^16, a
/// unit of whose mantissa's second byte is 2: the float is 2^16 + 2 * byte.
static Value makeMantissas(GpuKernelBuilder &b, Value bytes) {
  constexpr int64_t kWordBytes = 4;
  int64_t lanes = countLanes(bytes);
  Type word = b.vec(b.getI8Type(), kWordBytes);
  // The bytes of 2^16, whose order is that of memory.
  Value magic =
      b.bitcast(b.cstLike(b.vec(b.getI32Type(), 1), 0x47800000), word);
  SmallVector<Value> floats;
  for (int64_t i = 0; i < lanes; ++i) {
    int64_t first = i / kWordBytes * kWordBytes;
    Value part =
        b.shuffle(bytes, bytes, {first, first + 1, first + 2, first + 3});
    Value placed = b.shuffle(
        part, magic,
        {kWordBytes + 0, i % kWordBytes, kWordBytes + 2, kWordBytes + 3});
    Value real = b.bitcast(placed, b.vec(b.getF32Type(), 1));
    floats.push_back(vector::ExtractOp::create(b, real, int64_t(0)));
  }
  return vector::FromElementsOp::create(b, b.vec(b.getF32Type(), lanes),
                                        floats);
}

Value tarpon::emitDecodeBytes(GpuKernelBuilder &b, Value bytes, bool isSigned,
                              Value scale, Value shift) {
  int64_t lanes = countLanes(bytes);
  Value numbers;
  if (usesMantissas(b, lanes)) {
    // Bytes that are signed are made unsigned by an offset of 128.
    if (isSigned)
      bytes = arith::XOrIOp::create(b, bytes, b.cstLike(bytes.getType(), -128));
    double zero = 0x1p16 + (isSigned ? 2 * 128 : 0);
    numbers = makeMantissas(b, bytes);
    scale = b.mulF(scale, b.cstF(0.5));
    shift = b.subF(shift, b.mulF(scale, b.cstF(zero)));
  } else {
    Type wide = b.vec(b.getI32Type(), lanes);
    Value extended = isSigned ? Value(arith::ExtSIOp::create(b, wide, bytes))
                              : Value(arith::ExtUIOp::create(b, wide, bytes));
    numbers =
        arith::SIToFPOp::create(b, b.vec(b.getF32Type(), lanes), extended);
  }
  return b.fma(numbers, splat(b, scale, lanes), splat(b, shift, lanes));
}

//===----------------------------------------------------------------------===//
// To bytes
//===----------------------------------------------------------------------===//

Value tarpon::emitEncodeBytes(GpuKernelBuilder &b, Value values, bool isSigned,
                              Value scale, Value shift) {
  int64_t lanes = countLanes(values);
  Type type = values.getType(), integer = b.vec(b.getI32Type(), lanes);
  double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
  bool isRoundedBySum = usesMantissas(b, lanes);
  // A unit of the mantissa of 1.5 * 2^23 is 1: adding it rounds, and its lowest
  // byte is the number.
  double magic = isRoundedBySum ? 0x1.8p23 : 0;
  if (isRoundedBySum)
    shift = b.addF(shift, b.cstF(magic));
  Value sums = b.fma(values, splat(b, scale, lanes), splat(b, shift, lanes));
  Value clamped = b.minF(b.maxF(sums, b.cstLike(type, magic + low)),
                         b.cstLike(type, magic + high));
  if (isSigned) {
    // NaN has become the lower bound, which is 0 only if unsigned.
    Value isNan =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sums, sums);
    clamped = b.select(isNan, b.cstLike(type, magic), clamped);
  }
  Value bits = isRoundedBySum
                   ? b.bitcast(clamped, integer)
                   : Value(LLVM::LrintOp::create(b, integer, clamped));
  return arith::TruncIOp::create(b, b.vec(b.getI8Type(), lanes), bits);
}
