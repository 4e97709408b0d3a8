//===- Reduce.cpp - Vectorised reductions ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the rows form the elements of one result become the lanes of vectors; in
// the columns form lanes are neighbouring results. The order of the elements
// depends on the problem and the vector width only.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorFold.h"
#include "Host/Solvers.h"
#include "ReduceKind.h"
#include "ReduceView.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class Reduce final : public Solver {
public:
  StringRef id() const override { return "reduce-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The number of vectors of results that are computed together in the columns
/// form.
constexpr int64_t kVectors = 4;

struct ReduceKernel {
  using Values = ReduceKind::Values;

  ReduceKind kind;
  bool inRows;
  FlatTensor input, result;
  int64_t items, perTask, inner, blocks, inverseCount; ///< parameters
  int64_t keptInner, keptFrom, keptTo;                 ///< parameters
  int64_t reducedSize, reducedFrom;                    ///< parameters

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const BoundFlatTensor &out, Value from, Value to) const;
  void emitColumns(KernelBuilder &b, const BoundFlatTensor &in,
                   const BoundFlatTensor &out, Value from, Value to,
                   int64_t vectors, Value mask) const;
  /// Folds `body(offset, so far)` over the dimensions around the innermost,
  /// for as many vectors as `neutral` has; along the longer one, which is the
  /// inner one as a rule, in blocks.
  Values foldOuter(KernelBuilder &b, Value from, const Values &neutral,
                   function_ref<Values(Value, ValueRange)> body) const;
  /// Combines two accumulators for each of several vectors.
  Values combineAll(KernelBuilder &b, ValueRange left, ValueRange right) const;
};

} // namespace

ReduceKernel::Values ReduceKernel::combineAll(KernelBuilder &b, ValueRange left,
                                              ValueRange right) const {
  size_t width = kind.getNeutral(b, left.front().getType()).size();
  Values combined;
  for (size_t at = 0; at < left.size(); at += width)
    combined.append(
        kind.combine(b, left.slice(at, width), right.slice(at, width)));
  return combined;
}

ReduceKernel::Values
ReduceKernel::foldOuter(KernelBuilder &b, Value from, const Values &neutral,
                        function_ref<Values(Value, ValueRange)> body) const {
  auto combine = [&](ValueRange left, ValueRange right) {
    return combineAll(b, left, right);
  };
  auto offset = [&](Value start, int64_t dim, Value i) {
    return b.add(start, b.mul(i, b.getParam(reducedFrom + dim)));
  };
  return b.forLoop(b.cst(0), b.getParam(reducedSize), b.cst(1), neutral,
                   [&](Value i, ValueRange total) {
                     Value outer = offset(from, 0, i), zero = b.cst(0);
                     Value size = b.getParam(reducedSize + 1);
                     auto step = [&](Value j, ValueRange soFar) {
                       return body(offset(outer, 1, j), soFar);
                     };
                     if (!kind.isBlocked())
                       return b.forLoop(zero, size, b.cst(1), total, step);
                     return combine(total,
                                    emitBlockedFold(b, zero, size, /*step=*/1,
                                                    neutral, step, combine));
                   });
}

void ReduceKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                           const BoundFlatTensor &out, Value from,
                           Value to) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  FoldSteps steps{
      .neutral = kind.getNeutral(b, type),
      .step =
          [&](Value i, Value mask, ValueRange soFar) {
            Values next = kind.step(b, in.load(b, i, lanes), soFar);
            for (auto [value, old] : llvm::zip_equal(next, soFar))
              value = selectLanes(b, mask, value, old);
            return next;
          },
      .combine = [&](ValueRange left,
                     ValueRange right) { return kind.combine(b, left, right); },
      .inBlocks = kind.isBlocked()};
  Values folded =
      foldOuter(b, from, steps.neutral, [&](Value offset, ValueRange soFar) {
        Values row =
            emitFold(b, offset, b.add(offset, b.getParam(inner)), steps);
        return kind.combine(b, soFar, row);
      });
  Value value = kind.finish(b, kind.combineLanes(b, folded),
                            b.getFloatParam(inverseCount));
  out.store(b, value, to);
}

void ReduceKernel::emitColumns(KernelBuilder &b, const BoundFlatTensor &in,
                               const BoundFlatTensor &out, Value from, Value to,
                               int64_t vectors, Value mask) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  Values start;
  for (int64_t v = 0; v < vectors; ++v)
    start.append(kind.getNeutral(b, type));
  int64_t width = static_cast<int64_t>(start.size()) / vectors;
  Values folded =
      foldOuter(b, from, start, [&](Value offset, ValueRange soFar) {
        Values next;
        for (int64_t v = 0; v < vectors; ++v)
          next.append(kind.step(b, in.load(b, b.add(offset, v * lanes), lanes),
                                soFar.slice(v * width, width)));
        return next;
      });
  Value scale = b.broadcast(b.getFloatParam(inverseCount), lanes);
  for (int64_t v = 0; v < vectors; ++v) {
    Value value =
        kind.finish(b, ArrayRef(folded).slice(v * width, width), scale);
    out.store(b, value, b.add(to, v * lanes), mask);
  }
}

void ReduceKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes(), block = kVectors * lanes;
  BoundFlatTensor in = input.bind(b), out = result.bind(b);
  Value numBlocks = b.getParam(blocks), size = b.getParam(inner);
  forItems(b, items, perTask, [&](Value item) {
    Value outer = b.div(item, numBlocks), second = b.getParam(keptInner);
    Value index[] = {b.div(outer, second), b.rem(outer, second)};
    Value from = b.cst(0), to = b.cst(0);
    for (int64_t dim = 0; dim < 2; ++dim) {
      from = b.add(from, b.mul(index[dim], b.getParam(keptFrom + dim)));
      to = b.add(to, b.mul(index[dim], b.getParam(keptTo + dim)));
    }
    if (inRows)
      return emitRow(b, in, out, from, to);
    Value first = b.mul(b.rem(item, numBlocks), block);
    Value last = b.minS(b.add(first, block), size);
    b.ifThenElse(
        b.eq(b.sub(last, first), b.cst(block)),
        [&] {
          emitColumns(b, in, out, b.add(from, first), b.add(to, first),
                      kVectors, Value());
        },
        [&] {
          b.forLoop(first, last, b.cst(lanes), [&](Value i) {
            emitColumns(b, in, out, b.add(from, i), b.add(to, i), 1,
                        b.firstLanes(b.sub(last, i), lanes));
          });
        });
  });
}

static std::optional<ReduceView> getView(const Problem &problem) {
  return ReduceView::get(problem.operands[0], problem.ints("axes"),
                         problem.integer("keepdims") != 0, problem.result);
}

Applicability Reduce::isApplicable(const Problem &problem,
                                   const TargetInfo & /*target*/) const {
  if (!ReduceKind::get(problem.op))
    return Applicability::no("is not a reduction");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc, a result in the same order, "
                             "and few dimensions between the reduced ones");
  return VectorOutput::check(problem);
}

SolutionPlan Reduce::plan(const Problem &problem, const TargetInfo &target,
                          const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ReduceView view = *getView(problem);
  int64_t together = view.inRows ? 1 : kVectors * target.lanes();
  int64_t numBlocks = view.inRows ? 1 : llvm::divideCeil(view.inner, together);
  int64_t numItems = view.getOuter() * numBlocks;
  int64_t each = getItemsPerTask(view.getLength() * together);
  auto addDims = [&](const std::array<ReduceView::Dim, 2> &dims,
                     int64_t ReduceView::Dim::*field) {
    return launch.addParams({dims[0].*field, dims[1].*field});
  };
  ReduceKernel kernel{
      .kind = *ReduceKind::get(problem.op),
      .inRows = view.inRows,
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .items = launch.addParam(numItems),
      .perTask = launch.addParam(each),
      .inner = launch.addParam(view.inner),
      .blocks = launch.addParam(numBlocks),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(view.getLength())),
      .keptInner = launch.addParam(view.kept[1].size),
      .keptFrom = addDims(view.kept, &ReduceView::Dim::from),
      .keptTo = addDims(view.kept, &ReduceView::Dim::to),
      .reducedSize = addDims(view.reduced, &ReduceView::Dim::size),
      .reducedFrom = addDims(view.reduced, &ReduceView::Dim::from)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), view.inRows ? "rows" : "columns",
                  kernel.input.symbolPart(), "to", kernel.result.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(numItems, each));
  return plan;
}

const Solver &tarpon::getReduce() {
  static const Reduce solver;
  return solver;
}
