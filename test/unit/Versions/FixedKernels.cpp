//===- FixedKernels.cpp - Kernels that belong to no solver ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one instruction per statement, since the compiler of this test
// evaluates arguments in its own order.
//
//===----------------------------------------------------------------------===//

#include "FixedKernels.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tarpon;
using namespace tarpon::test;

/// Sums of exp(x * y + 1) over rows whose length is a parameter: loads, a loop,
/// a division, a function that is expanded, a conversion and stores.
static void emitSums(KernelBuilder &b) {
  using Value = mlir::Value;
  mlir::VectorType row = b.vec(b.f32(), 8);
  Value length = b.getParam(0);
  Value left = b.getBuffer(0);
  Value right = b.getBuffer(1);
  Value result = b.getBuffer(2);
  Value zero = b.cstLike(row, 0);
  Value one = b.cstLike(row, 1);
  Value begin = b.cst(0);
  Value step = b.cst(8);
  b.forTasks([&](Value task) {
    Value line = b.div(task, length);
    Value first = b.mul(line, length);
    auto addTerm = [&](Value i, mlir::ValueRange carried) {
      Value at = b.add(first, i);
      Value leftBytes = b.mul(at, 4);
      Value leftAt = b.offset(left, leftBytes);
      Value x = b.load(leftAt, row);
      Value rightBytes = b.mul(i, 2);
      Value rightAt = b.offset(right, rightBytes);
      Value stored = b.load(rightAt, b.vec(b.getF16Type(), 8));
      Value y = mlir::arith::ExtFOp::create(b, row, stored);
      Value sum = b.fma(x, y, one);
      Value term = mlir::math::ExpOp::create(b, sum);
      return mlir::SmallVector<Value>{b.addF(carried[0], term)};
    };
    auto sums = b.forLoop(begin, length, step, {zero}, addTerm);
    Value sum = mlir::vector::ReductionOp::create(
        b, mlir::vector::CombiningKind::ADD, sums[0]);
    Value bytes = b.mul(task, 4);
    Value resultAt = b.offset(result, bytes);
    b.store(sum, resultAt);
  });
}

/// A tile of products, which leaves few registers free, so that the digest
/// depends on the schedule and on the allocation of registers.
static void emitProducts(KernelBuilder &b) {
  using Value = mlir::Value;
  const int64_t rows = b.getTarget().vectorRegisters / 2 - 3;
  constexpr int64_t kColumns = 2;
  // The type is that of a scalar where there is one lane, as on GPUs.
  Value one = b.cstF(1);
  Value ones = b.broadcast(one, b.lanes());
  mlir::Type vector = ones.getType();
  const int64_t vectorBytes = b.lanes() * 4;
  Value length = b.getParam(0);
  Value left = b.getBuffer(0);
  Value right = b.getBuffer(1);
  Value result = b.getBuffer(2);
  Value zero = b.cstLike(vector, 0);
  Value begin = b.cst(0);
  Value step = b.cst(1);
  auto multiply = [&](Value i, mlir::ValueRange carried) {
    Value leftBytes = b.mul(i, rows * 4);
    Value leftAt = b.offset(left, leftBytes);
    Value rightBytes = b.mul(i, kColumns * vectorBytes);
    Value rightAt = b.offset(right, rightBytes);
    mlir::SmallVector<Value> columns, sums;
    for (int64_t column = 0; column < kColumns; ++column) {
      Value at = b.offset(rightAt, column * vectorBytes);
      columns.push_back(b.load(at, vector));
    }
    for (int64_t row = 0; row < rows; ++row) {
      Value at = b.offset(leftAt, row * 4);
      Value scalar = b.load(at, b.f32());
      Value all = b.broadcast(scalar, b.lanes());
      for (int64_t column = 0; column < kColumns; ++column)
        sums.push_back(
            b.fma(all, columns[column], carried[row * kColumns + column]));
    }
    return sums;
  };
  mlir::SmallVector<Value> zeros(rows * kColumns, zero);
  auto sums = b.forLoop(begin, length, step, zeros, multiply);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value at = b.offset(result, static_cast<int64_t>(index) * vectorBytes);
    b.store(sum, at);
  }
}

/// Products of single elements, of which each lane has one, without a loop.
static void emitElements(KernelBuilder &b) {
  using Value = mlir::Value;
  Value left = b.getBuffer(0);
  Value right = b.getBuffer(1);
  Value result = b.getBuffer(2);
  Value lane = b.getLane();
  b.forTasks([&](Value task) {
    Value first = b.mul(task, b.getLaneCount());
    Value index = b.add(first, lane);
    Value bytes = b.mul(index, 4);
    Value leftAt = b.offset(left, bytes);
    Value x = b.load(leftAt, b.f32());
    Value rightAt = b.offset(right, bytes);
    Value y = b.load(rightAt, b.f32());
    Value product = b.mulF(x, y);
    Value resultAt = b.offset(result, bytes);
    b.store(product, resultAt);
  });
}

static KernelSource makeKernel(const char *symbol,
                               void (*emit)(KernelBuilder &)) {
  KernelSource kernel;
  kernel.symbol = symbol;
  kernel.emit = emit;
  kernel.workgroup = 64;
  kernel.numBuffers = 3;
  kernel.numParams = 1;
  return kernel;
}

std::vector<KernelSource> tarpon::test::makeFixedKernels() {
  return {makeKernel("sums", emitSums), makeKernel("products", emitProducts),
          makeKernel("elements", emitElements)};
}
