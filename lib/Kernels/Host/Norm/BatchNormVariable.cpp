//===- BatchNormVariable.cpp - Batch norm with variable parameters --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inference with parameters that are known only at run time, or that exist for
// each place in an image: a first launch computes the factors.
//
//===----------------------------------------------------------------------===//

#include "ChannelStatistics.h"
#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class BatchNormVariable final : public Solver {
public:
  StringRef id() const override { return "batch-norm-variable-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo & /*target*/) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.6;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

enum Operand : uint8_t { X, Scale, Bias, Mean, Variance };

struct FactorKernel {
  FlatTensor scale, variance;
  int64_t factors; ///< buffer
  int64_t epsilon; ///< parameter
  ChannelLoop loop;

  void emit(KernelBuilder &b) const;
};

struct ApplyKernel {
  PlacedOperand x, mean, factor, bias;
  VectorOutput output;
  VectorLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void FactorKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  BoundFlatTensor scales = scale.bind(b), variances = variance.bind(b);
  Value one = b.cstLike(b.vec(b.getF32Type(), lanes), 1);
  Value small = b.broadcast(b.getFloatParam(epsilon), lanes);
  loop.emit(b, [&](Value channel, Value mask) {
    Value inverse = emitInverseDeviation(
        b, variances.load(b, channel, lanes, mask), one, small);
    Value factor = b.mulF(inverse, scales.load(b, channel, lanes, mask));
    b.store(factor, b.offset(b.getBuffer(factors), b.mul(channel, 4)));
  });
}

void ApplyKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor xs = x.bind(b), means = mean.bind(b),
                  factors = factor.bind(b), biases = bias.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    Value centred = b.subF(x.load(b, xs, place), mean.load(b, means, place));
    out.store(b, place,
              b.fma(centred, factor.load(b, factors, place),
                    bias.load(b, biases, place)));
  });
}

static bool isSpatial(const Problem &problem) {
  return problem.op == OpKind::BatchNorm;
}

static std::optional<ChannelView> getView(const Problem &problem) {
  return ChannelView::get(problem.operands[X], isSpatial(problem));
}

Applicability
BatchNormVariable::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::BatchNorm &&
      problem.op != OpKind::BatchNormPerActivation)
    return Applicability::no("is not a batch normalisation");
  const TensorDesc &input = problem.operands[X];
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc");
  for (int i = Scale; i <= Variance; ++i)
    if (const TensorDesc &desc = problem.operands[i];
        !isVectorizable(desc) ||
        (!isSpatial(problem) && !(desc.layout == input.layout)))
      return Applicability::no("a parameter is of another layout than the "
                               "operand, or of another type than " +
                               listFloats());
  if (!isSpatial(problem) && VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels, "
                             "and the parameters do not");
  return VectorOutput::check(problem);
}

int64_t BatchNormVariable::workspaceSize(const Problem &problem,
                                         const TargetInfo & /*target*/) const {
  return getVectorBytes(*getView(problem));
}

SolutionPlan BatchNormVariable::plan(const Problem &problem,
                                     const TargetInfo & /*target*/,
                                     const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  ChannelView view = *getView(problem);
  plan.workspaceBytes = getVectorBytes(view);
  LaunchBuilder first(plan);
  auto operand = [&](int64_t index) {
    return FlatTensor(first, {BufferSlot::Operand, index},
                      problem.operands[index]);
  };
  FactorKernel factors{.scale = operand(Scale),
                       .variance = operand(Variance),
                       .factors = first.addBuffer({BufferSlot::Workspace, 0}),
                       .epsilon =
                           first.addFloatParam(problem.number("epsilon")),
                       .loop = ChannelLoop(first, view.channels)};
  int64_t tasks = factors.loop.tasks();
  first.finish(
      joinSymbol({"batch_norm_factors", factors.scale.symbolPart(),
                  factors.variance.symbolPart()}),
      [factors](KernelBuilder &b) { factors.emit(b); }, tasks);

  LaunchBuilder launch(plan);
  TensorDesc vector;
  vector.shape = {view.channels};
  auto channels = [&](BufferSlot slot, const TensorDesc &desc) {
    return PlacedOperand(launch, slot, desc, Follows::Channels);
  };
  ApplyKernel kernel{
      PlacedOperand(launch, {BufferSlot::Operand, X},
                    view.getDesc(problem.operands[X]), Follows::Elements),
      channels({BufferSlot::Operand, Mean}, problem.operands[Mean]),
      channels({BufferSlot::Workspace, 0}, vector),
      channels({BufferSlot::Operand, Bias}, problem.operands[Bias]),
      VectorOutput(launch, problem),
      VectorLoop(launch, view.getDesc(problem.result), /*needsChannels=*/true)};
  std::string symbol =
      joinSymbol({"batch_norm_variable", kernel.x.symbolPart(),
                  kernel.mean.symbolPart(), kernel.bias.symbolPart(),
                  kernel.output.symbolPart(), kernel.loop.symbolPart()});
  tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getBatchNormVariable() {
  static const BatchNormVariable solver;
  return solver;
}
