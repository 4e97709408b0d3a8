//===- Softmax.cpp - Vectorised softmax along consecutive elements --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/MathFunctions.h"
#include "Common/TensorAccess.h"
#include "Common/VectorFold.h"
#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class Softmax final : public Solver {
public:
  StringRef id() const override { return "softmax-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct SoftmaxKernel {
  FlatTensor input;
  VectorOutput output;
  int64_t rows, rowsPerTask, size; ///< parameters

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const VectorOutput::Bound &out, Value start) const;
  /// Folds `body(i, mask, so far)` over a row's vectors, in blocks. Every
  /// element is visited once.
  Value fold(KernelBuilder &b, Value neutral,
             function_ref<Value(Value, Value, Value)> body,
             function_ref<Value(Value, Value)> combine) const;
};

} // namespace

Value SoftmaxKernel::fold(KernelBuilder &b, Value neutral,
                          function_ref<Value(Value, Value, Value)> body,
                          function_ref<Value(Value, Value)> combine) const {
  int64_t lanes = b.lanes();
  Value count = b.getParam(size);
  Value whole = b.mul(b.div(count, lanes), lanes);
  Value folded =
      emitBlockedFold(
          b, b.cst(0), whole, lanes, neutral,
          [&](Value i, ValueRange soFar) {
            return FoldSteps::Values{body(i, Value(), soFar.front())};
          },
          [&](ValueRange left, ValueRange right) {
            return FoldSteps::Values{combine(left.front(), right.front())};
          })
          .front();
  Value mask = b.firstLanes(b.sub(count, whole), lanes);
  return b
      .ifThenElse(
          b.slt(whole, count), neutral.getType(),
          [&] { return SmallVector<Value>{body(whole, mask, folded)}; },
          [&] { return SmallVector<Value>{folded}; })
      .front();
}

void SoftmaxKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                            const VectorOutput::Bound &out, Value start) const {
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value lowest = b.cstLike(type, -std::numeric_limits<double>::infinity());
  Value zero = b.cstLike(type, 0);
  auto most = [&](Value left, Value right) { return b.maxF(left, right); };
  auto add = [&](Value left, Value right) { return b.addF(left, right); };
  auto takeLarger = [&](Value i, Value mask, Value soFar) {
    Value x = in.load(b, b.add(start, i), lanes, mask);
    return b.maxF(mask ? b.select(mask, x, lowest) : x, soFar);
  };
  Value largest = fold(b, lowest, takeLarger, most);
  largest = b.broadcast(b.reduceMax(largest), lanes);
  // The exponentials are kept: computing them costs more than storing them.
  Value scratch = b.getScratch();
  auto addPower = [&](Value i, Value mask, Value soFar) {
    Value x = in.load(b, b.add(start, i), lanes, mask);
    Value power = emitExp(b, b.subF(x, largest));
    if (mask)
      power = b.select(mask, power, zero);
    b.store(power, b.offset(scratch, b.mul(i, 4)));
    return b.addF(soFar, power);
  };
  Value sum = fold(b, zero, addPower, add);
  sum = b.broadcast(b.reduceAdd(sum), lanes);
  forVectors(b, b.cst(0), b.getParam(size), lanes, [&](Value i, Value mask) {
    Value power = b.load(b.offset(scratch, b.mul(i, 4)), type);
    VectorPlace place;
    place.offset = b.add(start, i);
    place.channel = i;
    place.lanesAreChannels = true;
    place.lanes = lanes;
    place.mask = mask;
    out.store(b, place, b.divF(power, sum));
  });
}

void SoftmaxKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value perTask = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rows));
  b.forLoop(first, last, b.cst(1), [&](Value row) {
    emitRow(b, in, out, b.mul(row, b.getParam(size)));
  });
}

/// The most elements of a row: its exponentials are kept in the scratch.
static constexpr int64_t kMaxRow = 1 << 20;

Applicability Softmax::isApplicable(const Problem &problem,
                                    const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Softmax)
    return Applicability::no("is not a softmax");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) ||
      classifyOperand(input, problem.result) == std::nullopt)
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  int64_t axis = problem.integer("axis");
  bool isBlocked = problem.result.layout.kind == Layout::Blocked;
  if (isBlocked || getStrides(problem.result)[axis] != 1)
    return Applicability::no("needs consecutive elements along the axis");
  if (problem.result.shape[axis] > kMaxRow)
    return Applicability::no("a row has more than 2^20 elements");
  if (VectorOutput::followsChannels(problem) && axis != 1)
    return Applicability::no("an operand of the epilogue follows channels, "
                             "and the axis does not");
  return VectorOutput::check(problem);
}

SolutionPlan Softmax::plan(const Problem &problem,
                           const TargetInfo & /*target*/,
                           const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t size = problem.result.shape[problem.integer("axis")];
  int64_t rows = problem.result.numElements() / std::max<int64_t>(1, size);
  constexpr int64_t kElementsPerTask = 4096;
  int64_t perTask =
      std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, size));
  SoftmaxKernel kernel{.input = FlatTensor(launch, {BufferSlot::Operand, 0},
                                           problem.operands[0]),
                       .output = VectorOutput(launch, problem),
                       .rows = launch.addParam(rows),
                       .rowsPerTask = launch.addParam(perTask),
                       .size = launch.addParam(size)};
  std::string symbol = joinSymbol(
      {"softmax", kernel.input.symbolPart(), kernel.output.symbolPart()});
  // The last vector is stored as a whole.
  constexpr int64_t kWidestVector = 64;
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      std::max<int64_t>(1, llvm::divideCeil(rows, perTask)),
      size * 4 + kWidestVector);
  return plan;
}

const Solver &tarpon::getSoftmax() {
  static const Softmax solver;
  return solver;
}
