//===- GpuLayerNorm.cpp - Layer normalisation, rows per group of lanes ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave or a workgroup computes a row. Mean and deviation are found in two
// passes, to avoid cancellation.
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"
#include "Host/Norm/RowNorm.h"
#include "RowSolver.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GpuLayerNorm final : public RowSolver {
public:
  StringRef id() const override { return "gpu-layernorm-v1"; }
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

struct GpuLayerNormKernel {
  FlatTensor input;
  AffineOperands affine;
  SavedStatistics saved;
  VectorOutput output;
  GpuRowWork work;
  int64_t size, inverseSize, epsilon; ///< parameters

  void emit(KernelBuilder &b) const;
  /// The sum of `term` over the row, in all lanes.
  Value emitSum(KernelBuilder &b, const BoundFlatTensor &in, Value start,
                function_ref<Value(Value x)> term) const;
  void emitRow(KernelBuilder &b, const BoundFlatTensor &in,
               const AffineOperands::Bound &factors,
               const VectorOutput::Bound &out, Value row) const;
};

struct RowShape {
  int64_t rows = 1, size = 1;
};

} // namespace

static RowShape getRowShape(const Problem &problem) {
  RowShape shape;
  for (auto [dim, extent] : llvm::enumerate(problem.operands[0].shape))
    (static_cast<int64_t>(dim) < problem.integer("axis") ? shape.rows
                                                         : shape.size) *=
        extent;
  return shape;
}

Value GpuLayerNormKernel::emitSum(KernelBuilder &b, const BoundFlatTensor &in,
                                  Value start,
                                  function_ref<Value(Value)> term) const {
  using Values = GpuRowWork::Values;
  Values sum =
      work.fold(b, b.getParam(size), {b.cstF(0)},
                [&](Value i, int64_t lanes, ValueRange soFar) {
                  Value x = in.load(b, b.add(start, i), lanes);
                  return Values{b.addF(soFar[0], sumLanes(b, term(x)))};
                });
  return work.combine(b, sum, [&](ValueRange left, ValueRange right) {
    return Values{b.addF(left[0], right[0])};
  })[0];
}

void GpuLayerNormKernel::emitRow(KernelBuilder &b, const BoundFlatTensor &in,
                                 const AffineOperands::Bound &factors,
                                 const VectorOutput::Bound &out,
                                 Value row) const {
  Value count = b.getParam(size), start = b.mul(row, count);
  Value inverseCount = b.getFloatParam(inverseSize);
  auto widen = [&](Value scalar, Value like) {
    auto vector = dyn_cast<VectorType>(like.getType());
    return b.broadcast(scalar, vector ? vector.getNumElements() : 1);
  };
  Value sum = emitSum(b, in, start, [](Value x) { return x; });
  Value mean = b.mulF(sum, inverseCount);
  Value squares = emitSum(b, in, start, [&](Value x) {
    Value centred = b.subF(x, widen(mean, x));
    return b.mulF(centred, centred);
  });
  Value inverse =
      emitInverseDeviation(b, squares, inverseCount, b.getFloatParam(epsilon));
  work.once(b, [&] { saved.store(b, row, mean, inverse); });
  work.forElements(b, count, [&](Value i, int64_t lanes) {
    VectorPlace place;
    place.offset = b.add(start, i);
    place.lanes = lanes;
    Value x = in.load(b, place.offset, lanes);
    Value y = b.mulF(b.subF(x, widen(mean, x)), widen(inverse, x));
    Value scale = factors.loadScale(b, i, lanes);
    Value bias = factors.loadBias(b, i, lanes);
    if (scale)
      y = bias ? b.fma(y, scale, bias) : b.mulF(y, scale);
    out.store(b, place, y);
  });
}

void GpuLayerNormKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  AffineOperands::Bound factors = affine.bind(b);
  VectorOutput::Bound out = output.bind(b);
  work.emit(b, [&](Value row) { emitRow(b, in, factors, out, row); });
}

Applicability GpuLayerNorm::isApplicable(const Problem &problem,
                                         const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::LayerNorm)
    return Applicability::no("is not a layer normalisation");
  const TensorDesc &input = problem.operands[0];
  int64_t axis = problem.integer("axis");
  if (!isVectorizable(input) || !(input.layout == problem.result.layout))
    return notVectorizable(
        "operand and result differ in layout, or the operand");
  bool isAffine = problem.rootOperands > 1;
  bool inOrder = input.layout.kind == Layout::NCHW ||
                 (input.layout.kind == Layout::NHWC && axis < 2 && !isAffine);
  if (!inOrder)
    return Applicability::no("needs consecutive elements along the axes");
  auto normalized = ArrayRef(input.shape).drop_front(axis);
  for (int i = 1; i < problem.rootOperands; ++i)
    if (ArrayRef(problem.operands[i].shape) != normalized ||
        !isVectorizable(problem.operands[i]) ||
        problem.operands[i].layout.kind != Layout::NCHW)
      return Applicability::no(
          "needs scale and bias for each element of what is normalised, of " +
          listFloats());
  if (VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels");
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}

int64_t GpuLayerNorm::getRowSize(const Problem &problem) const {
  return getRowShape(problem).size;
}

SolutionPlan GpuLayerNorm::plan(const Problem &problem,
                                const TargetInfo &target,
                                const PerfConfig &config) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  RowShape shape = getRowShape(problem);
  GpuLayerNormKernel kernel{
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .affine = AffineOperands(launch, problem),
      .saved = SavedStatistics(launch, problem),
      .output = VectorOutput(launch, problem),
      .work = GpuRowWork(launch, target, shape.rows, config.get("lanes"),
                         chooseRowVector(problem, shape.size, target)),
      .size = launch.addParam(shape.size),
      .inverseSize = launch.addFloatParam(1 / static_cast<double>(shape.size)),
      .epsilon = launch.addFloatParam(problem.number("epsilon"))};
  std::string symbol =
      joinSymbol({"layer_norm", kernel.work.symbolPart(),
                  kernel.input.symbolPart(), kernel.affine.symbolPart(),
                  kernel.saved.symbolPart(), kernel.output.symbolPart()});
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      kernel.work.tasks(), kernel.work.getWorkgroup(),
      kernel.work.getLdsBytes(1));
  return plan;
}

const Solver &tarpon::getGpuLayerNorm() {
  static const GpuLayerNorm solver;
  return solver;
}
