//===- PoolGradient.cpp - Reference gradients of pools --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of the input's gradient is the sum over the cells of a window
// through which it may have been read.
//
//===----------------------------------------------------------------------===//

#include "Host/Pool/PoolGradient.h"
#include "Reference.h"

using namespace mlir;
using namespace tarpon;

namespace {
struct PoolGradientKernel {
  bool isMax;
  ComputeKind kind;
  int64_t numDims;
  TensorAccess gradient;
  std::optional<TensorAccess> indices;
  std::vector<int64_t> counts; ///< buffers, of means
  /// Indices of parameters: kernel, stride, pad, dilation and number of places
  /// of each dimension; the result's shape.
  int64_t window, shape;
  OutputAccess output;
  ElementLoop loop;

  struct Bound {
    BoundTensor gradient;
    std::optional<BoundTensor> indices;
  };
  void emit(KernelBuilder &b) const;
  Value emitSum(KernelBuilder &b, const Bound &bound, ArrayRef<Value> place,
                SmallVector<Value> pooled, Value flat, Value divisor,
                Value sum) const;
  Value emitCell(KernelBuilder &b, const Bound &bound, ArrayRef<Value> pooled,
                 Value flat, Value divisor, Value sum) const;
};
} // namespace

/// Returns `sum` plus the contribution of one place of the pooled tensor.
Value PoolGradientKernel::emitCell(KernelBuilder &b, const Bound &bound,
                                   ArrayRef<Value> pooled, Value flat,
                                   Value divisor, Value sum) const {
  Value dy = bound.gradient.load(b, pooled);
  if (!isMax) {
    if (kind == ComputeKind::F64)
      divisor = arith::ExtFOp::create(b, b.getF64Type(), divisor);
    return b.addF(sum, b.divF(dy, divisor));
  }
  Value chosen = b.eq(bound.indices->load(b, pooled), flat);
  return b.select(chosen, b.addF(sum, dy), sum);
}

/// Loops over the cells of the dimensions for which `pooled` has no place yet.
Value PoolGradientKernel::emitSum(KernelBuilder &b, const Bound &bound,
                                  ArrayRef<Value> place,
                                  SmallVector<Value> pooled, Value flat,
                                  Value divisor, Value sum) const {
  int64_t dim = static_cast<int64_t>(pooled.size()) - 2;
  if (dim == numDims)
    return emitCell(b, bound, pooled, flat, divisor, sum);
  auto field = [&](int64_t which) {
    return b.getParam(window + 5 * dim + which);
  };
  Value kernel = field(0), stride = field(1), places = field(4);
  Value last = b.add(place[2 + dim], field(2));
  auto addCell = [&](Value k, ValueRange soFar) {
    // In front of the first place it is negative, and thus too large when
    // unsigned.
    Value distance = b.sub(last, b.mul(k, field(3)));
    Value x = b.div(distance, stride);
    Value isWhole = b.eq(b.rem(distance, stride), b.cst(0));
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
              emitSum(b, bound, place, further, flat, both, soFar.front())};
        },
        [&] { return SmallVector<Value>{soFar.front()}; });
  };
  return b.forLoop(b.cst(0), kernel, b.cst(1), sum, addCell).front();
}

void PoolGradientKernel::emit(KernelBuilder &b) const {
  Bound bound{gradient.bind(b), std::nullopt};
  if (indices)
    bound.indices = indices->bind(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    Value flat = b.cst(0);
    for (auto [dim, index] : llvm::enumerate(place))
      flat = b.add(b.mul(flat, b.getParam(shape + dim)), index);
    Value zero = b.cstLike(computeTypeOf(b, kind), 0);
    out.store(
        b, place,
        emitSum(b, bound, place, {place[0], place[1]}, flat, Value(), zero));
  });
}

SolutionPlan reference::planPoolGradient(const Problem &original) {
  Problem problem = asWindowedGradient(original);
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &dy = problem.operands[0];
  int64_t numDims = dy.rank() - 2;
  bool isMax = problem.op == OpKind::MaxPoolBackward;
  std::vector<int64_t> kernelShape = problem.ints("kernel"),
                       strides = problem.ints("strides"),
                       pads = problem.ints("pads"),
                       dilations = problem.ints("dilations"), fields, counts;
  double cost = 10;
  for (int64_t dim = 0; dim < numDims; ++dim) {
    fields.insert(fields.end(), {kernelShape[dim], strides[dim], pads[dim],
                                 dilations[dim], dy.spatial()[dim]});
    cost *= static_cast<double>(kernelShape[dim]);
    if (!isMax)
      counts.push_back(launch.addFloats(countGradientCells(problem, dim)));
  }
  std::optional<TensorAccess> indices;
  // Indices are integers, whatever type the gradient has.
  if (isMax)
    indices.emplace(launch, BufferSlot{BufferSlot::Operand, 1},
                    problem.operands[1], problem.operands[1].shape,
                    ComputeKind::I64);
  PoolGradientKernel kernel{
      .isMax = isMax,
      .kind = computeKindOf(problem),
      .numDims = numDims,
      .gradient = accessOperand(launch, problem, 0, dy.shape),
      .indices = indices,
      .counts = counts,
      .window = launch.addParams(fields),
      .shape = launch.addParams(problem.result.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, cost)};
  std::string symbol = joinSymbol(
      {"ref", getOpName(problem.op), kernel.gradient.symbolPart(),
       isMax ? indices->symbolPart() : "", kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
