//===- Index.cpp - Reference selection at run time ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "Reference.h"
#include "tarpon/IR/TarponDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

/// Accesses an operand whose elements are integers of at most 64 bits.
static TensorAccess accessIntegers(LaunchBuilder &launch,
                                   const Problem &problem, int64_t index,
                                   ArrayRef<int64_t> indexShape) {
  return TensorAccess(launch, {BufferSlot::Operand, index},
                      problem.operands[index], indexShape, ComputeKind::I64);
}

/// Counts an index below 0 from the end of a dimension.
static Value countFromStart(KernelBuilder &b, Value index, Value size) {
  return b.select(b.slt(index, b.cst(0)), b.add(index, size), index);
}

//===----------------------------------------------------------------------===//
// Where
//===----------------------------------------------------------------------===//

SolutionPlan reference::planWhere(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> shape = problem.result.shape;
  TensorAccess condition = accessIntegers(launch, problem, 0, shape),
               lhs = accessOperand(launch, problem, 1, shape),
               rhs = accessOperand(launch, problem, 2, shape);
  OutputAccess output(launch, problem);
  ElementLoop loop(launch, shape, 20);
  auto emit = [=](KernelBuilder &b) {
    BoundTensor isSet = condition.bind(b), left = lhs.bind(b),
                right = rhs.bind(b);
    OutputAccess::Bound out = output.bind(b);
    loop.emit(b, [&](ArrayRef<Value> place) {
      Value isFalse = b.eq(isSet.load(b, place), b.cst(0));
      out.store(b, place,
                b.select(isFalse, right.load(b, place), left.load(b, place)));
    });
  };
  launch.finish(
      joinSymbol({"ref_where", condition.symbolPart(), lhs.symbolPart(),
                  rhs.symbolPart(), output.symbolPart()}),
      emit, loop.tasks());
  return plan;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

SolutionPlan reference::planGather(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &data = problem.operands[0];
  int64_t axis = problem.integer("axis"),
          indexRank = problem.operands[1].rank();
  TensorAccess input = accessOperand(launch, problem, 0, data.shape),
               indices = accessIntegers(launch, problem, 1,
                                        problem.operands[1].shape);
  OutputAccess output(launch, problem);
  ElementLoop loop(launch, problem.result.shape, 20);
  int64_t sizeParam = launch.addParam(data.shape[axis]);
  auto emit = [=](KernelBuilder &b) {
    BoundTensor in = input.bind(b), index = indices.bind(b);
    OutputAccess::Bound out = output.bind(b);
    Value size = b.getParam(sizeParam);
    loop.emit(b, [&](ArrayRef<Value> place) {
      Value wanted =
          countFromStart(b, index.load(b, place.slice(axis, indexRank)), size);
      SmallVector<Value> source(place.take_front(axis));
      source.push_back(b.minS(b.maxS(wanted, b.cst(0)), b.sub(size, 1)));
      llvm::append_range(source, place.drop_front(axis + indexRank));
      out.store(b, place, in.load(b, source));
    });
  };
  launch.finish(
      joinSymbol({"ref_gather", std::to_string(axis), input.symbolPart(),
                  indices.symbolPart(), output.symbolPart()}),
      emit, loop.tasks());
  return plan;
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

namespace {

/// A task has some places behind the first dimension, and visits all updates of
/// these in their order.
struct ScatterKernel {
  ScatterMode mode;
  ComputeKind kind;
  TensorAccess input, indices, updates, result;
  ElementLoop loop;
  int64_t sizeParam, countParam;

  void emit(KernelBuilder &b) const;
  Value combine(KernelBuilder &b, Value old, Value update) const;
};

} // namespace

Value ScatterKernel::combine(KernelBuilder &b, Value old, Value update) const {
  bool isReal = isFloat(kind);
  auto isLess = [&](Value lhs, Value rhs) {
    return b.cmp(kind == ComputeKind::U64 ? KernelBuilder::Pred::ult
                                          : KernelBuilder::Pred::slt,
                 lhs, rhs);
  };
  switch (mode) {
  case ScatterMode::Replace:
    return update;
  case ScatterMode::Add:
    return isReal ? b.addF(old, update) : b.add(old, update);
  case ScatterMode::Mul:
    return isReal ? b.mulF(old, update) : b.mul(old, update);
  case ScatterMode::Max:
    return isReal ? b.maxOrNaN(old, update)
                  : b.select(isLess(old, update), update, old);
  case ScatterMode::Min:
    break;
  }
  return isReal ? b.minOrNaN(old, update)
                : b.select(isLess(update, old), update, old);
}

void ScatterKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), index = indices.bind(b),
              update = updates.bind(b), out = result.bind(b);
  Value size = b.getParam(sizeParam), count = b.getParam(countParam);
  auto at = [](Value first, ArrayRef<Value> rest) {
    SmallVector<Value> place = {first};
    llvm::append_range(place, rest);
    return place;
  };
  loop.emit(b, [&](ArrayRef<Value> rest) {
    b.forLoop(size, [&](Value row) {
      out.store(b, at(row, rest), in.load(b, at(row, rest)));
    });
    b.forLoop(count, [&](Value i) {
      Value row = countFromStart(b, index.load(b, {i}), size);
      b.ifThen(b.ult(row, size), [&] {
        Value old = out.load(b, at(row, rest));
        out.store(b, at(row, rest),
                  combine(b, old, update.load(b, at(i, rest))));
      });
    });
  });
}

SolutionPlan reference::planScatter(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ArrayRef<int64_t> shape = problem.operands[0].shape,
                    updates = problem.operands[2].shape;
  ComputeKind kind = computeKindOf(problem);
  ScatterKernel kernel{
      .mode = static_cast<ScatterMode>(problem.integer("mode")),
      .kind = kind,
      .input = accessOperand(launch, problem, 0, shape),
      .indices = accessIntegers(launch, problem, 1, problem.operands[1].shape),
      .updates = accessOperand(launch, problem, 2, updates),
      .result = TensorAccess(launch, {BufferSlot::Result, 0}, problem.result,
                             shape, kind),
      .loop = ElementLoop(launch, shape.drop_front(),
                          10.0 * static_cast<double>(shape[0] + updates[0])),
      .sizeParam = launch.addParam(shape[0]),
      .countParam = launch.addParam(updates[0])};
  std::string symbol =
      joinSymbol({"ref_scatter", stringifyScatterMode(kernel.mode),
                  kernel.input.symbolPart(), kernel.indices.symbolPart(),
                  kernel.updates.symbolPart(), kernel.result.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
