//===- DepthwiseNhwc.cpp - Depthwise convolution, channels last -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of channels, over nhwc and blocked tensors of any dtype. A few pixels
// of a row are computed together, so that each vector of the filter is loaded
// once for all of them (perf config: tile_w).
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Depthwise.h"
#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class DepthwiseNhwc final : public Solver {
public:
  StringRef id() const override { return "depthwise-conv-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem & /*problem*/,
                           const TargetInfo & /*target*/) const override {
    return {{"tile_w", 4}};
  }
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem & /*problem*/, const TargetInfo & /*target*/,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct DepthwiseKernel {
  bool quantized;
  int64_t tile;
  FlatTensor input;
  VectorOutput output;
  ChannelsLastLoop loop;
  Window window;
  int64_t filterBuffer, scaleBuffer;
  int64_t filterStride, insideBegin, insideEnd; ///< parameters

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const VectorOutput::Bound &out, Value filter,
               const ChannelsLastRow &row) const;
  /// Computes `pixels` pixels of the row from pixel `x`.
  void emitPixels(KernelBuilder &b, const BoundFlatTensor &in,
                  const VectorOutput::Bound &out, Value filter,
                  const ChannelsLastRow &row, Value x, int64_t pixels) const;
  SmallVector<Value> emitSums(KernelBuilder &b, const BoundFlatTensor &in,
                              Value filter, const ChannelsLastRow &row,
                              ArrayRef<WindowRange> ranges, Value c, Value mask,
                              int64_t pixels) const;
};

} // namespace

SmallVector<Value>
DepthwiseKernel::emitSums(KernelBuilder &b, const BoundFlatTensor &in,
                          Value filter, const ChannelsLastRow &row,
                          ArrayRef<WindowRange> ranges, Value c, Value mask,
                          int64_t pixels) const {
  int64_t lanes = loop.fittingLanes(b.lanes()), last = window.rank() - 1;
  Value pixelStep = b.mul(window.stride(b, last), loop.pixelSize(b));
  Value channel = b.add(row.blockChannel, c);
  VectorType type = b.vec(b.getF32Type(), lanes);
  SmallVector<Value> start(pixels, b.cstLike(type, 0));
  auto cell = [&](ArrayRef<Value> k, ArrayRef<Value> place, ValueRange sums) {
    Value index = b.cst(0);
    for (int64_t dim = 0; dim <= last; ++dim)
      index = b.add(b.mul(index, window.kernel(b, dim)), k[dim]);
    Value at = b.add(b.mul(index, b.getParam(filterStride)), channel);
    Value weights = b.load(b.offset(filter, b.mul(at, 4)), type);
    Value offset = b.add(loop.inputPixel(b, row, place), c);
    SmallVector<Value> next;
    for (int64_t i = 0; i < pixels; ++i) {
      Value x = in.loadRaw(b, b.add(offset, b.mul(pixelStep, i)), lanes, mask);
      if (quantized)
        x = b.subF(x, b.broadcast(in.zeroPoint, lanes));
      next.push_back(b.fma(x, weights, sums[i]));
    }
    return next;
  };
  return forWindow(b, ranges, start, cell);
}

void DepthwiseKernel::emitPixels(KernelBuilder &b, const BoundFlatTensor &in,
                                 const VectorOutput::Bound &out, Value filter,
                                 const ChannelsLastRow &row, Value x,
                                 int64_t pixels) const {
  int64_t lanes = loop.fittingLanes(b.lanes()), last = window.rank() - 1;
  SmallVector<WindowRange> ranges;
  for (int64_t dim = 0; dim < last; ++dim)
    ranges.push_back(window.at(b, dim, row.outer[dim]));
  ranges.push_back(pixels == 1 ? window.at(b, last, x)
                               : window.inside(b, last, x));
  forVectors(b, row.begin, row.end, lanes, [&](Value c, Value mask) {
    SmallVector<Value> sums =
        emitSums(b, in, filter, row, ranges, c, mask, pixels);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      VectorPlace place = loop.outputPlace(b, row, b.add(x, i), c, lanes, mask);
      if (quantized) {
        Value at = b.offset(b.getBuffer(scaleBuffer), b.mul(place.channel, 4));
        sum = b.mulF(sum, b.load(at, sum.getType()));
      }
      out.store(b, place, sum);
    }
  });
}

void DepthwiseKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                              const VectorOutput::Bound &out, Value filter,
                              const ChannelsLastRow &row) const {
  auto singles = [&](Value first, Value last) {
    b.forLoop(first, last, b.cst(1),
              [&](Value x) { emitPixels(b, in, out, filter, row, x, 1); });
  };
  Value width = loop.outWidth(b);
  if (tile == 1)
    return singles(b.cst(0), width);
  Value first = b.getParam(insideBegin), last = b.getParam(insideEnd);
  Value whole = b.mul(b.div(b.sub(last, first), tile), tile);
  Value behind = b.add(first, whole);
  b.forLoop(first, behind, b.cst(tile),
            [&](Value x) { emitPixels(b, in, out, filter, row, x, tile); });
  // One loop computes the rest of the row, in front and behind.
  b.forLoop(b.sub(width, whole), [&](Value i) {
    Value x = b.select(b.slt(i, first), i, b.add(i, whole));
    emitPixels(b, in, out, filter, row, x, 1);
  });
}

void DepthwiseKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value filter = b.getBuffer(filterBuffer);
  loop.emit(
      b, [&](const ChannelsLastRow &row) { emitRow(b, in, out, filter, row); });
}

Applicability DepthwiseNhwc::isApplicable(const Problem &problem,
                                          const TargetInfo & /*target*/) const {
  if (Applicability answer = checkDepthwise(problem); !answer)
    return answer;
  return ChannelsLastLoop::check(problem);
}

static constexpr int64_t kTiles[] = {4, 2, 8, 1};

std::vector<PerfConfig> DepthwiseNhwc::configs(const Problem & /*problem*/,
                                               const TargetInfo &target) const {
  // The registers hold eight sums and as many inputs, and a vector of weights.
  int64_t most = target.vectorRegisters >= 32 ? 8 : 4;
  std::vector<PerfConfig> all;
  for (int64_t tile : kTiles)
    if (tile <= most)
      all.push_back({{"tile_w", tile}});
  return all;
}

bool DepthwiseNhwc::isValidConfig(const Problem & /*problem*/,
                                  const TargetInfo & /*target*/,
                                  const PerfConfig &config) const {
  return config.getFields().size() == 1 && config.has("tile_w") &&
         llvm::is_contained(kTiles, config.get("tile_w"));
}

SolutionPlan DepthwiseNhwc::plan(const Problem &problem,
                                 const TargetInfo & /*target*/,
                                 const PerfConfig &config) const {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  ArrayRef<int64_t> kernelShape = filter.spatial();
  InsideRange inside = getInsideRange(problem, kernelShape.back());
  // Whole vectors of the filter may be read at any channel.
  constexpr int64_t kChannelPadding = 64;
  int64_t padded = llvm::alignTo(filter.shape[0], kChannelPadding);
  bool quantized = input.quantized;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  DepthwiseKernel kernel{
      .quantized = quantized,
      .tile = config.get("tile_w"),
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .loop = ChannelsLastLoop(launch, problem, 2.0 * getFilterCells(problem)),
      .window = Window(launch, problem, kernelShape, input.spatial()),
      .filterBuffer = launch.addConstant(packDepthwiseFilter(problem, padded)),
      .scaleBuffer =
          quantized ? launch.addFloats(getDepthwiseScales(problem, padded)) : 0,
      .filterStride = launch.addParam(padded),
      .insideBegin = launch.addParam(inside.begin),
      .insideEnd = launch.addParam(inside.end)};
  std::string symbol = joinSymbol(
      {"depthwise_conv", kernel.loop.symbolPart(), kernel.input.symbolPart(),
       kernel.output.symbolPart(), ("w" + Twine(kernel.tile)).str()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getDepthwiseNhwc() {
  static const DepthwiseNhwc solver;
  return solver;
}
