//===- SoftmaxBackward.cpp - Gradients of softmax and log-softmax ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computed from the result y and its gradient dy, along the axis:
//   softmax:     dx = y * (dy - sum of y * dy)
//   log-softmax: dx = dy - exp(y) * sum of dy
//
//===----------------------------------------------------------------------===//

#include "AxisLoop.h"
#include "Common/MathFunctions.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {

class SoftmaxBackward final : public Solver {
public:
  StringRef id() const override { return "softmax-backward-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct GradientKernel {
  bool isLog;
  FlatTensor y, dy;
  VectorOutput output;
  AxisLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void GradientKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor values = y.bind(b), gradients = dy.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const AxisLoop::Lines &lines) {
    auto sum = lines.fold(FoldKind::Sum, [&](const AxisVector &v, Value s) {
      Value gradient = gradients.load(b, v.place.offset, v.place.lanes);
      if (isLog)
        return b.addF(s, gradient);
      return b.fma(values.load(b, v.place.offset, v.place.lanes), gradient, s);
    });
    lines.forEach([&](const AxisVector &v) {
      const VectorPlace &place = v.place;
      Value gradient = gradients.load(b, place.offset, place.lanes);
      Value value = values.load(b, place.offset, place.lanes);
      Value total = sum[v.group];
      if (isLog)
        gradient = b.subF(gradient, b.mulF(emitExp(b, value), total));
      else
        gradient = b.mulF(value, b.subF(gradient, total));
      out.store(b, place, gradient);
    });
  });
}

Applicability
SoftmaxBackward::isApplicable(const Problem &problem,
                              const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::SoftmaxBackward &&
      problem.op != OpKind::LogSoftmaxBackward)
    return Applicability::no("is not the gradient of a softmax");
  for (int i = 0; i < 2; ++i)
    if (!isVectorizable(problem.operands[i]) ||
        !(problem.operands[i].layout == problem.result.layout))
      return notVectorizable("operands and result differ in layout, or one");
  if (Applicability answer =
          AxisLoop::check(problem.result, problem.integer("axis"));
      !answer)
    return answer;
  if (VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels");
  return VectorOutput::check(problem);
}

SolutionPlan SoftmaxBackward::plan(const Problem &problem,
                                   const TargetInfo &target,
                                   const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  GradientKernel kernel{
      .isLog = problem.op == OpKind::LogSoftmaxBackward,
      .y = FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .dy = FlatTensor(launch, {BufferSlot::Operand, 1}, problem.operands[1]),
      .output = VectorOutput(launch, problem),
      .loop =
          AxisLoop(launch, problem.result, problem.integer("axis"), target)};
  std::string symbol = joinSymbol(
      {getOpName(problem.op), kernel.loop.symbolPart(), kernel.y.symbolPart(),
       kernel.dy.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getSoftmaxBackward() {
  static const SoftmaxBackward solver;
  return solver;
}
