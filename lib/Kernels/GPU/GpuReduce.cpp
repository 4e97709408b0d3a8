//===- GpuReduce.cpp - Reductions by groups of lanes ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the rows form a wave or a workgroup folds the elements of one result; in
// the columns form each lane has neighbouring results of its own. The order of
// the elements depends on the problem and the config only.
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"
#include "Host/Reduce/ReduceKind.h"
#include "Host/Reduce/ReduceView.h"
#include "OneFieldSolver.h"
#include "RowWork.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GpuReduce final : public OneFieldSolver {
public:
  StringRef id() const override { return "gpu-reduce-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  StringRef getField(const Problem &problem) const override;
  std::vector<int64_t> getValues(const Problem &problem,
                                 const TargetInfo &target) const override;
  int64_t chooseValue(const Problem &problem,
                      const TargetInfo &target) const override;
};

/// The dimensions around the innermost one.
struct OuterDims {
  int64_t keptFrom, keptTo;         ///< parameters, two each
  int64_t reducedSize, reducedFrom; ///< parameters, two each
  MagicDivisor keptInner;

  OuterDims(LaunchBuilder &launch, const ReduceView &view);
  struct Start {
    Value from, to;
  };
  /// The start of the elements with kept index `outer`, and their result.
  Start getStart(KernelBuilder &b, Value outer) const;
  /// Folds `body(offset, so far)` over the reduced dimensions.
  ReduceKind::Values
  fold(KernelBuilder &b, Value from, ReduceKind::Values start,
       function_ref<ReduceKind::Values(Value, ValueRange)> body) const;
};

struct GpuRowReduction {
  ReduceKind kind;
  FlatTensor input, result;
  GpuRowWork work;
  OuterDims outer;
  int64_t inner, inverseCount; ///< parameters

  void emit(KernelBuilder &b) const;
};

struct GpuColumnReduction {
  ReduceKind kind;
  int64_t vector;
  FlatTensor input, result;
  OuterDims outer;
  MagicDivisor innerVectors;
  int64_t total, inverseCount; ///< parameters

  void emit(KernelBuilder &b) const;
};

} // namespace

OuterDims::OuterDims(LaunchBuilder &launch, const ReduceView &view)
    : keptFrom(launch.addParams({view.kept[0].from, view.kept[1].from})),
      keptTo(launch.addParams({view.kept[0].to, view.kept[1].to})),
      reducedSize(
          launch.addParams({view.reduced[0].size, view.reduced[1].size})),
      reducedFrom(
          launch.addParams({view.reduced[0].from, view.reduced[1].from})),
      keptInner(launch, view.kept[1].size) {}

OuterDims::Start OuterDims::getStart(KernelBuilder &b, Value outer) const {
  auto [first, second] = keptInner.bind(b).divRem(b, outer);
  Value index[] = {first, second};
  Start start{b.cst(0), b.cst(0)};
  for (int64_t dim = 0; dim < 2; ++dim) {
    start.from =
        b.add(start.from, b.mul(index[dim], b.getParam(keptFrom + dim)));
    start.to = b.add(start.to, b.mul(index[dim], b.getParam(keptTo + dim)));
  }
  return start;
}

ReduceKind::Values OuterDims::fold(
    KernelBuilder &b, Value from, ReduceKind::Values start,
    function_ref<ReduceKind::Values(Value, ValueRange)> body) const {
  auto loop = [&](int64_t dim, Value offset, ValueRange soFar, auto &&next) {
    Value stride = b.getParam(reducedFrom + dim);
    return b.forLoop(b.cst(0), b.getParam(reducedSize + dim), b.cst(1), soFar,
                     [&](Value i, ValueRange inner) {
                       return next(b.add(offset, b.mul(i, stride)), inner);
                     });
  };
  return loop(0, from, start, [&](Value offset, ValueRange soFar) {
    return loop(1, offset, soFar, body);
  });
}

void GpuRowReduction::emit(KernelBuilder &b) const {
  using Values = ReduceKind::Values;
  BoundFlatTensor in = input.bind(b), out = result.bind(b);
  auto foldElements = [&](Value offset) {
    return [&, offset](Value i, int64_t lanes, ValueRange soFar) -> Values {
      Value x = in.load(b, b.add(offset, i), lanes);
      if (lanes == 1)
        return kind.step(b, x, soFar);
      // The lanes of a vector come first, then the earlier value.
      Values folded = kind.step(b, x, kind.getNeutral(b, x.getType()));
      return kind.combine(b, soFar, kind.combineLanes(b, folded));
    };
  };
  work.emit(b, [&](Value row) {
    OuterDims::Start start = outer.getStart(b, row);
    Values neutral = kind.getNeutral(b, b.getF32Type());
    Values folded = outer.fold(
        b, start.from, neutral, [&](Value offset, ValueRange soFar) -> Values {
          return work.fold(b, b.getParam(inner), Values(soFar),
                           foldElements(offset));
        });
    folded = work.combine(b, folded, [&](ValueRange left, ValueRange right) {
      return kind.combine(b, left, right);
    });
    Value value = kind.finish(b, folded, b.getFloatParam(inverseCount));
    work.once(b, [&] { out.store(b, value, start.to); });
  });
}

void GpuColumnReduction::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b), out = result.bind(b);
  Value index = b.add(b.mul(b.getBegin(), b.getLaneCount()), b.getLane());
  Type type =
      vector == 1 ? Type(b.getF32Type()) : b.vec(b.getF32Type(), vector);
  b.ifThen(b.slt(index, b.getParam(total)), [&] {
    auto [item, column] = innerVectors.bind(b).divRem(b, index);
    OuterDims::Start start = outer.getStart(b, item);
    Value first = b.mul(column, vector);
    ReduceKind::Values folded =
        outer.fold(b, b.add(start.from, first), kind.getNeutral(b, type),
                   [&](Value offset, ValueRange soFar) {
                     return kind.step(b, in.load(b, offset, vector), soFar);
                   });
    Value scale = b.broadcast(b.getFloatParam(inverseCount), vector);
    out.store(b, kind.finish(b, folded, scale), b.add(start.to, first));
  });
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

static std::optional<ReduceView> getView(const Problem &problem) {
  return ReduceView::get(problem.operands[0], problem.ints("axes"),
                         problem.integer("keepdims") != 0, problem.result);
}

Applicability GpuReduce::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (!ReduceKind::get(problem.op))
    return Applicability::no("is not a reduction");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (!problem.epilogue.empty())
    return Applicability::no("has an epilogue");
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc, a result in the same order, "
                             "and few dimensions between the reduced ones");
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

/// Rows are computed by a group of lanes, columns by workgroups.
StringRef GpuReduce::getField(const Problem &problem) const {
  return getView(problem)->inRows ? "lanes" : "workgroup";
}

std::vector<int64_t> GpuReduce::getValues(const Problem &problem,
                                          const TargetInfo &target) const {
  return getView(problem)->inRows ? GpuRowWork::getLaneChoices(target)
                                  : getWorkgroups(*target.gpu);
}

static int64_t chooseInputVector(const Problem &problem, const ReduceView &view,
                                 const TargetInfo &target) {
  Problem alone = problem;
  alone.result = problem.operands[0];
  return chooseRowVector(alone, view.inner, target);
}

int64_t GpuReduce::chooseValue(const Problem &problem,
                               const TargetInfo &target) const {
  ReduceView view = *getView(problem);
  return view.inRows
             ? GpuRowWork::chooseLanes(target, view.inner,
                                       chooseInputVector(problem, view, target))
             : getWorkgroups(*target.gpu).front();
}

static void planRows(const Problem &problem, const TargetInfo &target,
                     const ReduceView &view, int64_t lanes,
                     SolutionPlan &plan) {
  LaunchBuilder launch(plan);
  GpuRowReduction kernel{
      .kind = *ReduceKind::get(problem.op),
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .work = GpuRowWork(launch, target, view.getOuter(), lanes,
                         chooseInputVector(problem, view, target)),
      .outer = OuterDims(launch, view),
      .inner = launch.addParam(view.inner),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(view.getLength()))};
  // The logarithm of a sum of exponentials folds two values.
  constexpr int64_t kMostValues = 2;
  finishGpuLaunch(
      plan, launch,
      joinSymbol({getOpName(problem.op), kernel.work.symbolPart(),
                  kernel.input.symbolPart(), "to", kernel.result.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); }, kernel.work.tasks(),
      kernel.work.getWorkgroup(), kernel.work.getLdsBytes(kMostValues));
}

static void planColumns(const Problem &problem, const ReduceView &view,
                        int64_t workgroup, SolutionPlan &plan) {
  LaunchBuilder launch(plan);
  int64_t vector = chooseGpuVector(problem, view.inner);
  int64_t items = view.getOuter() * (view.inner / vector);
  GpuColumnReduction kernel{
      .kind = *ReduceKind::get(problem.op),
      .vector = vector,
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .outer = OuterDims(launch, view),
      .innerVectors = MagicDivisor(launch, view.inner / vector),
      .total = launch.addParam(items),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(view.getLength()))};
  finishGpuLaunch(
      plan, launch,
      joinSymbol({getOpName(problem.op), ("columns" + Twine(vector)).str(),
                  kernel.input.symbolPart(), "to", kernel.result.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(items, workgroup), workgroup);
}

SolutionPlan GpuReduce::plan(const Problem &problem, const TargetInfo &target,
                             const PerfConfig &config) const {
  SolutionPlan plan;
  ReduceView view = *getView(problem);
  int64_t choice = getValue(problem, config);
  if (view.inRows)
    planRows(problem, target, view, choice, plan);
  else
    planColumns(problem, view, choice, plan);
  return plan;
}

const Solver &tarpon::getGpuReduce() {
  static const GpuReduce solver;
  return solver;
}
