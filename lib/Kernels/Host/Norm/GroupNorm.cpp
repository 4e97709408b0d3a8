//===- GroupNorm.cpp - Vectorised group normalisation in nchw -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In nchw a group of channels is contiguous. With one channel in each group
// this is instance normalisation.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "RowNorm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GroupNorm final : public Solver {
public:
  StringRef id() const override { return "group-norm-nchw-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct GroupNormKernel {
  FlatTensor input;
  AffineOperands affine;
  SavedStatistics saved;
  VectorOutput output;
  int64_t rows, rowsPerTask, groups; ///< parameters
  int64_t channels, plane;           ///< parameters: of a group, of C
  int64_t inverseSize, epsilon;      ///< parameters

  void emit(KernelBuilder &b) const;
  void emitChannel(KernelBuilder &b, const BoundFlatTensor &in,
                   const AffineOperands::Bound &factors,
                   const VectorOutput::Bound &out, const Moments &moments,
                   Value start, Value channel) const;
};

} // namespace

/// Normalises one plane. `squares` of the moments holds the inverse deviation.
void GroupNormKernel::emitChannel(KernelBuilder &b, const BoundFlatTensor &in,
                                  const AffineOperands::Bound &factors,
                                  const VectorOutput::Bound &out,
                                  const Moments &moments, Value start,
                                  Value channel) const {
  int64_t lanes = b.lanes();
  Value factor = moments.squares;
  if (Value scale = factors.loadScale(b, channel, 1))
    factor = b.mulF(factor, scale);
  factor = b.broadcast(factor, lanes);
  Value mean = b.broadcast(moments.mean, lanes);
  Value bias = factors.loadBias(b, channel, 1);
  if (bias)
    bias = b.broadcast(bias, lanes);
  Value size = b.getParam(plane);
  forVectors(b, b.cst(0), size, lanes, [&](Value i, Value mask) {
    VectorPlace place;
    place.offset = b.add(start, i);
    place.channel = channel;
    place.lanes = lanes;
    place.mask = mask;
    Value x = in.load(b, place.offset, lanes, mask);
    Value centred = b.subF(x, mean);
    out.store(b, place,
              bias ? b.fma(centred, factor, bias) : b.mulF(centred, factor));
  });
}

void GroupNormKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  AffineOperands::Bound factors = affine.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value perGroup = b.getParam(channels), pixels = b.getParam(plane);
  Value size = b.mul(perGroup, pixels), small = b.getFloatParam(epsilon);
  Value inverseCount = b.getFloatParam(inverseSize);
  Value numGroups = b.getParam(groups);
  forItems(b, rows, rowsPerTask, [&](Value row) {
    Value start = b.mul(row, size);
    Moments moments = emitRowMoments(b, in, start, size);
    moments.squares =
        emitInverseDeviation(b, moments.squares, inverseCount, small);
    saved.store(b, row, moments.mean, moments.squares);
    Value first = b.mul(b.rem(row, numGroups), perGroup);
    b.forLoop(perGroup, [&](Value i) {
      emitChannel(b, in, factors, out, moments, b.add(start, b.mul(i, pixels)),
                  b.add(first, i));
    });
  });
}

Applicability GroupNorm::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::GroupNorm)
    return Applicability::no("is not a group normalisation");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) || input.layout.kind != Layout::NCHW ||
      problem.result.layout.kind != Layout::NCHW)
    return notVectorizable(
        "operand and result are not both in nchw, or the operand");
  for (int i = 1; i < problem.rootOperands; ++i)
    if (!isVectorizable(problem.operands[i]))
      return Applicability::no("scale or bias is of another type than " +
                               listFloats());
  return VectorOutput::check(problem);
}

SolutionPlan GroupNorm::plan(const Problem &problem,
                             const TargetInfo & /*target*/,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0];
  int64_t groups = problem.integer("groups");
  int64_t rows = input.shape[0] * groups, perGroup = input.shape[1] / groups;
  int64_t size = perGroup * input.spatialSize();
  int64_t perTask = getItemsPerTask(size);
  GroupNormKernel kernel{
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .affine = AffineOperands(launch, problem),
      .saved = SavedStatistics(launch, problem),
      .output = VectorOutput(launch, problem),
      .rows = launch.addParam(rows),
      .rowsPerTask = launch.addParam(perTask),
      .groups = launch.addParam(groups),
      .channels = launch.addParam(perGroup),
      .plane = launch.addParam(input.spatialSize()),
      .inverseSize = launch.addFloatParam(1 / static_cast<double>(size)),
      .epsilon = launch.addFloatParam(problem.number("epsilon"))};
  std::string symbol = joinSymbol(
      {"group_norm_nchw", kernel.input.symbolPart(), kernel.affine.symbolPart(),
       kernel.saved.symbolPart(), kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(rows, perTask));
  return plan;
}

const Solver &tarpon::getGroupNorm() {
  static const GroupNorm solver;
  return solver;
}
