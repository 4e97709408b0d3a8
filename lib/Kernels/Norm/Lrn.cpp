//===- Lrn.cpp - Vectorised local response normalisation ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In nchw, vectors of pixels of one channel; in nhwc, vectors of channels,
// whose neighbours are loaded from shifted addresses.
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"
#include "Solvers.h"
#include "VectorAccess.h"

using namespace mlir;
using namespace tarpon;

namespace {

class Lrn final : public Solver {
public:
  StringRef id() const override { return "lrn-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct LrnKernel {
  bool channelsLast;
  FlatTensor input;
  VectorOutput output;
  VectorLoop loop;
  int64_t channels, channelStride, below, above; ///< parameters
  int64_t alphaOverSize, minusBeta, bias;        ///< parameters

  void emit(KernelBuilder &b) const;
  Value emitSquares(KernelBuilder &b, const BoundFlatTensor &in,
                    const VectorPlace &place) const;
  Value emitNeighbours(KernelBuilder &b, const BoundFlatTensor &in,
                       const VectorPlace &place, Value distance) const;
};

} // namespace

/// The elements `distance` channels further; zero where there is no channel.
Value LrnKernel::emitNeighbours(KernelBuilder &b, const BoundFlatTensor &in,
                                const VectorPlace &place,
                                Value distance) const {
  Value offset =
      b.add(place.offset, b.mul(distance, b.getParam(channelStride)));
  if (!channelsLast)
    return in.load(b, offset, place.lanes, place.mask);
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < place.lanes; ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  Type i32 = b.getI32Type();
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.vec(i32, place.lanes),
                                ArrayRef<int32_t>(numbers)));
  auto splat = [&](Value value) {
    return b.broadcast(arith::TruncIOp::create(b, i32, value), place.lanes);
  };
  Value channel = b.add(splat(b.add(place.channel, distance)), lanes);
  Value exists = b.ult(channel, splat(b.getParam(channels)));
  Value x = in.load(b, offset, place.lanes, exists);
  return b.select(exists, x, b.cstLike(x.getType(), 0));
}

Value LrnKernel::emitSquares(KernelBuilder &b, const BoundFlatTensor &in,
                             const VectorPlace &place) const {
  Value first = b.sub(b.cst(0), b.getParam(below));
  Value last = b.getParam(above);
  if (!channelsLast) {
    first = b.maxS(first, b.sub(b.cst(0), place.channel));
    last = b.minS(last, b.sub(b.sub(b.getParam(channels), 1), place.channel));
  }
  Value zero = b.cstLike(b.vec(b.getF32Type(), place.lanes), 0);
  return b
      .forLoop(first, b.add(last, 1), b.cst(1), zero,
               [&](Value distance, ValueRange sum) {
                 Value x = emitNeighbours(b, in, place, distance);
                 return SmallVector<Value>{b.addF(sum.front(), b.mulF(x, x))};
               })
      .front();
}

void LrnKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value factor = b.getFloatParam(alphaOverSize);
  Value exponent = b.getFloatParam(minusBeta), offset = b.getFloatParam(bias);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    int64_t lanes = place.lanes;
    Value sum = emitSquares(b, in, place);
    Value base = b.addF(b.broadcast(offset, lanes),
                        b.mulF(b.broadcast(factor, lanes), sum));
    Value power = emitPow(b, base, b.broadcast(exponent, lanes));
    Value x = in.load(b, place.offset, lanes, place.mask);
    out.store(b, place, b.mulF(x, power));
  });
}

Applicability Lrn::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != "lrn")
    return Applicability::no("is not a local response normalisation");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return Applicability::no("operand and result differ in layout, or the "
                             "operand is stored in another type than f32, "
                             "f16, bf16 or a per-tensor quantised one");
  if (input.layout.kind == Layout::Blocked)
    return Applicability::no("needs nchw or nhwc");
  return VectorOutput::check(problem);
}

SolutionPlan Lrn::plan(const Problem &problem, const TargetInfo & /*target*/,
                       const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t pixels = problem.result.spatialSize();
  // VectorLoop takes images of one pixel for nhwc, as which they lie.
  bool channelsLast = problem.result.layout.kind == Layout::NHWC || pixels == 1;
  int64_t size = problem.integer("size");
  LrnKernel kernel{
      .channelsLast = channelsLast,
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .output = VectorOutput(launch, problem),
      .loop = VectorLoop(launch, problem.result, /*needsChannels=*/true),
      .channels = launch.addParam(problem.result.shape[1]),
      .channelStride = launch.addParam(channelsLast ? 1 : pixels),
      .below = launch.addParam((size - 1) / 2),
      .above = launch.addParam(size / 2),
      .alphaOverSize = launch.addFloatParam(problem.number("alpha") / size),
      .minusBeta = launch.addFloatParam(-problem.number("beta")),
      .bias = launch.addFloatParam(problem.number("bias"))};
  std::string symbol =
      joinSymbol({"lrn", kernel.loop.symbolPart(), kernel.input.symbolPart(),
                  kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getLrn() {
  static const Lrn solver;
  return solver;
}
