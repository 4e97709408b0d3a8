//===- BatchNormBackward.cpp - Vectorised gradients of batch norm ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With centred = x - mean, over the elements of one channel:
//   dbias  = sum of dy
//   dscale = inverse * sum of dy * centred
//   dx     = scale * inverse *
//            (dy - dbias / count - centred * inverse * dscale / count)
// (Ioffe and Szegedy, "Batch Normalization", 2015, section 3). The sums are
// taken of pieces first. Where mean and inverse deviation were not saved, they
// are computed as in training.
//
//===----------------------------------------------------------------------===//

#include "ChannelStatistics.h"
#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class BatchNormBackward final : public Solver {
public:
  StringRef id() const override { return "batch-norm-backward-v1"; }
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

enum Operand : uint8_t { X, Dy, Scale, SavedMean, SavedInverse };

/// Offsets in the workspace: two partial results for each piece and channel,
/// and for each channel the values that the result is computed from.
struct Places {
  int64_t first = 0, second, mean, inverse, factor, meanDy, slope, end;

  explicit Places(const ChannelView &view) {
    int64_t vector = getVectorBytes(view);
    second = getPartialBytes(view);
    mean = 2 * second;
    inverse = mean + vector;
    factor = inverse + vector;
    meanDy = factor + vector;
    slope = meanDy + vector;
    end = slope + vector;
  }
};

/// Mean and inverse deviation: operands, or in the workspace.
struct Statistics {
  BufferSlot mean, inverse;
  TensorDesc meanDesc, inverseDesc;

  Statistics(const Problem &problem, const ChannelView &view,
             const Places &places) {
    meanDesc.shape = inverseDesc.shape = {view.channels};
    mean = {BufferSlot::Workspace, places.mean};
    inverse = {BufferSlot::Workspace, places.inverse};
    if (problem.rootOperands == 3)
      return;
    meanDesc.dtype = problem.operands[SavedMean].dtype;
    inverseDesc.dtype = problem.operands[SavedInverse].dtype;
    mean = {BufferSlot::Operand, SavedMean};
    inverse = {BufferSlot::Operand, SavedInverse};
  }
};

} // namespace

static Value floatAt(KernelBuilder &b, int64_t buffer, Value index) {
  return b.offset(b.getBuffer(buffer), b.mul(index, 4));
}

//===----------------------------------------------------------------------===//
// Statistics that were not saved
//===----------------------------------------------------------------------===//

namespace {
struct StatisticsKernel {
  CombinedMoments moments;
  int64_t mean, inverse;         ///< buffers
  int64_t inverseCount, epsilon; ///< parameters
  ChannelLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void StatisticsKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  loop.emit(b, [&](Value channel, Value) {
    CombinedMoments::Result result = moments.emit(b, channel, lanes);
    Value deviation = emitInverseDeviation(
        b, result.squares, b.broadcast(b.getFloatParam(inverseCount), lanes),
        b.broadcast(b.getFloatParam(epsilon), lanes));
    b.store(result.mean, floatAt(b, mean, channel));
    b.store(deviation, floatAt(b, inverse, channel));
  });
}

static void planStatistics(SolutionPlan &plan, const Problem &problem,
                           const ChannelView &view, const TargetInfo &target,
                           const Places &places) {
  planPartialMoments(plan, "batch_norm_backward", view, problem.operands[X],
                     target, places.first, places.second);
  LaunchBuilder launch(plan);
  StatisticsKernel kernel{
      .moments = CombinedMoments(launch, view, places.first, places.second),
      .mean = launch.addBuffer({BufferSlot::Workspace, places.mean}),
      .inverse = launch.addBuffer({BufferSlot::Workspace, places.inverse}),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(view.getCount())),
      .epsilon = launch.addFloatParam(problem.number("epsilon")),
      .loop = ChannelLoop(launch, view.channels)};
  int64_t tasks = kernel.loop.tasks();
  launch.finish(
      "batch_norm_backward_statistics",
      [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

//===----------------------------------------------------------------------===//
// Sums of pieces
//===----------------------------------------------------------------------===//

namespace {

/// The number of vectors of channels that are processed together in the columns
/// form.
constexpr int64_t kVectors = 2;

struct PartialSumsKernel {
  FlatTensor x, dy, mean;
  bool inRows;
  int64_t sums, products;         ///< buffers
  int64_t items, itemsPerTask;    ///< parameters
  int64_t channels, plane, piece; ///< parameters
  int64_t blocks;                 ///< parameter

  struct Bound {
    BoundFlatTensor x, dy, mean;
  };
  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const Bound &in, Value item) const;
  void emitColumns(KernelBuilder &b, const Bound &in, Value item) const;
  void emitBlock(KernelBuilder &b, const Bound &in, Value index, Value channel,
                 int64_t vectors, Value mask) const;
};

} // namespace

/// An item is [image][channel][piece of the plane].
void PartialSumsKernel::emitRow(KernelBuilder &b, const Bound &in,
                                Value item) const {
  int64_t lanes = b.lanes();
  Value size = b.getParam(plane), most = b.getParam(piece);
  Value pieces = b.ceilDiv(size, most), numChannels = b.getParam(channels);
  Value part = b.rem(item, pieces), row = b.div(item, pieces);
  Value image = b.div(row, numChannels), channel = b.rem(row, numChannels);
  Value begin = b.add(b.mul(row, size), b.mul(part, most));
  Value end = b.minS(b.add(begin, most), b.mul(b.add(row, 1), size));
  Value mean = b.broadcast(in.mean.load(b, channel, 1), lanes);
  Value zero = b.cstLike(b.vec(b.getF32Type(), lanes), 0);
  FoldSteps steps{
      .neutral = {zero, zero},
      .step =
          [&](Value i, Value mask, ValueRange soFar) {
            Value gradient =
                selectLanes(b, mask, in.dy.load(b, i, lanes), zero);
            Value centred = selectLanes(
                b, mask, b.subF(in.x.load(b, i, lanes), mean), zero);
            return SmallVector<Value>{b.addF(soFar[0], gradient),
                                      b.fma(gradient, centred, soFar[1])};
          },
      .combine =
          [&](ValueRange left, ValueRange right) {
            return SmallVector<Value>{b.addF(left[0], right[0]),
                                      b.addF(left[1], right[1])};
          }};
  SmallVector<Value> folded = emitFold(b, begin, end, steps);
  Value index =
      b.add(b.mul(b.add(b.mul(image, pieces), part), numChannels), channel);
  b.store(b.reduceAdd(folded[0]), floatAt(b, sums, index));
  b.store(b.reduceAdd(folded[1]), floatAt(b, products, index));
}

void PartialSumsKernel::emitBlock(KernelBuilder &b, const Bound &in,
                                  Value index, Value channel, int64_t vectors,
                                  Value mask) const {
  int64_t lanes = b.lanes();
  Value numChannels = b.getParam(channels), most = b.getParam(piece);
  auto [first, last] = emitPiecePixels(b, index, b.getParam(plane), most);
  SmallVector<Value> means;
  for (int64_t v = 0; v < vectors; ++v)
    means.push_back(in.mean.load(b, b.add(channel, v * lanes), lanes));
  // For each vector of channels, the sum comes first, then the products.
  SmallVector<Value> zeros(2 * vectors,
                           b.cstLike(b.vec(b.getF32Type(), lanes), 0));
  SmallVector<Value> folded = b.forLoop(
      first, last, b.cst(1), zeros, [&](Value pixel, ValueRange soFar) {
        SmallVector<Value> next;
        for (int64_t v = 0; v < vectors; ++v) {
          Value offset =
              b.add(b.mul(pixel, numChannels), b.add(channel, v * lanes));
          Value gradient = in.dy.load(b, offset, lanes);
          Value centred = b.subF(in.x.load(b, offset, lanes), means[v]);
          next.push_back(b.addF(soFar[2 * v], gradient));
          next.push_back(b.fma(gradient, centred, soFar[2 * v + 1]));
        }
        return next;
      });
  Value start = b.add(b.mul(index, numChannels), channel);
  for (int64_t v = 0; v < vectors; ++v)
    for (auto [buffer, value] : {std::pair(sums, folded[2 * v]),
                                 std::pair(products, folded[2 * v + 1])}) {
      Value at = floatAt(b, buffer, b.add(start, v * lanes));
      if (mask)
        b.maskedStore(value, at, mask);
      else
        b.store(value, at);
    }
}

/// An item is [piece][block of channels].
void PartialSumsKernel::emitColumns(KernelBuilder &b, const Bound &in,
                                    Value item) const {
  int64_t lanes = b.lanes(), block = kVectors * lanes;
  Value numBlocks = b.getParam(blocks), numChannels = b.getParam(channels);
  Value index = b.div(item, numBlocks);
  Value begin = b.mul(b.rem(item, numBlocks), block);
  Value end = b.minS(b.add(begin, block), numChannels);
  b.ifThenElse(
      b.eq(b.sub(end, begin), b.cst(block)),
      [&] { emitBlock(b, in, index, begin, kVectors, Value()); },
      [&] {
        b.forLoop(begin, end, b.cst(lanes), [&](Value channel) {
          emitBlock(b, in, index, channel, 1,
                    b.firstLanes(b.sub(end, channel), lanes));
        });
      });
}

void PartialSumsKernel::emit(KernelBuilder &b) const {
  Bound in{x.bind(b), dy.bind(b), mean.bind(b)};
  forItems(b, items, itemsPerTask, [&](Value item) {
    if (inRows)
      emitRow(b, in, item);
    else
      emitColumns(b, in, item);
  });
}

static void planPartialSums(SolutionPlan &plan, const Problem &problem,
                            const ChannelView &view, const TargetInfo &target,
                            const Places &places) {
  LaunchBuilder launch(plan);
  Statistics statistics(problem, view, places);
  int64_t blocks = llvm::divideCeil(view.channels, kVectors * target.lanes());
  int64_t items = view.getPieces() * (view.inRows ? view.channels : blocks);
  int64_t elements = view.getCount() * view.channels;
  int64_t perTask = getItemsPerTask(llvm::divideCeil(elements, items));
  PartialSumsKernel kernel{
      .x = FlatTensor(launch, {BufferSlot::Operand, X}, problem.operands[X]),
      .dy = FlatTensor(launch, {BufferSlot::Operand, Dy}, problem.operands[Dy]),
      .mean = FlatTensor(launch, statistics.mean, statistics.meanDesc),
      .inRows = view.inRows,
      .sums = launch.addBuffer({BufferSlot::Workspace, places.first}),
      .products = launch.addBuffer({BufferSlot::Workspace, places.second}),
      .items = launch.addParam(items),
      .itemsPerTask = launch.addParam(perTask),
      .channels = launch.addParam(view.channels),
      .plane = launch.addParam(view.plane),
      .piece = launch.addParam(view.getPiece()),
      .blocks = launch.addParam(blocks)};
  std::string symbol = joinSymbol(
      {"batch_norm_backward_sums", view.symbolPart(), kernel.x.symbolPart(),
       kernel.dy.symbolPart(), kernel.mean.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(items, perTask));
}

//===----------------------------------------------------------------------===//
// Sums of channels
//===----------------------------------------------------------------------===//

namespace {
struct CoefficientsKernel {
  FlatTensor scale, inverse, dscale, dbias;
  int64_t sums, products, factor, meanDy, slope; ///< buffers
  int64_t pieces, channels, inverseCount;        ///< parameters
  ChannelLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void CoefficientsKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  BoundFlatTensor scales = scale.bind(b), inverses = inverse.bind(b),
                  dscales = dscale.bind(b), dbiases = dbias.bind(b);
  loop.emit(b, [&](Value channel, Value mask) {
    FoldSteps::Values total = emitCompensatedSum(
        b, b.getParam(pieces), type, /*width=*/2, [&](Value index) {
          Value at = b.add(b.mul(index, b.getParam(channels)), channel);
          return FoldSteps::Values{b.load(floatAt(b, sums, at), type),
                                   b.load(floatAt(b, products, at), type)};
        });
    Value deviation = inverses.load(b, channel, lanes, mask);
    Value scaled = b.mulF(total[1], deviation);
    dbiases.store(b, total[0], channel, mask);
    dscales.store(b, scaled, channel, mask);
    Value perElement = b.broadcast(b.getFloatParam(inverseCount), lanes);
    Value gain = b.mulF(scales.load(b, channel, lanes, mask), deviation);
    b.store(gain, floatAt(b, factor, channel));
    b.store(b.mulF(total[0], perElement), floatAt(b, meanDy, channel));
    b.store(b.mulF(b.mulF(scaled, deviation), perElement),
            floatAt(b, slope, channel));
  });
}

static void planCoefficients(SolutionPlan &plan, const Problem &problem,
                             const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  Statistics statistics(problem, view, places);
  auto workspace = [&](int64_t place) {
    return launch.addBuffer({BufferSlot::Workspace, place});
  };
  CoefficientsKernel kernel{
      .scale = FlatTensor(launch, {BufferSlot::Operand, Scale},
                          problem.operands[Scale]),
      .inverse = FlatTensor(launch, statistics.inverse, statistics.inverseDesc),
      .dscale =
          FlatTensor(launch, {BufferSlot::Result, 1}, problem.getResult(1)),
      .dbias =
          FlatTensor(launch, {BufferSlot::Result, 2}, problem.getResult(2)),
      .sums = workspace(places.first),
      .products = workspace(places.second),
      .factor = workspace(places.factor),
      .meanDy = workspace(places.meanDy),
      .slope = workspace(places.slope),
      .pieces = launch.addParam(view.getPieces()),
      .channels = launch.addParam(view.channels),
      .inverseCount =
          launch.addFloatParam(1 / static_cast<double>(view.getCount())),
      .loop = ChannelLoop(launch, view.channels)};
  std::string symbol =
      joinSymbol({"batch_norm_backward_coefficients", kernel.scale.symbolPart(),
                  kernel.inverse.symbolPart(), kernel.dscale.symbolPart(),
                  kernel.dbias.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

//===----------------------------------------------------------------------===//
// The gradient of the input
//===----------------------------------------------------------------------===//

namespace {
struct ApplyKernel {
  PlacedOperand x, dy, mean, factor, meanDy, slope;
  VectorOutput output;
  VectorLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void ApplyKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor xs = x.bind(b), dys = dy.bind(b), means = mean.bind(b),
                  factors = factor.bind(b), meanDys = meanDy.bind(b),
                  slopes = slope.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    Value centred = b.subF(x.load(b, xs, place), mean.load(b, means, place));
    Value rest = b.subF(dy.load(b, dys, place), meanDy.load(b, meanDys, place));
    rest = b.subF(rest, b.mulF(centred, slope.load(b, slopes, place)));
    out.store(b, place, b.mulF(factor.load(b, factors, place), rest));
  });
}

static void planApply(SolutionPlan &plan, const Problem &problem,
                      const ChannelView &view, const Places &places) {
  LaunchBuilder launch(plan);
  Statistics statistics(problem, view, places);
  TensorDesc vector;
  vector.shape = {view.channels};
  auto elements = [&](int64_t index) {
    return PlacedOperand(launch, {BufferSlot::Operand, index},
                         view.getDesc(problem.operands[index]),
                         Follows::Elements);
  };
  auto channels = [&](BufferSlot slot, const TensorDesc &desc) {
    return PlacedOperand(launch, slot, desc, Follows::Channels);
  };
  ApplyKernel kernel{
      elements(X),
      elements(Dy),
      channels(statistics.mean, statistics.meanDesc),
      channels({BufferSlot::Workspace, places.factor}, vector),
      channels({BufferSlot::Workspace, places.meanDy}, vector),
      channels({BufferSlot::Workspace, places.slope}, vector),
      VectorOutput(launch, problem),
      VectorLoop(launch, view.getDesc(problem.result), /*needsChannels=*/true)};
  std::string symbol =
      joinSymbol({"batch_norm_backward", kernel.x.symbolPart(),
                  kernel.dy.symbolPart(), kernel.mean.symbolPart(),
                  kernel.output.symbolPart(), kernel.loop.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

static std::optional<ChannelView> getView(const Problem &problem) {
  return ChannelView::get(problem.operands[X], problem.integer("spatial") != 0);
}

Applicability
BatchNormBackward::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::BatchNormBackward)
    return Applicability::no("is not the gradient of a batch normalisation");
  const TensorDesc &input = problem.operands[X];
  auto follows = [&](const TensorDesc &desc) {
    return isVectorizable(desc) && desc.layout == input.layout;
  };
  if (!follows(input) || !follows(problem.operands[Dy]) ||
      !follows(problem.result))
    return notVectorizable("operands and result differ in layout, or one");
  if (!getView(problem))
    return Applicability::no("needs nchw or nhwc");
  bool spatial = problem.integer("spatial") != 0;
  auto fits = [&](const TensorDesc &desc) {
    return isVectorizable(desc) && (spatial || desc.layout == input.layout);
  };
  if (!llvm::all_of(
          ArrayRef(problem.operands).slice(Scale, problem.rootOperands - Scale),
          fits) ||
      !llvm::all_of(problem.moreResults, fits))
    return Applicability::no("a parameter is of another layout than the "
                             "operand, or of another type than " +
                             listFloats());
  if (!problem.epilogue.empty())
    return Applicability::no("has an epilogue");
  return VectorOutput::check(problem);
}

int64_t BatchNormBackward::workspaceSize(const Problem &problem,
                                         const TargetInfo & /*target*/) const {
  return Places(*getView(problem)).end;
}

SolutionPlan BatchNormBackward::plan(const Problem &problem,
                                     const TargetInfo &target,
                                     const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  ChannelView view = *getView(problem);
  Places places(view);
  plan.workspaceBytes = places.end;
  if (problem.rootOperands == 3)
    planStatistics(plan, problem, view, target, places);
  planPartialSums(plan, problem, view, target, places);
  planCoefficients(plan, problem, view, places);
  planApply(plan, problem, view, places);
  return plan;
}

const Solver &tarpon::getBatchNormBackward() {
  static const BatchNormBackward solver;
  return solver;
}
