//===- PoolIndicesNhwc.cpp - Maxima with indices, channels last -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on nhwc and blocked tensors, in vectors of channels, whose windows have
// their cells in the same pixels.
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Host/Solvers.h"
#include "Pool.h"
#include "PoolIndices.h"

using namespace mlir;
using namespace tarpon;

namespace {

class PoolIndicesNhwc final : public Solver {
public:
  StringRef id() const override { return "pool-indices-nhwc-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The number of independent vectors: each has a maximum, a place and a cell.
constexpr int64_t kUnroll = 4;

struct PoolIndicesNhwcKernel {
  FlatTensor input;
  VectorOutput output;
  FlatTensor indices;
  ChannelsLastLoop loop;
  Window window;
  // Indices of parameters: of one, or of the first of several.
  int64_t steps, channels, imageElements, pixels;

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const VectorOutput::Bound &out, const BoundFlatTensor &places,
               const ChannelsLastRow &row) const;
  /// The maxima of `count` vectors from element `c` of a pixel, then their
  /// places.
  SmallVector<Value> emitWindow(KernelBuilder &b, const BoundFlatTensor &in,
                                const ChannelsLastRow &row,
                                ArrayRef<WindowRange> ranges, Value c,
                                int64_t count, Value mask) const;
};

} // namespace

SmallVector<Value> PoolIndicesNhwcKernel::emitWindow(
    KernelBuilder &b, const BoundFlatTensor &in, const ChannelsLastRow &row,
    ArrayRef<WindowRange> ranges, Value c, int64_t count, Value mask) const {
  int64_t lanes = loop.fittingLanes(b.lanes());
  SmallVector<Value> start;
  for (Value none : getNoMaximum(b, lanes))
    start.append(count, none);
  auto cell = [&](ArrayRef<Value>, ArrayRef<Value> place, ValueRange soFar) {
    Value offset = b.add(loop.inputPixel(b, row, place), c);
    Value number = b.cst(0);
    for (auto [dim, index] : llvm::enumerate(place))
      number = b.add(number, b.mul(index, b.getParam(steps + dim)));
    Value pixel = b.broadcast(emitNarrow(b, number), lanes);
    SmallVector<Value> next(soFar);
    for (int64_t i = 0; i < count; ++i) {
      Value x = in.loadRaw(b, b.add(offset, i * lanes), lanes, mask);
      SmallVector<Value> best =
          emitMaximum(b, {soFar[i], soFar[count + i]}, x, pixel);
      next[i] = best[0];
      next[count + i] = best[1];
    }
    return next;
  };
  return forWindow(b, ranges, start, cell);
}

void PoolIndicesNhwcKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                                    const VectorOutput::Bound &out,
                                    const BoundFlatTensor &places,
                                    const ChannelsLastRow &row) const {
  int64_t lanes = loop.fittingLanes(b.lanes());
  Value planeSize = b.getParam(pixels);
  Value image = b.div(row.inputStart, b.getParam(imageElements));
  Value firstPlane =
      b.add(b.mul(image, b.getParam(channels)), row.blockChannel);
  b.forLoop(loop.outWidth(b), [&](Value x) {
    SmallVector<Value> place(row.outer);
    place.push_back(x);
    SmallVector<WindowRange> ranges;
    for (int64_t dim = 0; dim < window.rank(); ++dim)
      ranges.push_back(window.at(b, dim, place[dim]));
    auto group = [&](Value c, int64_t count, Value mask) {
      SmallVector<Value> best = emitWindow(b, in, row, ranges, c, count, mask);
      for (int64_t i = 0; i < count; ++i) {
        Value channel = b.add(c, i * lanes);
        VectorPlace at = loop.outputPlace(b, row, x, channel, lanes, mask);
        Value plane = b.mul(b.add(firstPlane, channel), planeSize);
        Value planes = emitProgression(b, plane, planeSize, lanes);
        out.store(b, at, in.dequantize(b, best[i]));
        places.store(b, emitPixelIndices(b, best[count + i], planes), at.offset,
                     mask);
      }
    };
    forVectorGroups(b, row.begin, row.end, lanes, kUnroll, group);
  });
}

void PoolIndicesNhwcKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b), places = indices.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(
      b, [&](const ChannelsLastRow &row) { emitRow(b, in, out, places, row); });
}

Applicability
PoolIndicesNhwc::isApplicable(const Problem &problem,
                              const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::MaxPoolIndices)
    return Applicability::no("is not a maximum pool with indices");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (Applicability answer = ChannelsLastLoop::check(problem); !answer)
    return answer;
  if (!(problem.getResult(1).layout == problem.result.layout))
    return Applicability::no("maxima and indices differ in layout");
  if (!hasNarrowPixels(problem))
    return Applicability::no("has more than 2^31 pixels in an image");
  return VectorOutput::check(problem);
}

SolutionPlan PoolIndicesNhwc::plan(const Problem &problem,
                                   const TargetInfo & /*target*/,
                                   const PerfConfig & /*config*/) const {
  const TensorDesc &input = problem.operands[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t padded = input.shape[1];
  if (input.layout.kind == Layout::Blocked)
    padded = llvm::alignTo(padded, input.layout.block);
  PoolIndicesNhwcKernel kernel{
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .indices = FlatTensor(launch, {BufferSlot::Result, 1},
                            problem.getResult(1), ComputeKind::I64),
      .loop = ChannelsLastLoop(launch, problem, 2 * getPoolCost(problem)),
      .window =
          Window(launch, problem, problem.ints("kernel"), input.spatial()),
      .steps = launch.addParams(getPixelSteps(problem)),
      .channels = launch.addParam(input.shape[1]),
      .imageElements = launch.addParam(input.spatialSize() * padded),
      .pixels = launch.addParam(input.spatialSize())};
  std::string symbol =
      joinSymbol({getOpName(problem.op), kernel.loop.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getPoolIndicesNhwc() {
  static const PoolIndicesNhwc solver;
  return solver;
}
