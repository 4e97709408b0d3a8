//===- LrnBackward.cpp - Gradients of local response normalisation --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With base = bias + alpha / size * (sum of x^2 over the window of a channel):
//   dx = dy * base^-beta - 2 * alpha * beta / size * x *
//        (sum of dy * x * base^(-beta - 1) over the channels whose windows
//         hold this one)
// which is the derivative of x * base^-beta. The powers and what is summed up
// are computed first.
//
//===----------------------------------------------------------------------===//

#include "ChannelWindow.h"
#include "Common/MathFunctions.h"
#include "Host/Solvers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class LrnBackward final : public Solver {
public:
  StringRef id() const override { return "lrn-backward-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo & /*target*/) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.2;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// Writes base^-beta and dy * x * base^(-beta - 1).
struct PowersKernel {
  FlatTensor x, dy, powers, terms;
  VectorLoop loop;
  ChannelWindow window;
  int64_t alphaOverSize, minusBeta, bias; ///< parameters

  void emit(KernelBuilder &b) const;
};

struct GradientKernel {
  FlatTensor x, dy, powers, terms;
  VectorOutput output;
  VectorLoop loop;
  ChannelWindow window;
  int64_t slope; ///< parameter

  void emit(KernelBuilder &b) const;
};

} // namespace

void PowersKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = x.bind(b), gradients = dy.bind(b);
  BoundFlatTensor outPowers = powers.bind(b), outTerms = terms.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    int64_t lanes = place.lanes;
    auto splat = [&](int64_t param) {
      return b.broadcast(b.getFloatParam(param), lanes);
    };
    Value sum = window.emitSum(b, place, [&](Value offset, Value mask) {
      Value value = in.load(b, offset, lanes, mask);
      return b.mulF(value, value);
    });
    Value base = b.fma(splat(alphaOverSize), sum, splat(bias));
    Value power = emitPow(b, base, splat(minusBeta));
    Value value = in.load(b, place.offset, lanes, place.mask);
    Value gradient = gradients.load(b, place.offset, lanes, place.mask);
    Value term = b.divF(b.mulF(b.mulF(gradient, value), power), base);
    outPowers.store(b, power, place.offset, place.mask);
    outTerms.store(b, term, place.offset, place.mask);
  });
}

void GradientKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = x.bind(b), gradients = dy.bind(b);
  BoundFlatTensor inPowers = powers.bind(b), inTerms = terms.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    int64_t lanes = place.lanes;
    Value sum = window.emitSum(b, place, [&](Value offset, Value mask) {
      return inTerms.load(b, offset, lanes, mask);
    });
    auto load = [&](const BoundFlatTensor &tensor) {
      return tensor.load(b, place.offset, lanes, place.mask);
    };
    Value factor = b.broadcast(b.getFloatParam(slope), lanes);
    Value along = b.mulF(b.mulF(factor, load(in)), sum);
    out.store(b, place, b.subF(b.mulF(load(gradients), load(inPowers)), along));
  });
}

Applicability LrnBackward::isApplicable(const Problem &problem,
                                        const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::LrnBackward)
    return Applicability::no("is not the gradient of a local response "
                             "normalisation");
  for (int i = 0; i < 2; ++i)
    if (!isVectorizable(problem.operands[i]) ||
        !(problem.operands[i].layout == problem.result.layout))
      return notVectorizable("operands and result differ in layout, or one");
  if (problem.result.layout.kind == Layout::Blocked)
    return Applicability::no("needs nchw or nhwc");
  return VectorOutput::check(problem);
}

/// Bytes of one f32 for each element.
static int64_t getPartBytes(const Problem &problem) {
  constexpr int64_t kPadding = 64;
  return static_cast<int64_t>(
      llvm::alignTo(problem.result.numElements() * 4 + kPadding, 64));
}

int64_t LrnBackward::workspaceSize(const Problem &problem,
                                   const TargetInfo & /*target*/) const {
  return 2 * getPartBytes(problem);
}

SolutionPlan LrnBackward::plan(const Problem &problem, const TargetInfo &target,
                               const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  plan.workspaceBytes = workspaceSize(problem, target);
  int64_t size = problem.integer("size");
  int64_t before = (size - 1) / 2, behind = size / 2;
  double alpha = problem.number("alpha") / static_cast<double>(size);
  double beta = problem.number("beta");
  TensorDesc part = problem.result;
  part.dtype = DType::F32;
  part.quantized = false;
  auto tensor = [&](LaunchBuilder &launch, BufferSlot slot,
                    const TensorDesc &desc) {
    return FlatTensor(launch, slot, desc);
  };
  BufferSlot powersAt{BufferSlot::Workspace, 0};
  BufferSlot termsAt{BufferSlot::Workspace, getPartBytes(problem)};

  LaunchBuilder first(plan);
  PowersKernel powers{
      .x = tensor(first, {BufferSlot::Operand, 0}, problem.operands[0]),
      .dy = tensor(first, {BufferSlot::Operand, 1}, problem.operands[1]),
      .powers = tensor(first, powersAt, part),
      .terms = tensor(first, termsAt, part),
      .loop = VectorLoop(first, problem.result, /*needsChannels=*/true),
      .window = ChannelWindow(first, problem.result, before, behind),
      .alphaOverSize = first.addFloatParam(alpha),
      .minusBeta = first.addFloatParam(-beta),
      .bias = first.addFloatParam(problem.number("bias"))};
  std::string symbol =
      joinSymbol({"lrn_backward_powers", powers.loop.symbolPart(),
                  powers.x.symbolPart(), powers.dy.symbolPart()});
  int64_t tasks = powers.loop.tasks();
  first.finish(symbol, [powers](KernelBuilder &b) { powers.emit(b); }, tasks);

  LaunchBuilder second(plan);
  GradientKernel gradient{
      .x = tensor(second, {BufferSlot::Operand, 0}, problem.operands[0]),
      .dy = tensor(second, {BufferSlot::Operand, 1}, problem.operands[1]),
      .powers = tensor(second, powersAt, part),
      .terms = tensor(second, termsAt, part),
      .output = VectorOutput(second, problem),
      .loop = VectorLoop(second, problem.result, /*needsChannels=*/true),
      // The channels whose windows hold this one.
      .window = ChannelWindow(second, problem.result, behind, before),
      .slope = second.addFloatParam(2 * alpha * beta)};
  symbol = joinSymbol({"lrn_backward", gradient.loop.symbolPart(),
                       gradient.x.symbolPart(), gradient.dy.symbolPart(),
                       gradient.output.symbolPart()});
  tasks = gradient.loop.tasks();
  second.finish(
      symbol, [gradient](KernelBuilder &b) { gradient.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getLrnBackward() {
  static const LrnBackward solver;
  return solver;
}
