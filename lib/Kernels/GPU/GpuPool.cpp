//===- GpuPool.cpp - Pooling in vectors of channels -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maximum, average and global pools. Cells outside of the input are read from
// its edge and then ignored, so that lanes of a wave do not diverge.
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"
#include "Host/Pool/Pool.h"
#include "ImageWork.h"
#include "WorkgroupSolver.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuPool final : public WorkgroupSolver {
public:
  StringRef id() const override { return "gpu-pool-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct GpuPoolKernel {
  bool isMax, countsPadding;
  FlatTensor input;
  VectorOutput output;
  GpuImageWork work;

  void emit(KernelBuilder &b) const;
  void emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                 const VectorOutput::Bound &out,
                 const GpuImageWork::Place &place) const;
  /// A cell of the window, whose dimensions are known in part.
  struct Cell {
    Value offset;
    /// True in the input, and true in the input or its explicit padding.
    Value isInside, isPadded;
  };
  /// Folds the cells of the dimensions from `dim` on into `soFar`.
  SmallVector<Value> foldCells(KernelBuilder &b, const BoundFlatTensor &in,
                               const GpuImageWork::Place &place, size_t dim,
                               const Cell &cell, ValueRange soFar) const;
  SmallVector<Value> addCell(KernelBuilder &b, const BoundFlatTensor &in,
                             const Cell &cell, ValueRange soFar) const;
};

} // namespace

/// The neutral element of a maximum or of a sum.
static Value getIdentity(KernelBuilder &b, bool isMax, int64_t lanes) {
  double value = isMax ? -std::numeric_limits<double>::infinity() : 0;
  return b.broadcast(b.cstF(value), lanes);
}

SmallVector<Value> GpuPoolKernel::addCell(KernelBuilder &b,
                                          const BoundFlatTensor &in,
                                          const Cell &cell,
                                          ValueRange soFar) const {
  int64_t lanes = work.getVector();
  Value loaded = in.loadRaw(b, cell.offset, lanes);
  Value x = b.select(cell.isInside, loaded, getIdentity(b, isMax, lanes));
  if (isMax)
    return {b.maxF(x, soFar[0])};
  Value one = b.cstF(1), zero = b.cstF(0);
  Value counted = countsPadding ? cell.isPadded : cell.isInside;
  return {b.addF(soFar[0], x),
          b.addF(soFar[1], b.select(cell.isInside, one, zero)),
          b.addF(soFar[2], b.select(counted, one, zero))};
}

SmallVector<Value> GpuPoolKernel::foldCells(KernelBuilder &b,
                                            const BoundFlatTensor &in,
                                            const GpuImageWork::Place &place,
                                            size_t dim, const Cell &cell,
                                            ValueRange soFar) const {
  if (dim == place.window.size())
    return addCell(b, in, cell, soFar);
  const GpuWindowDim &window = place.window[dim];
  Value first = b.sub(b.mul(place.out[dim], window.stride), window.pad);
  Value padded = b.add(window.input, window.padEnd);
  return b.forLoop(b.cst(0), window.kernel, b.cst(1), soFar,
                   [&](Value k, ValueRange inner) {
                     Value at = b.add(first, b.mul(k, window.dilation));
                     Value isInside = b.ult(at, window.input);
                     // An existing place is read in any case.
                     Value read = b.select(isInside, at, b.cst(0));
                     Cell next{b.add(cell.offset, b.mul(read, window.step)),
                               b.andI(cell.isInside, isInside),
                               b.andI(cell.isPadded, b.slt(at, padded))};
                     return foldCells(b, in, place, dim + 1, next, inner);
                   });
}

void GpuPoolKernel::emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                              const VectorOutput::Bound &out,
                              const GpuImageWork::Place &place) const {
  int64_t lanes = work.getVector();
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  SmallVector<Value> start = {getIdentity(b, isMax, lanes)};
  if (!isMax)
    start.append(2, b.cstF(0));
  SmallVector<Value> folded =
      foldCells(b, in, place, 0, {place.start, yes, yes}, start);
  Value value =
      isMax ? in.dequantize(b, folded[0])
            : emitPoolMean(b, in, folded[0], b.broadcast(folded[1], lanes),
                           b.broadcast(folded[2], lanes));
  out.store(b, work.getOutput(b, place, place.out.back()), value);
}

void GpuPoolKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  work.emit(b, [&](const GpuImageWork::Place &place) {
    emitPlace(b, in, out, place);
  });
}

Applicability GpuPool::isApplicable(const Problem &problem,
                                    const TargetInfo & /*target*/) const {
  if (!isPool(problem.op))
    return Applicability::no("is not a pool");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (Applicability answer = GpuImageWork::check(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

SolutionPlan GpuPool::plan(const Problem &original,
                           const TargetInfo & /*target*/,
                           const PerfConfig &config) const {
  Problem problem = asWindowedPool(original);
  const TensorDesc &input = problem.operands[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t workgroup = config.get("workgroup");
  bool isMax = problem.op == OpKind::MaxPool;
  bool isNhwc = input.layout.kind == Layout::NHWC;
  int64_t vector = isNhwc ? chooseGpuVector(problem, input.shape[1]) : 1;
  GpuPoolKernel kernel{
      .isMax = isMax,
      .countsPadding = !isMax && problem.integer("count_include_pad") != 0,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .work = GpuImageWork(launch, problem, problem.ints("kernel"), vector,
                           /*tile=*/1, workgroup)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), kernel.countsPadding ? "padded" : "",
                  kernel.work.symbolPart(), kernel.input.symbolPart(),
                  kernel.output.symbolPart()});
  int64_t tasks = kernel.work.tasks();
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      tasks, workgroup);
  return plan;
}

const Solver &tarpon::getGpuPool() {
  static const GpuPool solver;
  return solver;
}
