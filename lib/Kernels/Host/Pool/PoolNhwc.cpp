//===- PoolNhwc.cpp - Pooling in vectors of channels ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maximum, average and global pools over nhwc and blocked tensors. A maximum of
// 8-bit integers that keeps its scale never leaves 8 bits.
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Host/Solvers.h"
#include "Pool.h"

using namespace mlir;
using namespace tarpon;

namespace {

class PoolNhwc final : public Solver {
public:
  StringRef id() const override { return "pool-nhwc-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// A few independent vectors hide the latency of a maximum or a sum.
constexpr int64_t kUnroll = 4;

struct PoolNhwcKernel {
  PoolReduction reduction;
  bool countsPadding;
  FlatTensor input;
  VectorOutput output;
  ChannelsLastLoop loop;
  Window window;

  void emit(KernelBuilder &b) const;
  int64_t getLanes(KernelBuilder &b) const;
  /// The pool of `count` vectors from element `c` of a pixel.
  SmallVector<Value> emitWindow(KernelBuilder &b, const BoundFlatTensor &in,
                                const ChannelsLastRow &row,
                                ArrayRef<WindowRange> ranges, Value c,
                                int64_t count, Value mask) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const VectorOutput::Bound &out,
               const ChannelsLastRow &row) const;
};

} // namespace

int64_t PoolNhwcKernel::getLanes(KernelBuilder &b) const {
  int64_t lanes =
      reduction.isInteger ? b.getTarget().vectorBits / 8 : b.lanes();
  return loop.fittingLanes(lanes);
}

SmallVector<Value> PoolNhwcKernel::emitWindow(
    KernelBuilder &b, const BoundFlatTensor &in, const ChannelsLastRow &row,
    ArrayRef<WindowRange> ranges, Value c, int64_t count, Value mask) const {
  int64_t lanes = getLanes(b);
  SmallVector<Value> start(count, reduction.identity(b, lanes));
  auto cell = [&](ArrayRef<Value>, ArrayRef<Value> place, ValueRange soFar) {
    Value offset = b.add(loop.inputPixel(b, row, place), c);
    SmallVector<Value> next;
    for (int64_t i = 0; i < count; ++i)
      next.push_back(reduction.combine(
          b, reduction.load(b, in, b.add(offset, i * lanes), lanes, mask),
          soFar[i]));
    return next;
  };
  return forWindow(b, ranges, start, cell);
}

void PoolNhwcKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                             const VectorOutput::Bound &out,
                             const ChannelsLastRow &row) const {
  int64_t lanes = getLanes(b);
  b.forLoop(loop.outWidth(b), [&](Value x) {
    SmallVector<Value> place(row.outer);
    place.push_back(x);
    SmallVector<WindowRange> ranges;
    for (int64_t dim = 0; dim < window.rank(); ++dim)
      ranges.push_back(window.at(b, dim, place[dim]));
    Value inside, divisor;
    if (!reduction.isMax) {
      inside = emitPoolCount(b, window, ranges, place, false);
      divisor = emitPoolCount(b, window, ranges, place, countsPadding);
    }
    auto group = [&](Value c, int64_t count, Value mask) {
      SmallVector<Value> values =
          emitWindow(b, in, row, ranges, c, count, mask);
      for (auto [i, value] : llvm::enumerate(values)) {
        VectorPlace at =
            loop.outputPlace(b, row, x, b.add(c, i * lanes), lanes, mask);
        if (reduction.isInteger) {
          const BoundFlatTensor &result = out.getResult();
          Value pointer = result.pointerTo(b, result.offsetOf(b, at));
          mask ? b.maskedStore(value, pointer, mask) : b.store(value, pointer);
          continue;
        }
        value = reduction.isMax ? in.dequantize(b, value)
                                : emitPoolMean(b, in, value, inside, divisor);
        out.store(b, at, value);
      }
    };
    forVectorGroups(b, row.begin, row.end, lanes, kUnroll, group);
  });
}

void PoolNhwcKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const ChannelsLastRow &row) { emitRow(b, in, out, row); });
}

Applicability PoolNhwc::isApplicable(const Problem &problem,
                                     const TargetInfo & /*target*/) const {
  if (!isPool(problem.op))
    return Applicability::no("is not a pool");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (Applicability answer = ChannelsLastLoop::check(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

SolutionPlan PoolNhwc::plan(const Problem &original,
                            const TargetInfo & /*target*/,
                            const PerfConfig & /*config*/) const {
  Problem problem = asWindowedPool(original);
  const TensorDesc &input = problem.operands[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  PoolReduction reduction = PoolReduction::of(problem);
  PoolNhwcKernel kernel{
      .reduction = reduction,
      .countsPadding = !reduction.isMax && problem.integer("count_include_pad"),
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .loop = ChannelsLastLoop(launch, problem, getPoolCost(problem)),
      .window =
          Window(launch, problem, problem.ints("kernel"), input.spatial())};
  std::string symbol = joinSymbol(
      {getOpName(problem.op), kernel.countsPadding ? "padded" : "",
       kernel.reduction.isInteger ? "exact" : "", kernel.loop.symbolPart(),
       kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getPoolNhwc() {
  static const PoolNhwc solver;
  return solver;
}
