//===- GpuSoftmax.cpp - Softmax along consecutive elements ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave or a workgroup computes a row. The row is read from memory once, and
// from a cache for its sum and its result; recomputing exponentials is cheaper
// than LDS.
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Common/TensorAccess.h"
#include "GpuSolvers.h"
#include "RowSolver.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuSoftmax final : public RowSolver {
public:
  StringRef id() const override { return "gpu-softmax-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  int64_t getRowSize(const Problem &problem) const override;
};

struct GpuSoftmaxKernel {
  FlatTensor input;
  VectorOutput output;
  GpuRowWork work;
  int64_t size; ///< parameter

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const VectorOutput::Bound &out, Value start) const;
};

} // namespace

int64_t GpuSoftmax::getRowSize(const Problem &problem) const {
  return problem.result.shape[problem.integer("axis")];
}

void GpuSoftmaxKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                               const VectorOutput::Bound &out,
                               Value start) const {
  using Values = GpuRowWork::Values;
  Value count = b.getParam(size);
  Value lowest = b.cstF(-std::numeric_limits<double>::infinity());
  Values largest = work.fold(b, count, {lowest},
                             [&](Value i, int64_t lanes, ValueRange soFar) {
                               Value x = in.load(b, b.add(start, i), lanes);
                               return Values{b.maxF(maxLanes(b, x), soFar[0])};
                             });
  largest = work.combine(b, largest, [&](ValueRange left, ValueRange right) {
    return Values{b.maxF(left[0], right[0])};
  });
  auto power = [&](Value i, int64_t lanes) {
    Value x = in.load(b, b.add(start, i), lanes);
    return emitExp(b, b.subF(x, b.broadcast(largest[0], lanes)));
  };
  Values sum = work.fold(b, count, {b.cstF(0)},
                         [&](Value i, int64_t lanes, ValueRange soFar) {
                           Value part = sumLanes(b, power(i, lanes));
                           return Values{b.addF(soFar[0], part)};
                         });
  sum = work.combine(b, sum, [&](ValueRange left, ValueRange right) {
    return Values{b.addF(left[0], right[0])};
  });
  work.forElements(b, count, [&](Value i, int64_t lanes) {
    VectorPlace place;
    place.offset = b.add(start, i);
    place.channel = i;
    place.lanesAreChannels = true;
    place.lanes = lanes;
    out.store(b, place, b.divF(power(i, lanes), b.broadcast(sum[0], lanes)));
  });
}

void GpuSoftmaxKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  work.emit(
      b, [&](Value row) { emitRow(b, in, out, b.mul(row, b.getParam(size))); });
}

Applicability GpuSoftmax::isApplicable(const Problem &problem,
                                       const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Softmax)
    return Applicability::no("is not a softmax");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) ||
      classifyOperand(input, problem.result) != Follows::Elements)
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  int64_t axis = problem.integer("axis");
  bool isBlocked = problem.result.layout.kind == Layout::Blocked;
  if (isBlocked || getStrides(problem.result)[axis] != 1)
    return Applicability::no("needs consecutive elements along the axis");
  if (VectorOutput::followsChannels(problem) && axis != 1)
    return Applicability::no("an operand of the epilogue follows channels, "
                             "and the axis does not");
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

SolutionPlan GpuSoftmax::plan(const Problem &problem, const TargetInfo &target,
                              const PerfConfig &config) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t length = getRowSize(problem);
  int64_t rows = problem.result.numElements() / std::max<int64_t>(1, length);
  GpuSoftmaxKernel kernel{
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .output = VectorOutput(launch, problem),
      .work = GpuRowWork(launch, target, rows, config.get("lanes"),
                         chooseRowVector(problem, length, target)),
      .size = launch.addParam(length)};
  std::string symbol =
      joinSymbol({"softmax", kernel.work.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      kernel.work.tasks(), kernel.work.getWorkgroup(),
      kernel.work.getLdsBytes(1));
  return plan;
}

const Solver &tarpon::getGpuSoftmax() {
  static const GpuSoftmax solver;
  return solver;
}
