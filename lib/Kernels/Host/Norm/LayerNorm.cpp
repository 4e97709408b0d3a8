//===- LayerNorm.cpp - Vectorised layer normalisation ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements that are normalised together form a row. It is read once from memory
// for its statistics and once more, mostly from a cache, to be written.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class LayerNorm final : public Solver {
public:
  StringRef id() const override { return "layer-norm-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct LayerNormKernel {
  FlatTensor input;
  AffineOperands affine;
  SavedStatistics saved;
  VectorOutput output;
  int64_t rows, rowsPerTask, size, inverseSize, epsilon; ///< parameters

  void emit(KernelBuilder &b) const;
};

} // namespace

void LayerNormKernel::emit(KernelBuilder &b) const {
  int64_t lanes = b.lanes();
  BoundFlatTensor in = input.bind(b);
  AffineOperands::Bound factors = affine.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value count = b.getParam(size), small = b.getFloatParam(epsilon);
  Value inverseCount = b.getFloatParam(inverseSize);
  forItems(b, rows, rowsPerTask, [&](Value row) {
    Value start = b.mul(row, count);
    Moments moments = emitRowMoments(b, in, start, count);
    Value inverse =
        emitInverseDeviation(b, moments.squares, inverseCount, small);
    saved.store(b, row, moments.mean, inverse);
    Value mean = b.broadcast(moments.mean, lanes);
    Value factor = b.broadcast(inverse, lanes);
    forVectors(b, b.cst(0), count, lanes, [&](Value i, Value mask) {
      VectorPlace place;
      place.offset = b.add(start, i);
      place.lanes = lanes;
      place.mask = mask;
      Value x = in.load(b, place.offset, lanes, mask);
      Value y = b.mulF(b.subF(x, mean), factor);
      Value scale = factors.loadScale(b, i, lanes, mask);
      Value bias = factors.loadBias(b, i, lanes, mask);
      if (scale)
        y = bias ? b.fma(y, scale, bias) : b.mulF(y, scale);
      out.store(b, place, y);
    });
  });
}

Applicability LayerNorm::isApplicable(const Problem &problem,
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
  return VectorOutput::check(problem);
}

SolutionPlan LayerNorm::plan(const Problem &problem,
                             const TargetInfo & /*target*/,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t rows = 1, size = 1;
  for (auto [dim, extent] : llvm::enumerate(problem.operands[0].shape))
    (static_cast<int64_t>(dim) < problem.integer("axis") ? rows : size) *=
        extent;
  // In nhwc without scale and bias, images are contiguous too; axis 1 covers a
  // whole one.
  int64_t perTask = getItemsPerTask(size);
  LayerNormKernel kernel{
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .affine = AffineOperands(launch, problem),
      .saved = SavedStatistics(launch, problem),
      .output = VectorOutput(launch, problem),
      .rows = launch.addParam(rows),
      .rowsPerTask = launch.addParam(perTask),
      .size = launch.addParam(size),
      .inverseSize = launch.addFloatParam(1 / static_cast<double>(size)),
      .epsilon = launch.addFloatParam(problem.number("epsilon"))};
  std::string symbol = joinSymbol(
      {"layer_norm", kernel.input.symbolPart(), kernel.affine.symbolPart(),
       kernel.saved.symbolPart(), kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(rows, perTask));
  return plan;
}

const Solver &tarpon::getLayerNorm() {
  static const LayerNorm solver;
  return solver;
}
