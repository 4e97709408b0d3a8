//===- Lrn.cpp - Vectorised local response normalisation ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In nchw, vectors hold pixels of one channel; in nhwc, they hold channels,
// whose neighbours are loaded from shifted addresses.
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Common/VectorAccess.h"
#include "Host/Solvers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

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
  int64_t below, above; ///< channels of the window beside the own one
  bool isThreeQuarters; ///< the exponent
  int64_t channels, channelStride;        ///< parameters
  int64_t alphaOverSize, minusBeta, bias; ///< parameters

  void emit(KernelBuilder &b) const;
  void emitVector(KernelBuilder &b, const BoundFlatTensor &in,
                  const VectorOutput::Bound &out, const VectorPlace &place,
                  bool isInside) const;
  Value emitSquares(KernelBuilder &b, const BoundFlatTensor &in,
                    const VectorPlace &place, bool isInside) const;
  Value emitNeighbours(KernelBuilder &b, const BoundFlatTensor &in,
                       const VectorPlace &place, int64_t distance,
                       bool isInside) const;
};

} // namespace

/// Loads the elements `distance` channels further; zero where there is no
/// channel. With `isInside` there always is one.
Value LrnKernel::emitNeighbours(KernelBuilder &b, const BoundFlatTensor &in,
                                const VectorPlace &place, int64_t distance,
                                bool isInside) const {
  Value offset =
      b.add(place.offset, b.mul(b.getParam(channelStride), distance));
  if (isInside)
    return in.load(b, offset, place.lanes, place.mask);
  Value channel = b.add(place.channel, distance);
  Value count = b.getParam(channels), exists;
  if (channelsLast) {
    Value missing = b.firstLanes(b.sub(b.cst(0), channel), place.lanes);
    exists = b.firstLanes(b.sub(count, channel), place.lanes);
    Value all = b.cstLike(exists.getType(), -1);
    exists = b.andI(exists, arith::XOrIOp::create(b, missing, all));
  } else {
    // All lanes have the same channel.
    Value none = b.cst(0), whole = b.cst(place.lanes);
    exists =
        b.firstLanes(b.select(b.ult(channel, count), whole, none), place.lanes);
    if (place.mask)
      exists = b.andI(exists, place.mask);
  }
  Value x = in.load(b, offset, place.lanes, exists);
  return b.select(exists, x, b.cstLike(x.getType(), 0));
}

Value LrnKernel::emitSquares(KernelBuilder &b, const BoundFlatTensor &in,
                             const VectorPlace &place, bool isInside) const {
  Value sum = b.cstLike(b.vec(b.getF32Type(), place.lanes), 0);
  for (int64_t distance = -below; distance <= above; ++distance) {
    Value x = emitNeighbours(b, in, place, distance, isInside);
    sum = b.fma(x, x, sum);
  }
  return sum;
}

/// 1 / sqrt(x) to 27 bits, for finite x > 0.
static Value emitInverseRoot(KernelBuilder &b, Value x) {
  Type type = x.getType();
  Value mask = arith::ConstantOp::create(b, b.getI16IntegerAttr(-1));
  Value estimate =
      LLVM::CallIntrinsicOp::create(
          b, type, b.getStringAttr("llvm.x86.avx512.rsqrt14.ps.512"),
          ValueRange{x, b.cstLike(type, 0), mask})
          .getResult(0);
  Value half = b.mulF(b.mulF(x, b.cstLike(type, -0.5)), estimate);
  Value step = b.fma(half, estimate, b.cstLike(type, 1.5));
  return b.mulF(estimate, step);
}

/// x to the power of -3/4, the exponent of AlexNet and its successors.
static Value emitThreeQuarters(KernelBuilder &b, Value x) {
  Type type = x.getType();
  if (b.getTarget().vectorBits < 512) {
    Value root = math::SqrtOp::create(b, x);
    Value fourth = math::SqrtOp::create(b, root);
    return b.divF(b.cstLike(type, 1), b.mulF(root, fourth));
  }
  Value finite = b.minF(b.cstLike(type, std::numeric_limits<float>::max()), x);
  Value root = emitInverseRoot(b, finite);
  return b.mulF(b.mulF(root, root), emitInverseRoot(b, root));
}

void LrnKernel::emitVector(KernelBuilder &b, const BoundFlatTensor &in,
                           const VectorOutput::Bound &out,
                           const VectorPlace &place, bool isInside) const {
  int64_t lanes = place.lanes;
  Value factor = b.broadcast(b.getFloatParam(alphaOverSize), lanes);
  Value offset = b.broadcast(b.getFloatParam(bias), lanes);
  Value base = b.fma(factor, emitSquares(b, in, place, isInside), offset);
  Value exponent = b.broadcast(b.getFloatParam(minusBeta), lanes);
  Value power =
      isThreeQuarters ? emitThreeQuarters(b, base) : emitPow(b, base, exponent);
  Value x = in.load(b, place.offset, lanes, place.mask);
  out.store(b, place, b.mulF(x, power));
}

void LrnKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    Value first = b.sub(place.channel, below);
    int64_t behind = above + (channelsLast ? place.lanes : 1);
    Value room = b.sub(b.getParam(channels), b.add(place.channel, behind));
    // The last vector of a pixel ends early.
    Value isInside = b.andI(b.slt(b.cst(-1), first), b.slt(b.cst(-1), room));
    b.ifThenElse(
        isInside, [&] { emitVector(b, in, out, place, true); },
        [&] { emitVector(b, in, out, place, false); });
  });
}

Applicability Lrn::isApplicable(const Problem &problem,
                                const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Lrn)
    return Applicability::no("is not a local response normalisation");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  if (input.layout.kind == Layout::Blocked)
    return Applicability::no("needs nchw or nhwc");
  // The window is unrolled.
  if (problem.integer("size") > 15)
    return Applicability::no("needs a window of at most 15 channels");
  return VectorOutput::check(problem);
}

SolutionPlan Lrn::plan(const Problem &problem, const TargetInfo & /*target*/,
                       const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t pixels = problem.result.spatialSize();
  // VectorLoop takes nhwc as images of one pixel, which has the same memory.
  bool channelsLast = problem.result.layout.kind == Layout::NHWC || pixels == 1;
  int64_t size = problem.integer("size");
  LrnKernel kernel{
      .channelsLast = channelsLast,
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .output = VectorOutput(launch, problem),
      .loop = VectorLoop(launch, problem.result, /*needsChannels=*/true),
      .below = (size - 1) / 2,
      .above = size / 2,
      .isThreeQuarters = problem.number("beta") == 0.75,
      .channels = launch.addParam(problem.result.shape[1]),
      .channelStride = launch.addParam(channelsLast ? 1 : pixels),
      .alphaOverSize = launch.addFloatParam(problem.number("alpha") / size),
      .minusBeta = launch.addFloatParam(-problem.number("beta")),
      .bias = launch.addFloatParam(problem.number("bias"))};
  std::string symbol = joinSymbol(
      {"lrn", std::to_string(size),
       kernel.isThreeQuarters ? "three_quarters" : "", kernel.loop.symbolPart(),
       kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getLrn() {
  static const Lrn solver;
  return solver;
}
