//===- Pool.cpp - Reference pooling ---------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Pool/Pool.h"
#include "Nest.h"
#include "Reference.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {
struct PoolKernel {
  bool isMax, countsPadding;
  ComputeKind kind;
  TensorAccess input;
  OutputAccess output;
  ElementLoop loop;
  Window window;

  void emit(KernelBuilder &b) const;
  Value emitIdentity(KernelBuilder &b) const;
  Value emitCombined(KernelBuilder &b, Value value, Value best) const;
  Value emitCount(KernelBuilder &b, ArrayRef<Value> place,
                  ArrayRef<WindowRange> ranges) const;
};
} // namespace

Value PoolKernel::emitIdentity(KernelBuilder &b) const {
  if (!isMax)
    return b.cstLike(reference::getSumType(b, kind), 0);
  Type type = computeTypeOf(b, kind);
  if (kind == ComputeKind::U64)
    return b.cstLike(type, 0);
  if (kind == ComputeKind::I64)
    return b.cst(std::numeric_limits<int64_t>::min());
  return b.cstLike(type, -std::numeric_limits<double>::infinity());
}

Value PoolKernel::emitCombined(KernelBuilder &b, Value value,
                               Value soFar) const {
  if (!isMax)
    return reference::addToSum(b, soFar, value);
  if (isa<FloatType>(value.getType()))
    return b.maxF(value, soFar);
  if (kind == ComputeKind::U64)
    return b.select(b.ult(soFar, value), value, soFar);
  return b.maxS(value, soFar);
}

Value PoolKernel::emitCount(KernelBuilder &b, ArrayRef<Value> place,
                            ArrayRef<WindowRange> ranges) const {
  Value count = b.cst(1);
  for (int64_t dim = 0; dim < window.rank(); ++dim)
    count = b.mul(count, countsPadding
                             ? window.countWithPadding(b, dim, place[2 + dim])
                             : Window::count(b, ranges[dim]));
  // In ceil_mode a window may lie entirely outside.
  return arith::SIToFPOp::create(b, computeTypeOf(b, kind),
                                 b.maxS(count, b.cst(1)));
}

void PoolKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<WindowRange> ranges;
    for (int64_t dim = 0; dim < window.rank(); ++dim)
      ranges.push_back(window.at(b, dim, place[2 + dim]));
    auto cell = [&](ArrayRef<Value>, ArrayRef<Value> i, ValueRange soFar) {
      SmallVector<Value> inPlace{place[0], place[1]};
      inPlace.append(i.begin(), i.end());
      Value value = in.load(b, inPlace);
      return SmallVector<Value>{emitCombined(b, value, soFar.front())};
    };
    Value value = forWindow(b, ranges, emitIdentity(b), cell).front();
    if (!isMax)
      value = b.divF(reference::finishSum(b, value, kind),
                     emitCount(b, place, ranges));
    out.store(b, place, value);
  });
}

SolutionPlan reference::planPool(const Problem &original) {
  Problem problem = asWindowedPool(original);
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0];
  std::vector<int64_t> kernelShape = problem.ints("kernel");
  bool isMax = problem.op == OpKind::MaxPool;
  bool countsPadding = !isMax && problem.integer("count_include_pad");
  double cost = 4;
  for (int64_t size : kernelShape)
    cost *= static_cast<double>(size);
  PoolKernel kernel{.isMax = isMax,
                    .countsPadding = countsPadding,
                    .kind = computeKindOf(problem),
                    .input = accessOperand(launch, problem, 0, input.shape),
                    .output = OutputAccess(launch, problem),
                    .loop = ElementLoop(launch, problem.result.shape, cost),
                    .window =
                        Window(launch, problem, kernelShape, input.spatial())};
  std::string symbol =
      joinSymbol({"ref", getOpName(problem.op), countsPadding ? "padded" : "",
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
