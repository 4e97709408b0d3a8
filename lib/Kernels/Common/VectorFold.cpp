//===- VectorFold.cpp - Reductions over consecutive elements --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorFold.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

/// Combines `count` accumulators of `width` values each, as a tree.
static SmallVector<Value> combineAll(const FoldSteps &steps, ValueRange values,
                                     int64_t count) {
  auto width = static_cast<int64_t>(steps.neutral.size());
  SmallVector<Value> current(values);
  for (; count > 1; count = (count + 1) / 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i + 1 < count; i += 2)
      next.append(
          steps.combine(ArrayRef(current).slice(i * width, width),
                        ArrayRef(current).slice((i + 1) * width, width)));
    if (count % 2 == 1)
      next.append(current.end() - width, current.end());
    current = std::move(next);
  }
  return current;
}

SmallVector<Value> tarpon::emitBlockedFold(
    KernelBuilder &b, Value begin, Value end, int64_t step, ValueRange neutral,
    function_ref<FoldSteps::Values(Value, ValueRange)> body,
    function_ref<FoldSteps::Values(ValueRange, ValueRange)> combine) {
  int64_t block = kFoldBlock * step;
  return b.forLoop(
      begin, end, b.cst(block), neutral, [&](Value first, ValueRange soFar) {
        Value last = b.minS(b.add(first, block), end);
        return combine(soFar,
                       b.forLoop(first, last, b.cst(step), neutral, body));
      });
}

FoldSteps::Values
tarpon::emitCompensatedSum(KernelBuilder &b, Value count, Type type,
                           int64_t width,
                           function_ref<FoldSteps::Values(Value)> term) {
  // Each sum is followed by what it has too much.
  SmallVector<Value> start(2 * width, b.cstLike(type, 0));
  SmallVector<Value> sums = b.forLoop(
      b.cst(0), count, b.cst(1), start, [&](Value index, ValueRange soFar) {
        FoldSteps::Values terms = term(index), next;
        for (int64_t i = 0; i < width; ++i) {
          Value old = soFar[2 * i];
          Value added = b.subF(terms[i], soFar[2 * i + 1]);
          Value sum = b.addF(old, added);
          next.append({sum, b.subF(b.subF(sum, old), added)});
        }
        return next;
      });
  FoldSteps::Values result;
  for (int64_t i = 0; i < width; ++i)
    result.push_back(sums[2 * i]);
  return result;
}

SmallVector<Value> tarpon::emitFold(KernelBuilder &b, Value begin, Value end,
                                    const FoldSteps &steps,
                                    int64_t accumulators) {
  int64_t lanes = b.lanes(), stride = lanes * accumulators;
  auto width = static_cast<int64_t>(steps.neutral.size());
  Value count = b.maxS(b.sub(end, begin), b.cst(0));
  Value wide = b.add(begin, b.mul(b.div(count, stride), stride));
  Value whole = b.add(begin, b.mul(b.div(count, lanes), lanes));
  SmallVector<Value> start;
  for (int64_t i = 0; i < accumulators; ++i)
    start.append(steps.neutral);
  auto forAll = [&](function_ref<FoldSteps::Values(int64_t k)> get) {
    SmallVector<Value> all;
    for (int64_t k = 0; k < accumulators; ++k)
      all.append(get(k));
    return all;
  };
  auto step = [&](Value i, ValueRange soFar) {
    return forAll([&](int64_t k) {
      return steps.step(b.add(i, k * lanes), Value(),
                        soFar.slice(k * width, width));
    });
  };
  auto combine = [&](ValueRange left, ValueRange right) {
    return forAll([&](int64_t k) {
      return steps.combine(left.slice(k * width, width),
                           right.slice(k * width, width));
    });
  };
  SmallVector<Value> folded =
      steps.inBlocks
          ? emitBlockedFold(b, begin, wide, stride, start, step, combine)
          : b.forLoop(begin, wide, b.cst(stride), start, step);
  folded = combineAll(steps, folded, accumulators);
  folded = b.forLoop(
      wide, whole, b.cst(lanes), folded,
      [&](Value i, ValueRange soFar) { return steps.step(i, Value(), soFar); });
  Value mask = b.firstLanes(b.sub(end, whole), lanes);
  return b.ifThenElse(
      b.slt(whole, end), TypeRange(ValueRange(folded)),
      [&] { return steps.step(whole, mask, folded); }, [&] { return folded; });
}

Value tarpon::selectLanes(KernelBuilder &b, Value mask, Value value,
                          Value otherwise) {
  return mask ? b.select(mask, value, otherwise) : value;
}

Value tarpon::emitSum(KernelBuilder &b, Value begin, Value end,
                      function_ref<Value(Value, Value)> term) {
  Value zero = b.cstLike(b.vec(b.getF32Type(), b.lanes()), 0);
  FoldSteps steps{.neutral = {zero},
                  .step =
                      [&](Value i, Value mask, ValueRange soFar) {
                        Value value = selectLanes(b, mask, term(i, mask), zero);
                        return SmallVector<Value>{b.addF(soFar.front(), value)};
                      },
                  .combine =
                      [&](ValueRange left, ValueRange right) {
                        return SmallVector<Value>{
                            b.addF(left.front(), right.front())};
                      }};
  return b.reduceAdd(emitFold(b, begin, end, steps).front());
}

Value tarpon::emitToFloat(KernelBuilder &b, Value integer) {
  return arith::SIToFPOp::create(b, b.getF32Type(), integer);
}

void tarpon::forItems(KernelBuilder &b, int64_t items, int64_t perTask,
                      function_ref<void(Value)> body) {
  Value each = b.getParam(perTask);
  Value first = b.mul(b.getBegin(), each);
  Value last = b.minS(b.mul(b.getEnd(), each), b.getParam(items));
  b.forLoop(first, last, b.cst(1), body);
}

int64_t tarpon::getItemsPerTask(int64_t elements) {
  constexpr int64_t kElementsPerTask = 16384;
  return std::max<int64_t>(1,
                           kElementsPerTask / std::max<int64_t>(1, elements));
}
