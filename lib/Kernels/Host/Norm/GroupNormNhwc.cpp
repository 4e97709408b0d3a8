//===- GroupNormNhwc.cpp - Vectorised group normalisation in nhwc ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are three launches: moments of channels over pieces of an image;
// moments of groups; and the result. The input is read twice from memory.
//
//===----------------------------------------------------------------------===//

#include "ChannelStatistics.h"
#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GroupNormNhwc final : public Solver {
public:
  StringRef id() const override { return "group-norm-nhwc-v1"; }
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

/// Offsets in the workspace: partial moments, and mean and factor of each
/// channel of each image.
struct Places {
  int64_t means = 0, squares, channelMeans, factors, end;

  Places(const ChannelView &view, int64_t images) {
    ChannelView all = view;
    all.channels = images * view.channels;
    squares = getPartialBytes(view);
    channelMeans = 2 * squares;
    factors = channelMeans + getVectorBytes(all);
    end = factors + getVectorBytes(all);
  }
};

struct GroupKernel {
  AffineOperands affine;
  SavedStatistics saved;
  int64_t means, squares, channelMeans, factors;   ///< buffers
  int64_t items, itemsPerTask;                     ///< parameters: groups
  int64_t groups, channels, pieces;                ///< parameters
  int64_t piece, lastPiece, inverseCount, epsilon; ///< parameters

  void emit(KernelBuilder &b) const;
  void emitGroup(KernelBuilder &b, const AffineOperands::Bound &bound,
                 Value item) const;
};

struct ApplyKernel {
  FlatTensor input;
  AffineOperands affine;
  VectorOutput output;
  VectorLoop loop;
  int64_t channelMeans, factors; ///< buffers
  int64_t channels, pixels;      ///< parameters

  void emit(KernelBuilder &b) const;
};

} // namespace

static Value floatAt(KernelBuilder &b, int64_t buffer, Value index) {
  return b.offset(b.getBuffer(buffer), b.mul(index, 4));
}

void GroupKernel::emitGroup(KernelBuilder &b,
                            const AffineOperands::Bound &bound,
                            Value item) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value numGroups = b.getParam(groups), numChannels = b.getParam(channels);
  Value perGroup = b.div(numChannels, numGroups);
  Value image = b.div(item, numGroups);
  Value channel = b.mul(b.rem(item, numGroups), perGroup);
  Value number = b.getParam(pieces), first = b.mul(image, number);
  Value last = b.sub(number, 1);
  // The sum is over the pieces of the image and the channels of the group,
  // weighted by the pixels of the piece.
  auto sum = [&](function_ref<Value(Value at, Value count)> term) {
    return emitCompensatedSum(
               b, number, b.getF32Type(), /*width=*/1,
               [&](Value index) {
                 Value count =
                     b.select(b.eq(index, last), b.getFloatParam(lastPiece),
                              b.getFloatParam(piece));
                 Value counts = b.broadcast(count, lanes);
                 Value start =
                     b.add(b.mul(b.add(first, index), numChannels), channel);
                 Value part =
                     emitSum(b, start, b.add(start, perGroup),
                             [&](Value i, Value) { return term(i, counts); });
                 return FoldSteps::Values{part};
               })
        .front();
  };
  Value perElement = b.getFloatParam(inverseCount);
  Value mean =
      b.mulF(sum([&](Value i, Value count) {
               return b.mulF(b.load(floatAt(b, means, i), type), count);
             }),
             perElement);
  Value groupMean = b.broadcast(mean, lanes);
  Value square = sum([&](Value i, Value count) {
    Value distance = b.subF(b.load(floatAt(b, means, i), type), groupMean);
    Value between = b.mulF(count, b.mulF(distance, distance));
    return b.addF(b.load(floatAt(b, squares, i), type), between);
  });
  Value inverse =
      emitInverseDeviation(b, square, perElement, b.getFloatParam(epsilon));
  saved.store(b, item, mean, inverse);
  Value target = b.add(b.mul(image, numChannels), channel);
  b.forLoop(perGroup, [&](Value i) {
    Value factor = inverse;
    if (Value scale = bound.loadScale(b, b.add(channel, i), 1))
      factor = b.mulF(factor, scale);
    b.store(factor, floatAt(b, factors, b.add(target, i)));
    b.store(mean, floatAt(b, channelMeans, b.add(target, i)));
  });
}

void GroupKernel::emit(KernelBuilder &b) const {
  AffineOperands::Bound bound = affine.bind(b);
  forItems(b, items, itemsPerTask,
           [&](Value item) { emitGroup(b, bound, item); });
}

void ApplyKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  AffineOperands::Bound bound = affine.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value numChannels = b.getParam(channels), perImage = b.getParam(pixels);
  loop.emit(b, [&](const VectorPlace &place, Value row) {
    VectorType type = b.vec(b.getF32Type(), place.lanes);
    Value image = b.mul(b.div(row, perImage), numChannels);
    Value at = b.add(image, place.channel);
    Value mean = b.load(floatAt(b, channelMeans, at), type);
    Value factor = b.load(floatAt(b, factors, at), type);
    Value x = in.load(b, place.offset, place.lanes, place.mask);
    Value centred = b.subF(x, mean);
    Value bias = bound.loadBias(b, place.channel, place.lanes, place.mask);
    out.store(b, place,
              bias ? b.fma(centred, factor, bias) : b.mulF(centred, factor));
  });
}

Applicability GroupNormNhwc::isApplicable(const Problem &problem,
                                          const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::GroupNorm)
    return Applicability::no("is not a group normalisation");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || input.layout.kind != Layout::NHWC ||
      problem.result.layout.kind != Layout::NHWC)
    return notVectorizable(
        "operand and result are not both in nhwc, or the operand");
  for (int i = 1; i < problem.rootOperands; ++i)
    if (!isVectorizable(problem.operands[i]))
      return Applicability::no("scale or bias is of another type than " +
                               listFloats());
  return VectorOutput::check(problem);
}

int64_t GroupNormNhwc::workspaceSize(const Problem &problem,
                                     const TargetInfo & /*target*/) const {
  const TensorDesc &input = problem.operands[0];
  return Places(ChannelView::getImages(input), input.shape[0]).end;
}

static void planGroups(SolutionPlan &plan, const Problem &problem,
                       const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  int64_t groups = problem.integer("groups");
  int64_t items = problem.operands[0].shape[0] * groups;
  int64_t perGroup = view.channels / groups;
  int64_t perTask = getItemsPerTask(16 * view.getPiecesOfPlane() * perGroup);
  auto workspace = [&](int64_t place) {
    return launch.addBuffer({BufferSlot::Workspace, place});
  };
  GroupKernel kernel{
      .affine = AffineOperands(launch, problem),
      .saved = SavedStatistics(launch, problem),
      .means = workspace(places.means),
      .squares = workspace(places.squares),
      .channelMeans = workspace(places.channelMeans),
      .factors = workspace(places.factors),
      .items = launch.addParam(items),
      .itemsPerTask = launch.addParam(perTask),
      .groups = launch.addParam(groups),
      .channels = launch.addParam(view.channels),
      .pieces = launch.addParam(view.getPiecesOfPlane()),
      .piece = launch.addFloatParam(static_cast<double>(view.getPiece())),
      .lastPiece =
          launch.addFloatParam(static_cast<double>(view.getLastPiece())),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(perGroup * view.plane)),
      .epsilon = launch.addFloatParam(problem.number("epsilon"))};
  std::string symbol =
      joinSymbol({"group_norm_nhwc_groups", kernel.affine.symbolPart(),
                  kernel.saved.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(items, perTask));
}

static void planApply(SolutionPlan &plan, const Problem &problem,
                      const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  ApplyKernel kernel{
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .affine = AffineOperands(launch, problem),
      .output = VectorOutput(launch, problem),
      .loop = VectorLoop(launch, view.getDesc(problem.result),
                         /*needsChannels=*/true),
      .channelMeans =
          launch.addBuffer({BufferSlot::Workspace, places.channelMeans}),
      .factors = launch.addBuffer({BufferSlot::Workspace, places.factors}),
      .channels = launch.addParam(view.channels),
      .pixels = launch.addParam(view.plane)};
  std::string symbol =
      joinSymbol({"group_norm_nhwc", kernel.input.symbolPart(),
                  kernel.affine.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

SolutionPlan GroupNormNhwc::plan(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  const TensorDesc &input = problem.operands[0];
  ChannelView view = ChannelView::getImages(input);
  Places places(view, input.shape[0]);
  plan.workspaceBytes = places.end;
  planPartialMoments(plan, "group_norm_nhwc", view, input, target, places.means,
                     places.squares);
  planGroups(plan, problem, view, places);
  planApply(plan, problem, view, places);
  return plan;
}

const Solver &tarpon::getGroupNormNhwc() {
  static const GroupNormNhwc solver;
  return solver;
}
