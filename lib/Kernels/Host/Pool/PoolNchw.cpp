//===- PoolNchw.cpp - Pooling in vectors of pixels ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/RowWindow.h"
#include "Host/Solvers.h"
#include "Pool.h"

using namespace mlir;
using namespace tarpon;

namespace {
class PoolNchw final : public Solver {
public:
  StringRef id() const override { return "pool-nchw-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (problem.op != OpKind::MaxPool && problem.op != OpKind::AvgPool)
      return Applicability::no("is not a pool with a window");
    if (!isVectorizable(problem.operands[0]))
      return notVectorizable("the operand");
    if (Applicability answer = RowWindow::check(problem); !answer)
      return answer;
    return VectorOutput::check(problem);
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};
} // namespace

SolutionPlan PoolNchw::plan(const Problem &problem,
                            const TargetInfo & /*target*/,
                            const PerfConfig & /*config*/) const {
  WindowOp op = WindowOp::Max;
  if (problem.op == OpKind::AvgPool)
    op = problem.integer("count_include_pad") ? WindowOp::PaddedMean
                                              : WindowOp::Mean;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  RowWindow kernel(launch, problem, op, problem.ints("kernel"));
  std::string symbol = joinSymbol({getOpName(problem.op),
                                   op == WindowOp::PaddedMean ? "padded" : "",
                                   kernel.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, kernel.tasks());
  return plan;
}

const Solver &tarpon::getPoolNchw() {
  static const PoolNchw solver;
  return solver;
}
