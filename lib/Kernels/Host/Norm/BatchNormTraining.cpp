//===- BatchNormTraining.cpp - Vectorised batch norm in training ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are three launches: moments of pieces; moments of channels, with all
// other values per channel; and the result. The input is read twice from
// memory.
//
//===----------------------------------------------------------------------===//

#include "ChannelStatistics.h"
#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class BatchNormTraining final : public Solver {
public:
  StringRef id() const override { return "batch-norm-training-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo & /*target*/) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// Offsets in the workspace.
struct Places {
  int64_t means = 0, squares, factors, end;

  explicit Places(const ChannelView &view) {
    int64_t partials = getPartialBytes(view);
    squares = partials;
    factors = 2 * partials;
    end = factors + getVectorBytes(view);
  }
};

/// Computes the moments of channels, and the values that follow from them.
struct StatisticsKernel {
  CombinedMoments moments;
  FlatTensor scale;
  SavedStatistics saved;
  /// Old running mean and variance, then the new ones; or none.
  std::vector<FlatTensor> running;
  int64_t factors;                               ///< buffer
  int64_t inverseCount, epsilon, weight, unbias; ///< parameters
  ChannelLoop loop;

  void emit(KernelBuilder &b) const;
};

struct ApplyKernel {
  PlacedOperand input, mean, factor, bias;
  VectorOutput output;
  VectorLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void StatisticsKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  BoundFlatTensor scales = scale.bind(b);
  SmallVector<BoundFlatTensor> averages;
  for (const FlatTensor &tensor : running)
    averages.push_back(tensor.bind(b));
  auto splat = [&](int64_t param) {
    return b.broadcast(b.getFloatParam(param), lanes);
  };
  loop.emit(b, [&](Value channel, Value mask) {
    CombinedMoments::Result result = moments.emit(b, channel, lanes);
    Value inverse = emitInverseDeviation(b, result.squares, splat(inverseCount),
                                         splat(epsilon));
    saved.store(b, channel, result.mean, inverse, mask);
    Value factor = b.mulF(inverse, scales.load(b, channel, lanes, mask));
    Value at = b.offset(b.getBuffer(factors), b.mul(channel, 4));
    b.store(factor, at);
    Value batch[] = {result.mean, b.mulF(result.squares, splat(unbias))};
    for (size_t i = 0; i < averages.size() / 2; ++i) {
      Value old = averages[i].load(b, channel, lanes, mask);
      Value next = b.addF(old, b.mulF(splat(weight), b.subF(batch[i], old)));
      averages[2 + i].store(b, next, channel, mask);
    }
  });
}

void ApplyKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b), means = mean.bind(b),
                  factors = factor.bind(b), biases = bias.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    Value centred =
        b.subF(input.load(b, in, place), mean.load(b, means, place));
    out.store(b, place,
              b.fma(centred, factor.load(b, factors, place),
                    bias.load(b, biases, place)));
  });
}

static std::optional<ChannelView> getView(const Problem &problem) {
  return ChannelView::get(problem.operands[0], problem.integer("spatial") != 0);
}

Applicability
BatchNormTraining::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::BatchNormTraining)
    return Applicability::no("is not a batch normalisation in training");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  bool spatial = problem.integer("spatial") != 0;
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc");
  auto fits = [&](const TensorDesc &desc) {
    return isVectorizable(desc) && (spatial || desc.layout == input.layout);
  };
  if (!llvm::all_of(ArrayRef(problem.operands).slice(1, 2), fits) ||
      !llvm::all_of(
          ArrayRef(problem.operands).slice(3, problem.rootOperands - 3),
          fits) ||
      !llvm::all_of(problem.moreResults, fits))
    return Applicability::no("a parameter is of another layout than the "
                             "operand, or of another type than " +
                             listFloats());
  if (!spatial && VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels, "
                             "and the statistics do not");
  return VectorOutput::check(problem);
}

int64_t BatchNormTraining::workspaceSize(const Problem &problem,
                                         const TargetInfo & /*target*/) const {
  return Places(*getView(problem)).end;
}

static void planStatistics(SolutionPlan &plan, const Problem &problem,
                           const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  double count = static_cast<double>(view.getCount());
  bool runs = problem.rootOperands == 5;
  // The variance is squares / count, or squares / (count - 1).
  double divisor = count;
  if (runs && problem.integer("unbiased") != 0 && count > 1)
    divisor = count - 1;
  StatisticsKernel kernel{
      .moments = CombinedMoments(launch, view, places.means, places.squares),
      .scale =
          FlatTensor(launch, {BufferSlot::Operand, 1}, problem.operands[1]),
      .saved = SavedStatistics(launch, problem),
      .running = {},
      .factors = launch.addBuffer({BufferSlot::Workspace, places.factors}),
      .inverseCount = launch.addFloatParam(1 / count),
      .epsilon = launch.addFloatParam(problem.number("epsilon")),
      .weight = launch.addFloatParam(runs ? problem.number("factor") : 0),
      .unbias = launch.addFloatParam(1 / divisor),
      .loop = ChannelLoop(launch, view.channels)};
  std::string symbol =
      joinSymbol({"batch_norm_statistics", kernel.scale.symbolPart()});
  for (int64_t i = 3; runs && i <= 4; ++i) {
    kernel.running.emplace_back(launch, BufferSlot{BufferSlot::Operand, i},
                                problem.operands[i]);
    symbol = joinSymbol({symbol, kernel.running.back().symbolPart()});
  }
  for (int64_t i = 3; runs && i <= 4; ++i)
    kernel.running.emplace_back(launch, BufferSlot{BufferSlot::Result, i},
                                problem.getResult(i));
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

static void planApply(SolutionPlan &plan, const Problem &problem,
                      const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  TensorDesc desc = view.getDesc(problem.operands[0]), vector;
  vector.shape = {view.channels};
  ApplyKernel kernel{
      PlacedOperand(launch, {BufferSlot::Operand, 0}, desc, Follows::Elements),
      PlacedOperand(launch, {BufferSlot::Result, 1}, vector, Follows::Channels),
      PlacedOperand(launch, {BufferSlot::Workspace, places.factors}, vector,
                    Follows::Channels),
      PlacedOperand(launch, {BufferSlot::Operand, 2}, problem.operands[2],
                    Follows::Channels),
      VectorOutput(launch, problem),
      VectorLoop(launch, view.getDesc(problem.result),
                 /*needsChannels=*/true)};
  std::string symbol = joinSymbol(
      {"batch_norm_apply", kernel.input.symbolPart(), kernel.bias.symbolPart(),
       kernel.output.symbolPart(), kernel.loop.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

SolutionPlan BatchNormTraining::plan(const Problem &problem,
                                     const TargetInfo &target,
                                     const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  ChannelView view = *getView(problem);
  Places places(view);
  plan.workspaceBytes = places.end;
  planPartialMoments(plan, "batch_norm_training", view, problem.operands[0],
                     target, places.means, places.squares);
  planStatistics(plan, problem, view, places);
  planApply(plan, problem, view, places);
  return plan;
}

const Solver &tarpon::getBatchNormTraining() {
  static const BatchNormTraining solver;
  return solver;
}
