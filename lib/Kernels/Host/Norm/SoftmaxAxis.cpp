//===- SoftmaxAxis.cpp - Softmax and log-softmax along any dimension ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisLoop.h"
#include "Common/MathFunctions.h"
#include "Common/TensorAccess.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {

class SoftmaxAxis final : public Solver {
public:
  StringRef id() const override { return "softmax-axis-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.35;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct SoftmaxKernel {
  bool isLog;
  FlatTensor input;
  VectorOutput output;
  AxisLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void SoftmaxKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value scratch = b.getScratch();
  VectorType type = b.vec(b.getF32Type(), b.lanes());
  auto load = [&](const AxisVector &v) {
    return in.load(b, v.place.offset, v.place.lanes);
  };
  loop.emit(b, [&](const AxisLoop::Lines &lines) {
    auto largest = lines.fold(FoldKind::Max, [&](const AxisVector &v, Value m) {
      return b.maxF(load(v), m);
    });
    // The sum divides the exponentials, or its logarithm moves the distances.
    auto sum = lines.fold(FoldKind::Sum, [&](const AxisVector &v, Value s) {
      Value distance = b.subF(load(v), largest[v.group]);
      Value power = emitExp(b, distance);
      b.store(isLog ? distance : power, b.offset(scratch, v.scratchAt));
      return b.addF(s, power);
    });
    for (Value &value : sum)
      value = isLog ? emitLog(b, value) : b.divF(b.cstLike(type, 1), value);
    lines.forEach([&](const AxisVector &v) {
      Value kept = b.load(b.offset(scratch, v.scratchAt), type);
      out.store(b, v.place,
                isLog ? b.subF(kept, sum[v.group])
                      : b.mulF(kept, sum[v.group]));
    });
  });
}

Applicability SoftmaxAxis::isApplicable(const Problem &problem,
                                        const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Softmax && problem.op != OpKind::LogSoftmax)
    return Applicability::no("is neither a softmax nor a log-softmax");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  if (Applicability answer = AxisLoop::check(input, problem.integer("axis"));
      !answer)
    return answer;
  if (VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels");
  return VectorOutput::check(problem);
}

SolutionPlan SoftmaxAxis::plan(const Problem &problem, const TargetInfo &target,
                               const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0];
  SoftmaxKernel kernel{
      .isLog = problem.op == OpKind::LogSoftmax,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .loop = AxisLoop(launch, input, problem.integer("axis"), target)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), "axis", kernel.loop.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks(), scratch = kernel.loop.scratchBytes();
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks, scratch);
  return plan;
}

const Solver &tarpon::getSoftmaxAxis() {
  static const SoftmaxAxis solver;
  return solver;
}
