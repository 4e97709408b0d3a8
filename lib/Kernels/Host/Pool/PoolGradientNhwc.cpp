//===- PoolGradientNhwc.cpp - Gradients of pools in vectors of channels ---===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on nhwc and blocked tensors. A pixel of the input's gradient gathers
// from the places of the pooled tensor whose windows cover it, so that no two
// tasks write to one pixel.
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Common/TensorAccess.h"
#include "Host/Solvers.h"
#include "PoolGradient.h"

using namespace mlir;
using namespace tarpon;

namespace {

class PoolGradientNhwc final : public Solver {
public:
  StringRef id() const override { return "pool-gradient-nhwc-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct PoolGradientNhwcKernel {
  bool isMax;
  DType indexType;
  FlatTensor gradient;
  VectorOutput output;
  ChannelsLastLoop loop;
  int64_t numDims;
  int64_t indices;             ///< buffer, of maxima
  std::vector<int64_t> counts; ///< buffers, of means
  /// Indices of parameters: kernel, stride, pad, dilation and number of places
  /// of each dimension; the result's spatial shape and values that follow from
  /// it.
  int64_t window, shape, channels, imageElements, pixels;

  /// A pixel of the result, for a vector of channels from `channel` on.
  struct Target {
    const BoundFlatTensor &dy;
    const ChannelsLastRow &row;
    ArrayRef<Value> place;
    Value channel, mask, flat; ///< the last: logical indices, of maxima
    int64_t lanes;
  };
  void emit(KernelBuilder &b) const;
  Value emitFlat(KernelBuilder &b, const ChannelsLastRow &row,
                 ArrayRef<Value> place, Value channel, int64_t lanes) const;
  Value emitSum(KernelBuilder &b, const Target &target,
                SmallVector<Value> pooled, Value divisor, Value sum) const;
  Value emitCell(KernelBuilder &b, const Target &target, ArrayRef<Value> pooled,
                 Value divisor, Value sum) const;
};

} // namespace

/// The indices of the elements in the whole result, in row-major order.
Value PoolGradientNhwcKernel::emitFlat(KernelBuilder &b,
                                       const ChannelsLastRow &row,
                                       ArrayRef<Value> place, Value channel,
                                       int64_t lanes) const {
  Value image = b.div(row.inputStart, b.getParam(imageElements));
  Value first = b.add(b.mul(image, b.getParam(channels)),
                      b.add(row.blockChannel, channel));
  for (auto [dim, index] : llvm::enumerate(place))
    first = b.add(b.mul(first, b.getParam(shape + dim)), index);
  SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(lane);
  VectorType type = b.vec(b.getI64Type(), lanes);
  Value steps = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
  return b.add(b.broadcast(first, lanes),
               b.mul(steps, b.broadcast(b.getParam(pixels), lanes)));
}

Value PoolGradientNhwcKernel::emitCell(KernelBuilder &b, const Target &target,
                                       ArrayRef<Value> pooled, Value divisor,
                                       Value sum) const {
  Value at = b.add(loop.inputPixel(b, target.row, pooled), target.channel);
  Value dy = target.dy.load(b, at, target.lanes, target.mask);
  if (!isMax)
    return b.addF(sum, b.divF(dy, b.broadcast(divisor, target.lanes)));
  Value pointer =
      b.offset(b.getBuffer(indices), b.mul(at, runtime::dtypeBytes(indexType)));
  Value index = emitLoad(b, indexType, ComputeKind::I64, pointer, target.lanes,
                         target.mask);
  return b.select(b.eq(index, target.flat), b.addF(sum, dy), sum);
}

/// Loops over the cells of the dimensions for which `pooled` has no place yet.
Value PoolGradientNhwcKernel::emitSum(KernelBuilder &b, const Target &target,
                                      SmallVector<Value> pooled, Value divisor,
                                      Value sum) const {
  int64_t dim = static_cast<int64_t>(pooled.size());
  if (dim == numDims)
    return emitCell(b, target, pooled, divisor, sum);
  auto field = [&](int64_t which) {
    return b.getParam(window + 5 * dim + which);
  };
  Value stride = field(1), places = field(4);
  Value last = b.add(target.place[dim], field(2));
  auto addCell = [&](Value k, ValueRange soFar) {
    Value distance = b.sub(last, b.mul(k, field(3)));
    Value x = b.div(distance, stride);
    Value isWhole = b.eq(b.mul(x, stride), distance);
    Value isPlace = b.andI(b.cmp(KernelBuilder::Pred::sge, distance, b.cst(0)),
                           b.andI(isWhole, b.slt(x, places)));
    return b.ifThenElse(
        isPlace, TypeRange{sum.getType()},
        [&] {
          SmallVector<Value> further(pooled);
          further.push_back(x);
          Value both = divisor;
          if (!isMax) {
            Value at = b.offset(b.getBuffer(counts[dim]), b.mul(x, 4));
            Value own = b.load(at, b.getF32Type());
            both = divisor ? b.mulF(divisor, own) : own;
          }
          return SmallVector<Value>{
              emitSum(b, target, further, both, soFar.front())};
        },
        [&] { return SmallVector<Value>{soFar.front()}; });
  };
  return b.forLoop(b.cst(0), field(0), b.cst(1), sum, addCell).front();
}

void PoolGradientNhwcKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor dy = gradient.bind(b);
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = loop.fittingLanes(b.lanes());
  loop.emit(b, [&](const ChannelsLastRow &row) {
    b.forLoop(loop.outWidth(b), [&](Value x) {
      SmallVector<Value> place(row.outer);
      place.push_back(x);
      forVectors(b, row.begin, row.end, lanes, [&](Value c, Value mask) {
        Target target{dy, row, place, c, mask, Value(), lanes};
        if (isMax)
          target.flat = emitFlat(b, row, place, c, lanes);
        Value zero = b.cstLike(b.vec(b.getF32Type(), lanes), 0);
        Value sum = emitSum(b, target, {}, Value(), zero);
        out.store(b, loop.outputPlace(b, row, x, c, lanes, mask), sum);
      });
    });
  });
}

Applicability
PoolGradientNhwc::isApplicable(const Problem &problem,
                               const TargetInfo & /*target*/) const {
  if (!isPoolGradient(problem.op))
    return Applicability::no("is not the gradient of a pool");
  if (!isVectorizable(problem.operands[0]))
    return Applicability::no("the gradient is not stored as " + listFloats());
  if (Applicability answer = ChannelsLastLoop::check(problem); !answer)
    return answer;
  if (problem.rootOperands == 2 &&
      !(problem.operands[1].layout == problem.result.layout))
    return Applicability::no("indices and result differ in layout");
  return VectorOutput::check(problem);
}

SolutionPlan PoolGradientNhwc::plan(const Problem &original,
                                    const TargetInfo & /*target*/,
                                    const PerfConfig & /*config*/) const {
  Problem problem = asWindowedGradient(original);
  const TensorDesc &dy = problem.operands[0], &result = problem.result;
  int64_t numDims = dy.rank() - 2;
  bool isMax = problem.op == OpKind::MaxPoolBackward;
  std::vector<int64_t> kernelShape = problem.ints("kernel"),
                       strides = problem.ints("strides"),
                       pads = problem.ints("pads"),
                       dilations = problem.ints("dilations"), fields, counts;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  double cost = 2;
  for (int64_t dim = 0; dim < numDims; ++dim) {
    fields.insert(fields.end(), {kernelShape[dim], strides[dim], pads[dim],
                                 dilations[dim], dy.spatial()[dim]});
    cost *= static_cast<double>(kernelShape[dim]);
    if (!isMax)
      counts.push_back(launch.addFloats(countGradientCells(problem, dim)));
  }
  bool isBlocked = dy.layout.kind == Layout::Blocked;
  int64_t padded =
      isBlocked ? llvm::alignTo(dy.shape[1], dy.layout.block) : dy.shape[1];
  PoolGradientNhwcKernel kernel{
      .isMax = isMax,
      .indexType = isMax ? problem.operands[1].dtype : DType::I64,
      .gradient = FlatTensor(launch, {BufferSlot::Operand, 0}, dy),
      .output = VectorOutput(launch, problem),
      .loop = ChannelsLastLoop(launch, problem, cost),
      .numDims = numDims,
      .indices = isMax ? launch.addOperand(1) : -1,
      .counts = counts,
      .window = launch.addParams(fields),
      .shape = launch.addParams(result.spatial()),
      .channels = launch.addParam(result.shape[1]),
      .imageElements = launch.addParam(dy.spatialSize() * padded),
      .pixels = launch.addParam(result.spatialSize())};
  std::string symbol = joinSymbol(
      {getOpName(problem.op),
       isMax ? StringRef(runtime::dtypeName(kernel.indexType)) : StringRef(),
       kernel.loop.symbolPart(), kernel.gradient.symbolPart(),
       kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getPoolGradientNhwc() {
  static const PoolGradientNhwc solver;
  return solver;
}
