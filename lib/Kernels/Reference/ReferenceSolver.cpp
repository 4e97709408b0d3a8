//===- ReferenceSolver.cpp - The naive solver that takes everything -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "Solvers.h"
#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tarpon;

namespace {

using PlanFn = SolutionPlan (*)(const Problem &);

class ReferenceSolver final : public Solver {
public:
  StringRef id() const override { return "reference-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (findPlan(problem.op))
      return Applicability::yes();
    return Applicability::no("there is no operation '" + problem.op + "'");
  }

  bool knowsSlices() const override { return true; }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.001;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo & /*target*/,
                    const PerfConfig & /*config*/) const override {
    return findPlan(problem.op)(problem);
  }

private:
  static PlanFn findPlan(StringRef op) {
    if (isElementwiseOp(op))
      return reference::planElementwise;
    if (op.starts_with("reduce_") && findOpRule(op))
      return reference::planReduce;
    return llvm::StringSwitch<PlanFn>(op)
        .Case("conv", reference::planConv)
        .Case("conv_transpose", reference::planConvTranspose)
        .Case("conv_backward_weights", reference::planConvBackwardWeights)
        .Case("matmul", reference::planMatMul)
        .Case("max_pool", reference::planPool)
        .Case("avg_pool", reference::planPool)
        .Case("global_max_pool", reference::planPool)
        .Case("global_avg_pool", reference::planPool)
        .Case("batch_norm", reference::planBatchNorm)
        .Case("batch_norm_per_activation", reference::planBatchNorm)
        .Case("batch_norm_backward", reference::planBatchNormBackward)
        .Case("log_softmax", reference::planSoftmax)
        .Case("softmax_backward", reference::planSoftmaxBackward)
        .Case("log_softmax_backward", reference::planSoftmaxBackward)
        .Case("arg_max", reference::planArgReduce)
        .Case("arg_min", reference::planArgReduce)
        .Case("batch_norm_training", reference::planNormalize)
        .Case("layer_norm", reference::planNormalize)
        .Case("group_norm", reference::planNormalize)
        .Case("softmax", reference::planSoftmax)
        .Case("lrn", reference::planLrn)
        .Case("lrn_backward", reference::planLrnBackward)
        .Case("lstm", reference::planRecurrent)
        .Case("gru", reference::planRecurrent)
        .Case("rnn", reference::planRecurrent)
        .Case("concat", reference::planConcat)
        .Case("transpose", reference::planTranspose)
        .Case("pad", reference::planPad)
        .Case("max_pool_indices", reference::planPoolIndices)
        .Case("max_unpool", reference::planMaxUnpool)
        .Case("max_pool_backward", reference::planPoolGradient)
        .Case("avg_pool_backward", reference::planPoolGradient)
        .Case("global_max_pool_backward", reference::planPoolGradient)
        .Case("global_avg_pool_backward", reference::planPoolGradient)
        .Case("resize", reference::planResize)
        .Case("convert", reference::planConvert)
        .Case("reshape", reference::planReshape)
        .Case("shuffle_channels", reference::planShuffleChannels)
        .Default(nullptr);
  }
};

} // namespace

const Solver &tarpon::getReference() {
  static const ReferenceSolver solver;
  return solver;
}

TensorAccess reference::accessOperand(LaunchBuilder &launch,
                                      const Problem &problem, int64_t index,
                                      ArrayRef<int64_t> indexShape) {
  return TensorAccess(launch, {BufferSlot::Operand, index},
                      problem.operands[index], indexShape,
                      computeKindOf(problem));
}
