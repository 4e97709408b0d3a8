//===- TopK.cpp - Reference selection of the best elements ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result is a heap of indices while it is made: its root is the worst of
// the k best elements so far, which a better one replaces. Taking the root away
// until the heap is empty leaves the indices in order (R. Floyd, "Algorithm
// 245: Treesort 3", 1964).
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {

struct TopKKernel {
  bool largest;
  ComputeKind kind;
  int64_t axis;
  TensorAccess input, result;
  ElementLoop loop;
  int64_t sizeParam, placesParam, levelsParam;

  void emit(KernelBuilder &b) const;
};

/// The heap of one line along the axis.
struct Heap {
  KernelBuilder &b;
  const TopKKernel &kernel;
  const BoundTensor &in, &out;
  ArrayRef<Value> line;

  SmallVector<Value> at(Value place) const {
    SmallVector<Value> indices(line);
    indices[kernel.axis] = place;
    return indices;
  }
  Value get(Value place) const { return out.load(b, at(place)); }
  void set(Value place, Value index) const { out.store(b, at(place), index); }
  Value isLess(Value x, Value y) const;
  Value isBetter(Value index, Value other) const;
  void sift(Value root, Value size) const;
};

} // namespace

/// Returns true in code if x is less than y; numbers are less than NaN.
Value Heap::isLess(Value x, Value y) const {
  using Float = arith::CmpFPredicate;
  if (kernel.kind == ComputeKind::U64)
    return b.ult(x, y);
  if (!isFloat(kernel.kind))
    return b.slt(x, y);
  Value isNumber = arith::CmpFOp::create(b, Float::ORD, x, x);
  Value isNaN = arith::CmpFOp::create(b, Float::UNO, y, y);
  return b.orI(arith::CmpFOp::create(b, Float::OLT, x, y),
               b.andI(isNumber, isNaN));
}

/// Returns true in code if the element at `index` comes before the other one.
Value Heap::isBetter(Value index, Value other) const {
  Value x = in.load(b, at(index)), y = in.load(b, at(other));
  if (kernel.largest)
    std::swap(x, y);
  Value isWorse = isLess(y, x);
  Value isFirst = b.andI(b.slt(index, other),
                         b.eq(isWorse, b.cstLike(isWorse.getType(), 0)));
  return b.orI(isLess(x, y), isFirst);
}

/// Moves the index at `root` down until no worse one is below it.
void Heap::sift(Value root, Value size) const {
  Type i64 = b.getI64Type();
  b.forLoop(b.cst(0), b.getParam(kernel.levelsParam), b.cst(1), root,
            [&](Value, ValueRange carried) {
              Value parent = carried.front(), left = b.add(b.mul(parent, 2), 1);
              auto descend = [&] {
                Value right = b.minS(b.add(left, 1), b.sub(size, 1));
                Value index = get(parent), first = get(left),
                      second = get(right);
                Value takesRight = isBetter(first, second);
                Value child = b.select(takesRight, right, left),
                      worst = b.select(takesRight, second, first);
                auto swap = [&] {
                  set(parent, worst);
                  set(child, index);
                  return SmallVector<Value>{child};
                };
                return b.ifThenElse(isBetter(index, worst), i64, swap,
                                    [&] { return SmallVector<Value>{size}; });
              };
              return b.ifThenElse(b.slt(left, size), i64, descend,
                                  [&] { return SmallVector<Value>{parent}; });
            });
}

void TopKKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), out = result.bind(b);
  Value size = b.getParam(sizeParam), places = b.getParam(placesParam);
  loop.emit(b, [&](ArrayRef<Value> line) {
    Heap heap{b, *this, in, out, line};
    b.forLoop(places, [&](Value i) { heap.set(i, i); });
    Value half = b.div(places, 2);
    b.forLoop(half,
              [&](Value i) { heap.sift(b.sub(b.sub(half, i), 1), places); });
    b.forLoop(places, size, b.cst(1), [&](Value i) {
      b.ifThen(heap.isBetter(i, heap.get(b.cst(0))), [&] {
        heap.set(b.cst(0), i);
        heap.sift(b.cst(0), places);
      });
    });
    b.forLoop(b.sub(places, 1), [&](Value i) {
      Value last = b.sub(b.sub(places, i), 1);
      Value worst = heap.get(b.cst(0));
      heap.set(b.cst(0), heap.get(last));
      heap.set(last, worst);
      heap.sift(b.cst(0), last);
    });
  });
}

SolutionPlan reference::planTopK(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> shape = problem.operands[0].shape;
  int64_t axis = problem.integer("axis"), places = problem.integer("k");
  int64_t levels = llvm::Log2_64_Ceil(places) + 1;
  TopKKernel kernel{
      .largest = problem.integer("largest") != 0,
      .kind = computeKindOf(problem),
      .axis = axis,
      .input = accessOperand(launch, problem, 0, shape),
      .result = TensorAccess(launch, {BufferSlot::Result, 0}, problem.result,
                             problem.result.shape, ComputeKind::I64),
      .loop = ElementLoop(
          launch, replaceDim(shape, axis, 1),
          10.0 * static_cast<double>(shape[axis] + places * levels)),
      .sizeParam = launch.addParam(shape[axis]),
      .placesParam = launch.addParam(places),
      .levelsParam = launch.addParam(levels)};
  std::string symbol = joinSymbol(
      {"ref_top_k", std::to_string(axis), kernel.largest ? "max" : "min",
       kernel.input.symbolPart(), kernel.result.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
