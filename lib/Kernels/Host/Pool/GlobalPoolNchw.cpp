//===- GlobalPoolNchw.cpp - Global pooling of rows of pixels --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/VectorFold.h"
#include "Host/Solvers.h"
#include "Pool.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class GlobalPoolNchw final : public Solver {
public:
  StringRef id() const override { return "global-pool-nchw-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (problem.op != OpKind::GlobalMaxPool &&
        problem.op != OpKind::GlobalAvgPool)
      return Applicability::no("is not a global pool");
    if (!isVectorizable(problem.operands[0]))
      return notVectorizable("the operand");
    // With one pixel per channel, nchw and nhwc have the same memory.
    if (problem.operands[0].layout.kind != Layout::NCHW ||
        problem.result.layout.kind == Layout::Blocked)
      return Applicability::no("needs an operand in nchw");
    return VectorOutput::check(problem);
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct GlobalPoolKernel {
  bool isMax;
  FlatTensor input;
  VectorOutput output;
  int64_t planes, planesPerTask, pixels, channels; ///< parameters

  void emit(KernelBuilder &b) const;
  Value emitPlane(KernelBuilder &b, const BoundFlatTensor &in, Value start,
                  Value size) const;
};

} // namespace

/// The maximum or sum of a plane's raw elements.
Value GlobalPoolKernel::emitPlane(KernelBuilder &b, const BoundFlatTensor &in,
                                  Value start, Value size) const {
  int64_t lanes = b.lanes();
  Value neutral =
      b.cstLike(b.vec(b.getF32Type(), lanes),
                isMax ? -std::numeric_limits<double>::infinity() : 0);
  auto combine = [&](Value value, Value soFar) {
    return isMax ? b.maxF(value, soFar) : b.addF(soFar, value);
  };
  Value whole = b.mul(b.div(size, lanes), lanes);
  Value total =
      emitBlockedFold(
          b, b.cst(0), whole, lanes, neutral,
          [&](Value i, ValueRange soFar) {
            Value value = in.loadRaw(b, b.add(start, i), lanes);
            return FoldSteps::Values{combine(value, soFar.front())};
          },
          [&](ValueRange left, ValueRange right) {
            return FoldSteps::Values{combine(left.front(), right.front())};
          })
          .front();
  Value mask = b.firstLanes(b.sub(size, whole), lanes);
  Value tail = in.loadRaw(b, b.add(start, whole), lanes, mask);
  total = combine(b.select(mask, tail, neutral), total);
  return isMax ? b.reduceMax(total) : b.reduceAdd(total);
}

void GlobalPoolKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value size = b.getParam(pixels), perTask = b.getParam(planesPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(planes));
  b.forLoop(first, last, b.cst(1), [&](Value plane) {
    Value value = emitPlane(b, in, b.mul(plane, size), size);
    value = isMax ? in.dequantize(b, value)
                  : emitPoolMean(b, in, value, size, size);
    VectorPlace place;
    place.offset = plane;
    place.channel = b.rem(plane, b.getParam(channels));
    out.store(b, place, value);
  });
}

SolutionPlan GlobalPoolNchw::plan(const Problem &problem,
                                  const TargetInfo & /*target*/,
                                  const PerfConfig & /*config*/) const {
  const TensorDesc &input = problem.operands[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  constexpr int64_t kElementsPerTask = 16384;
  int64_t planes = input.shape[0] * input.shape[1];
  int64_t perTask = std::max<int64_t>(
      1, kElementsPerTask / std::max<int64_t>(1, input.spatialSize()));
  GlobalPoolKernel kernel{
      .isMax = problem.op == OpKind::GlobalMaxPool,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .planes = launch.addParam(planes),
      .planesPerTask = launch.addParam(perTask),
      .pixels = launch.addParam(input.spatialSize()),
      .channels = launch.addParam(input.shape[1])};
  std::string symbol =
      joinSymbol({getOpName(problem.op), "nchw", kernel.input.symbolPart(),
                  kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      std::max<int64_t>(1, llvm::divideCeil(planes, perTask)));
  return plan;
}

const Solver &tarpon::getGlobalPoolNchw() {
  static const GlobalPoolNchw solver;
  return solver;
}
