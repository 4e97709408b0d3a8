//===- RowWork.cpp - Rows that lanes fold together ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWork.h"

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

GpuRowWork::GpuRowWork(LaunchBuilder &launch, const TargetInfo &target,
                       int64_t numRows, int64_t lanes, int64_t vector)
    : waveSize(target.gpu->waveSize), lanes(lanes), vector(vector),
      rows(launch.addParam(numRows)) {
  numTasks =
      std::max<int64_t>(1, llvm::divideCeil(numRows, kWorkgroup / lanes));
}

std::vector<int64_t> GpuRowWork::getLaneChoices(const TargetInfo &target) {
  return {target.gpu->waveSize, kWorkgroup};
}

/// A wave needs no barrier, and suffices for a few vectors per lane.
int64_t GpuRowWork::chooseLanes(const TargetInfo &target, int64_t size,
                                int64_t vector) {
  constexpr int64_t kVectorsPerLane = 4;
  int64_t wave = target.gpu->waveSize;
  return size <= wave * vector * kVectorsPerLane ? wave : kWorkgroup;
}

int64_t GpuRowWork::getLdsBytes(int64_t values) const {
  return isWave() ? 0 : kWorkgroup / waveSize * values * 4;
}

std::string GpuRowWork::symbolPart() const {
  // The waves are those of the target; the kernel cache distinguishes targets.
  return (isWave() ? "wave" : "group") + std::to_string(vector);
}

Value GpuRowWork::getLane(KernelBuilder &b) const {
  return b.andI(b.getLane(), b.cst(lanes - 1));
}

void GpuRowWork::emit(KernelBuilder &b, function_ref<void(Value)> body) const {
  if (!isWave())
    return body(b.getBegin());
  Value wave = arith::ShRUIOp::create(
      b, b.getLane(), b.cst(llvm::Log2_64(static_cast<uint64_t>(waveSize))));
  Value row = b.add(b.mul(b.getBegin(), kWorkgroup / waveSize), wave);
  // All lanes of a wave get the same result.
  b.ifThen(b.slt(row, b.getParam(rows)), [&] { body(row); });
}

GpuRowWork::Values
GpuRowWork::fold(KernelBuilder &b, Value size, Values soFar,
                 function_ref<Values(Value, int64_t, ValueRange)> body) const {
  Value lane = getLane(b);
  Value tail = b.andI(size, b.cst(vector - 1)), whole = b.sub(size, tail);
  Values folded = b.forLoop(
      b.mul(lane, vector), whole, b.cst(lanes * vector), soFar,
      [&](Value i, ValueRange inner) { return body(i, vector, inner); });
  if (vector == 1)
    return folded;
  SmallVector<Type> types;
  for (Value value : folded)
    types.push_back(value.getType());
  return b.ifThenElse(
      b.slt(lane, tail), types,
      [&] { return body(b.add(whole, lane), 1, folded); },
      [&] { return folded; });
}

void GpuRowWork::forElements(KernelBuilder &b, Value size,
                             function_ref<void(Value, int64_t)> body) const {
  fold(b, size, {}, [&](Value i, int64_t count, ValueRange) {
    body(i, count);
    return Values();
  });
}

GpuRowWork::Values
GpuRowWork::combine(KernelBuilder &b, Values values,
                    function_ref<Values(ValueRange, ValueRange)> fold) const {
  for (int64_t distance = 1; distance < waveSize; distance *= 2) {
    Values others;
    for (Value value : values)
      others.push_back(gpu::ShuffleOp::create(b, value,
                                              static_cast<int32_t>(distance),
                                              static_cast<int32_t>(waveSize),
                                              gpu::ShuffleMode::XOR)
                           .getShuffleResult());
    values = fold(values, others);
  }
  if (isWave())
    return values;
  auto &gpuBuilder = static_cast<GpuKernelBuilder &>(b);
  Value lds = gpuBuilder.getLds();
  int64_t waves = kWorkgroup / waveSize;
  int64_t bytes = static_cast<int64_t>(values.size()) * 4;
  auto slot = [&](Value base, size_t i) {
    return b.offset(base, static_cast<int64_t>(i) * 4);
  };
  // All lanes have read the values that were combined before.
  gpuBuilder.barrier();
  Value inWave = b.andI(b.getLane(), b.cst(waveSize - 1));
  b.ifThen(b.eq(inWave, b.cst(0)), [&] {
    Value wave = arith::ShRUIOp::create(
        b, b.getLane(), b.cst(llvm::Log2_64(static_cast<uint64_t>(waveSize))));
    Value mine = b.offset(lds, b.mul(wave, bytes));
    for (auto [i, value] : llvm::enumerate(values))
      b.store(value, slot(mine, i));
  });
  gpuBuilder.barrier();
  Values all;
  for (int64_t wave = 0; wave < waves; ++wave) {
    Values next;
    for (size_t i = 0; i < values.size(); ++i)
      next.push_back(
          b.load(slot(b.offset(lds, wave * bytes), i), values[i].getType()));
    all = wave == 0 ? next : fold(all, next);
  }
  return all;
}

void GpuRowWork::once(KernelBuilder &b, function_ref<void()> body) const {
  b.ifThen(b.eq(getLane(b), b.cst(0)), body);
}

Value tarpon::sumLanes(KernelBuilder &b, Value value) {
  return isa<VectorType>(value.getType()) ? b.reduceAdd(value) : value;
}

Value tarpon::maxLanes(KernelBuilder &b, Value value) {
  return isa<VectorType>(value.getType()) ? b.reduceMax(value) : value;
}
