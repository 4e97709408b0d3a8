//===- Reduce.cpp - Reference reductions ----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Nest.h"
#include "Reference.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {

/// The base of both kinds of reduction: the loop over the results, and the
/// dimensions that one result reduces.
struct Reduction {
  OpKind op;
  ComputeKind kind;
  std::vector<bool> isReduced;
  int64_t firstSize; ///< parameters: the sizes of the operand
  TensorAccess input;
  ElementLoop loop;

  Reduction(LaunchBuilder &launch, const Problem &problem,
            ArrayRef<int64_t> axes);
  bool isFloat() const { return tarpon::isFloat(kind); }
  SmallVector<Value> getSizes(KernelBuilder &b) const;
  SmallVector<Value> openDims(ArrayRef<Value> place) const;
  /// Returns true in code if x is larger.
  Value isGreater(KernelBuilder &b, Value x, Value y, bool orEqual) const;
};

struct ReduceKernel {
  Reduction reduction;
  OutputAccess output;
  int64_t count; ///< parameter

  void emit(KernelBuilder &b) const;
  Value emitOne(KernelBuilder &b, const BoundTensor &in,
                ArrayRef<Value> place) const;
  Value emitTerm(KernelBuilder &b, Value x, Value largest) const;
};

struct ArgKernel {
  Reduction reduction;
  TensorAccess result;
  int64_t axis;
  bool wantsLast;

  void emit(KernelBuilder &b) const;
};

} // namespace

/// The result's shape as if its dimensions were kept.
static std::vector<int64_t> getKeptShape(const Problem &problem,
                                         ArrayRef<int64_t> axes) {
  std::vector<int64_t> shape = problem.operands[0].shape;
  for (int64_t axis : axes)
    shape[axis] = 1;
  return shape;
}

/// The same problem with a result that keeps its dimensions, which has the same
/// bytes.
static Problem keepDims(const Problem &problem, ArrayRef<int64_t> axes) {
  Problem kept = problem;
  kept.result.shape = getKeptShape(problem, axes);
  return kept;
}

Reduction::Reduction(LaunchBuilder &launch, const Problem &problem,
                     ArrayRef<int64_t> axes)
    : op(problem.op), kind(computeKindOf(problem)),
      isReduced(problem.operands[0].rank()),
      firstSize(launch.addParams(problem.operands[0].shape)),
      input(accessOperand(launch, problem, 0, problem.operands[0].shape)),
      loop(launch, getKeptShape(problem, axes),
           8.0 * problem.operands[0].numElements() /
               problem.result.numElements()) {
  for (int64_t axis : axes)
    isReduced[axis] = true;
}

SmallVector<Value> Reduction::getSizes(KernelBuilder &b) const {
  SmallVector<Value> sizes;
  for (size_t dim = 0; dim < isReduced.size(); ++dim)
    sizes.push_back(b.getParam(firstSize + static_cast<int64_t>(dim)));
  return sizes;
}

SmallVector<Value> Reduction::openDims(ArrayRef<Value> place) const {
  SmallVector<Value> open(place);
  for (size_t dim = 0; dim < open.size(); ++dim)
    if (isReduced[dim])
      open[dim] = Value();
  return open;
}

Value Reduction::isGreater(KernelBuilder &b, Value x, Value y,
                           bool orEqual) const {
  using Int = KernelBuilder::Pred;
  if (isFloat())
    return arith::CmpFOp::create(
        b, orEqual ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT, x,
        y);
  if (kind == ComputeKind::U64)
    return b.cmp(orEqual ? Int::uge : Int::ugt, x, y);
  return b.cmp(orEqual ? Int::sge : Int::sgt, x, y);
}

/// The term of one element.
Value ReduceKernel::emitTerm(KernelBuilder &b, Value x, Value largest) const {
  if (reduction.op == OpKind::ReduceLogSumExp)
    return emitExp(b, b.subF(x, largest));
  bool isSquare = reduction.op == OpKind::ReduceL2 ||
                  reduction.op == OpKind::ReduceSumSquare;
  if (isSquare)
    return reduction.isFloat() ? b.mulF(x, x) : b.mul(x, x);
  if (reduction.op != OpKind::ReduceL1 || reduction.kind == ComputeKind::U64)
    return x;
  Value zero = b.cstLike(x.getType(), 0);
  Value negative = reduction.isFloat() ? b.subF(zero, x) : b.sub(zero, x);
  return b.select(reduction.isGreater(b, zero, x, false), negative, x);
}

Value ReduceKernel::emitOne(KernelBuilder &b, const BoundTensor &in,
                            ArrayRef<Value> place) const {
  SmallVector<Value> sizes = reduction.getSizes(b);
  SmallVector<Value> open = reduction.openDims(place);
  auto fold = [&](Value start, function_ref<Value(Value, Value)> combine) {
    return emitNest(b, sizes, open, start,
                    [&](ArrayRef<Value> indices, ValueRange soFar) {
                      return SmallVector<Value>{
                          combine(soFar.front(), in.load(b, indices))};
                    })
        .front();
  };
  // The place is the first element of its group.
  auto extreme = [&](bool least) {
    return fold(in.load(b, place), [&](Value soFar, Value x) {
      if (reduction.isFloat())
        return least ? b.minOrNaN(soFar, x) : b.maxOrNaN(soFar, x);
      Value wins = least ? reduction.isGreater(b, soFar, x, false)
                         : reduction.isGreater(b, x, soFar, false);
      return b.select(wins, x, soFar);
    });
  };
  OpKind op = reduction.op;
  if (op == OpKind::ReduceMax || op == OpKind::ReduceMin)
    return extreme(op == OpKind::ReduceMin);
  Type type = computeTypeOf(b, reduction.kind);
  bool isFloat = reduction.isFloat();
  if (op == OpKind::ReduceProd)
    return fold(b.cstLike(type, 1), [&](Value soFar, Value x) {
      return isFloat ? b.mulF(soFar, x) : b.mul(soFar, x);
    });
  Value largest;
  if (op == OpKind::ReduceLogSumExp)
    largest = extreme(/*least=*/false);
  Value sum =
      emitNestSum(b, reduction.kind, sizes, open, [&](ArrayRef<Value> indices) {
        return emitTerm(b, in.load(b, indices), largest);
      });
  if (op == OpKind::ReduceMean)
    return b.divF(sum, getReal(b, reduction.kind, count));
  if (op == OpKind::ReduceL2)
    return math::SqrtOp::create(b, sum);
  if (op == OpKind::ReduceLogSum)
    return emitLog(b, sum);
  return largest ? b.addF(largest, emitLog(b, sum)) : sum;
}

void ReduceKernel::emit(KernelBuilder &b) const {
  BoundTensor in = reduction.input.bind(b);
  OutputAccess::Bound out = output.bind(b);
  reduction.loop.emit(b, [&](ArrayRef<Value> place) {
    out.store(b, place, emitOne(b, in, place));
  });
}

SolutionPlan reference::planReduce(const Problem &given) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  std::vector<int64_t> axes = given.ints("axes");
  Problem problem =
      given.integer("keepdims") != 0 ? given : keepDims(given, axes);
  double size = static_cast<double>(given.operands[0].numElements()) /
                static_cast<double>(given.result.numElements());
  ReduceKernel kernel{.reduction = Reduction(launch, problem, axes),
                      .output = OutputAccess(launch, problem),
                      .count = addReal(launch, computeKindOf(problem), size)};
  std::string dims;
  for (bool isReduced : kernel.reduction.isReduced)
    dims.push_back(isReduced ? '1' : '0');
  std::string symbol = joinSymbol({"ref", getOpName(problem.op), "d" + dims,
                                   kernel.reduction.input.symbolPart(),
                                   kernel.output.symbolPart()});
  int64_t tasks = kernel.reduction.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Arg max and arg min
//===----------------------------------------------------------------------===//

void ArgKernel::emit(KernelBuilder &b) const {
  BoundTensor in = reduction.input.bind(b), out = result.bind(b);
  bool least = reduction.op == OpKind::ArgMin;
  reduction.loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<Value> best = emitNest(
        b, reduction.getSizes(b), reduction.openDims(place),
        {in.load(b, place), b.cst(0)},
        [&](ArrayRef<Value> indices, ValueRange soFar) {
          Value x = in.load(b, indices);
          Value wins = least ? reduction.isGreater(b, soFar[0], x, wantsLast)
                             : reduction.isGreater(b, x, soFar[0], wantsLast);
          return SmallVector<Value>{b.select(wins, x, soFar[0]),
                                    b.select(wins, indices[axis], soFar[1])};
        });
    out.store(b, place, best[1]);
  });
}

SolutionPlan reference::planArgReduce(const Problem &given) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  std::vector<int64_t> axes = given.ints("axis");
  Problem problem =
      given.integer("keepdims") != 0 ? given : keepDims(given, axes);
  ArgKernel kernel{.reduction = Reduction(launch, problem, axes),
                   .result = TensorAccess(launch, {BufferSlot::Result, 0},
                                          problem.result, problem.result.shape,
                                          ComputeKind::I64),
                   .axis = axes.front(),
                   .wantsLast = given.integer("select_last_index") != 0};
  std::string symbol = joinSymbol(
      {"ref", getOpName(problem.op), std::to_string(kernel.axis),
       kernel.wantsLast ? "last" : "first", kernel.reduction.input.symbolPart(),
       kernel.result.symbolPart()});
  int64_t tasks = kernel.reduction.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
