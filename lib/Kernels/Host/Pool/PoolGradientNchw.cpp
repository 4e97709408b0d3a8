//===- PoolGradientNchw.cpp - Gradients of pools, plane by plane ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One channel of one image is a task: each place of the pooled tensor adds to
// the cells of its window, in f32 in scratch memory, which is then stored in
// vectors.
//
//===----------------------------------------------------------------------===//

#include "Common/TensorAccess.h"
#include "Host/Solvers.h"
#include "Pool.h"
#include "PoolGradient.h"

using namespace mlir;
using namespace tarpon;

namespace {

class PoolGradientNchw final : public Solver {
public:
  StringRef id() const override { return "pool-gradient-nchw-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.1;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct PoolGradientNchwKernel {
  bool isMax, countsPadding;
  DType indexType;
  FlatTensor gradient;
  VectorOutput output;
  Window window;
  int64_t indices; ///< buffer, of maxima
  /// Indices of parameters: the spatial shapes of the pooled tensor and of the
  /// result, and values that follow from them.
  int64_t pooledDims, resultDims, channels, pixels, rows;

  int64_t last() const { return window.rank() - 1; }
  void emit(KernelBuilder &b) const;
  void emitPlane(KernelBuilder &b, const BoundFlatTensor &dy,
                 Value plane) const;
  void emitPlace(KernelBuilder &b, const BoundFlatTensor &dy, Value plane,
                 ArrayRef<Value> place, Value offset) const;
  Value pixelPointer(KernelBuilder &b, Value pixel) const {
    return b.offset(b.getScratch(), b.mul(pixel, 4));
  }
};

} // namespace

/// Adds the gradient at `place`, element `offset`, to its window.
void PoolGradientNchwKernel::emitPlace(KernelBuilder &b,
                                       const BoundFlatTensor &dy, Value plane,
                                       ArrayRef<Value> place,
                                       Value offset) const {
  SmallVector<WindowRange> ranges;
  for (auto [dim, index] : llvm::enumerate(place))
    ranges.push_back(window.at(b, dim, index));
  Value value = dy.load(b, offset, 1), index;
  if (isMax) {
    Value pointer = b.offset(b.getBuffer(indices),
                             b.mul(offset, runtime::dtypeBytes(indexType)));
    index = b.sub(emitLoad(b, indexType, ComputeKind::I64, pointer),
                  b.mul(plane, b.getParam(pixels)));
  } else {
    Value count = emitPoolCount(b, window, ranges, place, countsPadding);
    Value cells =
        arith::SIToFPOp::create(b, b.getF32Type(), b.maxS(count, b.cst(1)));
    value = b.divF(value, cells);
  }
  auto addToCell = [&](ArrayRef<Value>, ArrayRef<Value> cell, ValueRange) {
    Value pixel = b.cst(0);
    for (auto [dim, i] : llvm::enumerate(cell))
      pixel = b.add(b.mul(pixel, b.getParam(resultDims + dim)), i);
    Value pointer = pixelPointer(b, pixel);
    auto add = [&] {
      b.store(b.addF(b.load(pointer, b.getF32Type()), value), pointer);
    };
    if (isMax)
      b.ifThen(b.eq(pixel, index), add);
    else
      add();
    return SmallVector<Value>();
  };
  forWindow(b, ranges, ValueRange(), addToCell);
}

void PoolGradientNchwKernel::emitPlane(KernelBuilder &b,
                                       const BoundFlatTensor &dy,
                                       Value plane) const {
  Value numRows = b.getParam(rows), width = b.getParam(pooledDims + last());
  b.forLoop(numRows, [&](Value row) {
    SmallVector<Value> place(last() + 1);
    Value left = row;
    for (int64_t dim = last() - 1; dim >= 0; --dim) {
      Value size = b.getParam(pooledDims + dim);
      place[dim] = b.rem(left, size);
      left = b.div(left, size);
    }
    Value start = b.mul(b.add(b.mul(plane, numRows), row), width);
    b.forLoop(width, [&](Value x) {
      place.back() = x;
      emitPlace(b, dy, plane, place, b.add(start, x));
    });
  });
}

void PoolGradientNchwKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor dy = gradient.bind(b);
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = b.lanes();
  Value size = b.getParam(pixels);
  VectorType type = b.vec(b.getF32Type(), lanes);
  b.forTasks([&](Value plane) {
    // The last vector may reach behind the plane.
    Value zero = b.cstLike(type, 0);
    b.forLoop(b.cst(0), size, b.cst(lanes),
              [&](Value i) { b.store(zero, pixelPointer(b, i)); });
    emitPlane(b, dy, plane);
    forVectors(b, b.cst(0), size, lanes, [&](Value i, Value mask) {
      VectorPlace place;
      place.offset = b.add(b.mul(plane, size), i);
      place.channel = b.rem(plane, b.getParam(channels));
      place.lanes = lanes;
      place.mask = mask;
      out.store(b, place, b.load(pixelPointer(b, i), type));
    });
  });
}

Applicability
PoolGradientNchw::isApplicable(const Problem &problem,
                               const TargetInfo & /*target*/) const {
  if (!isPoolGradient(problem.op))
    return Applicability::no("is not the gradient of a pool");
  for (int i = 0; i < problem.rootOperands; ++i)
    if (problem.operands[i].layout.kind != Layout::NCHW)
      return Applicability::no("needs operands and result in nchw");
  if (problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("needs operands and result in nchw");
  if (!isVectorizable(problem.operands[0]))
    return Applicability::no("the gradient is not stored as " + listFloats());
  return VectorOutput::check(problem);
}

SolutionPlan PoolGradientNchw::plan(const Problem &original,
                                    const TargetInfo & /*target*/,
                                    const PerfConfig & /*config*/) const {
  Problem problem = asWindowedGradient(original);
  const TensorDesc &dy = problem.operands[0], &result = problem.result;
  bool isMax = problem.op == OpKind::MaxPoolBackward;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t pixels = result.spatialSize();
  PoolGradientNchwKernel kernel{
      .isMax = isMax,
      .countsPadding = !isMax && problem.integer("count_include_pad"),
      .indexType = isMax ? problem.operands[1].dtype : DType::I64,
      .gradient = FlatTensor(launch, {BufferSlot::Operand, 0}, dy),
      .output = VectorOutput(launch, problem),
      .window =
          Window(launch, problem, problem.ints("kernel"), result.spatial()),
      .indices = isMax ? launch.addOperand(1) : -1,
      .pooledDims = launch.addParams(dy.spatial()),
      .resultDims = launch.addParams(result.spatial()),
      .channels = launch.addParam(result.shape[1]),
      .pixels = launch.addParam(pixels),
      .rows = launch.addParam(dy.spatialSize() / dy.shape.back())};
  std::string symbol = joinSymbol(
      {getOpName(problem.op), kernel.countsPadding ? "padded" : "",
       isMax ? StringRef(runtime::dtypeName(kernel.indexType)) : StringRef(),
       ("nchw" + Twine(kernel.window.rank()) + "d").str(),
       kernel.gradient.symbolPart(), kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      result.shape[0] * result.shape[1], 4 * llvm::alignTo(pixels, 64));
  return plan;
}

const Solver &tarpon::getPoolGradientNchw() {
  static const PoolGradientNchw solver;
  return solver;
}
