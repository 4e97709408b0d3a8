//===- ArgReduce.cpp - Vectorised arg max and arg min ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside the best value so far, each lane keeps its index. Of equal values the
// first one wins, or the last one on request.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorFold.h"
#include "Host/Solvers.h"
#include "ReduceView.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class ArgReduce final : public Solver {
public:
  StringRef id() const override { return "arg-reduce-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.6;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct ArgReduceKernel {
  using Values = SmallVector<Value>;
  using Float = arith::CmpFPredicate;

  bool wantsLeast, wantsLast, inRows;
  FlatTensor input;
  int64_t result;                        ///< buffer of i64
  int64_t items, perTask, inner, blocks; ///< parameters
  int64_t keptInner, keptFrom, keptTo;   ///< parameters
  int64_t reducedSize, reducedFrom;      ///< parameters

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in, Value from,
               Value to) const;
  void emitColumn(KernelBuilder &b, const BoundFlatTensor &in, Value from,
                  Value to, Value mask) const;
  Values getNeutral(KernelBuilder &b) const;
  /// Returns the better one of a value with its index and of a later one.
  Values step(KernelBuilder &b, ValueRange soFar, Value x, Value index) const;
  /// Returns the better one of two, in any order.
  Values combine(KernelBuilder &b, ValueRange left, ValueRange right) const;
  Value resultAt(KernelBuilder &b, Value index) const {
    return b.offset(b.getBuffer(result), b.mul(index, 8));
  }
};

} // namespace

static Value toI32(KernelBuilder &b, Value value) {
  return arith::TruncIOp::create(b, b.getI32Type(), value);
}

ArgReduceKernel::Values ArgReduceKernel::getNeutral(KernelBuilder &b) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int64_t lanes = b.lanes();
  // An infinity equal to the neutral element does not win, but if all elements
  // are such the first index is right.
  return {b.cstLike(b.vec(b.getF32Type(), lanes),
                    wantsLeast ? infinity : -infinity),
          b.cstLike(b.vec(b.getI32Type(), lanes), wantsLast ? -1 : 0)};
}

ArgReduceKernel::Values ArgReduceKernel::step(KernelBuilder &b,
                                              ValueRange soFar, Value x,
                                              Value index) const {
  Float predicate = wantsLeast ? (wantsLast ? Float::OLE : Float::OLT)
                               : (wantsLast ? Float::OGE : Float::OGT);
  Value isBetter = arith::CmpFOp::create(b, predicate, x, soFar[0]);
  return {b.select(isBetter, x, soFar[0]), b.select(isBetter, index, soFar[1])};
}

ArgReduceKernel::Values ArgReduceKernel::combine(KernelBuilder &b,
                                                 ValueRange left,
                                                 ValueRange right) const {
  Value isBetter = arith::CmpFOp::create(
      b, wantsLeast ? Float::OLT : Float::OGT, right[0], left[0]);
  Value isEqual = arith::CmpFOp::create(b, Float::OEQ, right[0], left[0]);
  Value isPreferred =
      b.cmp(wantsLast ? KernelBuilder::Pred::sgt : KernelBuilder::Pred::slt,
            right[1], left[1]);
  Value wins = b.orI(isBetter, b.andI(isEqual, isPreferred));
  return {b.select(wins, right[0], left[0]), b.select(wins, right[1], left[1])};
}

void ArgReduceKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                              Value from, Value to) const {
  int64_t lanes = b.lanes();
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vec(b.getI32Type(), lanes),
                                ArrayRef<int32_t>(numbers)));
  FoldSteps steps{
      .neutral = getNeutral(b),
      .step =
          [&](Value i, Value mask, ValueRange soFar) {
            Value x = in.load(b, b.add(from, i), lanes);
            Value index = b.add(b.broadcast(toI32(b, i), lanes), iota);
            Values next = step(b, soFar, x, index);
            for (auto [value, old] : llvm::zip_equal(next, soFar))
              value = selectLanes(b, mask, value, old);
            return next;
          },
      .combine = [&](ValueRange left,
                     ValueRange right) { return combine(b, left, right); }};
  Values best = emitFold(b, b.cst(0), b.getParam(inner), steps);
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(lanes + i);
    }
    Values lows, highs;
    for (Value vector : best) {
      lows.push_back(b.shuffle(vector, vector, low));
      highs.push_back(b.shuffle(vector, vector, high));
    }
    best = combine(b, lows, highs);
  }
  Value index = vector::ExtractOp::create(b, best[1], ArrayRef<int64_t>{0});
  b.store(arith::ExtSIOp::create(b, b.getI64Type(), index), resultAt(b, to));
}

void ArgReduceKernel::emitColumn(KernelBuilder &b, const BoundFlatTensor &in,
                                 Value from, Value to, Value mask) const {
  int64_t lanes = b.lanes();
  Value stride = b.getParam(reducedFrom);
  Values best =
      b.forLoop(b.cst(0), b.getParam(reducedSize), b.cst(1), getNeutral(b),
                [&](Value j, ValueRange soFar) {
                  Value x = in.load(b, b.add(from, b.mul(j, stride)), lanes);
                  return step(b, soFar, x, b.broadcast(toI32(b, j), lanes));
                });
  Value index =
      arith::ExtSIOp::create(b, b.vec(b.getI64Type(), lanes), best[1]);
  if (mask)
    b.maskedStore(index, resultAt(b, to), mask);
  else
    b.store(index, resultAt(b, to));
}

void ArgReduceKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  BoundFlatTensor in = input.bind(b);
  Value numBlocks = b.getParam(blocks);
  forItems(b, items, perTask, [&](Value item) {
    Value outer = b.div(item, numBlocks), second = b.getParam(keptInner);
    Value index[] = {b.div(outer, second), b.rem(outer, second)};
    Value from = b.cst(0), to = b.cst(0);
    for (int64_t dim = 0; dim < 2; ++dim) {
      from = b.add(from, b.mul(index[dim], b.getParam(keptFrom + dim)));
      to = b.add(to, b.mul(index[dim], b.getParam(keptTo + dim)));
    }
    if (inRows)
      return emitRow(b, in, from, to);
    Value first = b.mul(b.rem(item, numBlocks), lanes);
    Value left = b.sub(b.getParam(inner), first);
    emitColumn(b, in, b.add(from, first), b.add(to, first),
               b.firstLanes(left, lanes));
  });
}

static std::optional<ReduceView> getView(const Problem &problem) {
  return ReduceView::get(problem.operands[0], problem.ints("axis"),
                         problem.integer("keepdims") != 0, problem.result);
}

Applicability ArgReduce::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::ArgMax && problem.op != OpKind::ArgMin)
    return Applicability::no("is neither an arg max nor an arg min");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input))
    return notVectorizable("the operand");
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc, and a result in the same "
                             "order");
  if (input.shape[problem.integer("axis")] >
      std::numeric_limits<int32_t>::max())
    return Applicability::no("has more than 2^31 elements along the axis");
  return Applicability::yes();
}

SolutionPlan ArgReduce::plan(const Problem &problem, const TargetInfo &target,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ReduceView view = *getView(problem);
  int64_t together = view.inRows ? 1 : target.lanes();
  int64_t numBlocks = view.inRows ? 1 : llvm::divideCeil(view.inner, together);
  int64_t numItems = view.getOuter() * numBlocks;
  int64_t each = getItemsPerTask(view.getLength() * together);
  ArgReduceKernel kernel{
      .wantsLeast = problem.op == OpKind::ArgMin,
      .wantsLast = problem.integer("select_last_index") != 0,
      .inRows = view.inRows,
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .result = launch.addResult(),
      .items = launch.addParam(numItems),
      .perTask = launch.addParam(each),
      .inner = launch.addParam(view.inner),
      .blocks = launch.addParam(numBlocks),
      .keptInner = launch.addParam(view.kept[1].size),
      .keptFrom = launch.addParams({view.kept[0].from, view.kept[1].from}),
      .keptTo = launch.addParams({view.kept[0].to, view.kept[1].to}),
      .reducedSize = launch.addParam(view.reduced[1].size),
      .reducedFrom = launch.addParam(view.reduced[1].from)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), kernel.wantsLast ? "last" : "first",
                  view.inRows ? "rows" : "columns", kernel.input.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(numItems, each));
  return plan;
}

const Solver &tarpon::getArgReduce() {
  static const ArgReduce solver;
  return solver;
}
