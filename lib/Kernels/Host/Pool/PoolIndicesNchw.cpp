//===- PoolIndicesNchw.cpp - Maxima with indices, in vectors of pixels ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/RowWindow.h"
#include "Host/Solvers.h"
#include "Pool.h"
#include "PoolIndices.h"

using namespace mlir;
using namespace tarpon;

namespace {
class PoolIndicesNchw final : public Solver {
public:
  StringRef id() const override { return "pool-indices-nchw-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (problem.op != OpKind::MaxPoolIndices)
      return Applicability::no("is not a maximum pool with indices");
    if (!isVectorizable(problem.operands[0]))
      return notVectorizable("the operand");
    if (Applicability answer = RowWindow::check(problem, kMostStride); !answer)
      return answer;
    if (problem.getResult(1).layout.kind != Layout::NCHW)
      return Applicability::no("needs indices in nchw");
    if (!hasNarrowPixels(problem))
      return Applicability::no("has more than 2^31 pixels in an image");
    return VectorOutput::check(problem);
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo & /*target*/,
                    const PerfConfig & /*config*/) const override {
    SolutionPlan plan;
    LaunchBuilder launch(plan);
    RowWindow kernel(launch, problem, WindowOp::MaxIndices,
                     problem.ints("kernel"));
    launch.finish(
        joinSymbol({getOpName(problem.op), kernel.symbolPart()}),
        [kernel](KernelBuilder &b) { kernel.emit(b); }, kernel.tasks());
    return plan;
  }

private:
  static constexpr int64_t kMostStride = 3;
};
} // namespace

const Solver &tarpon::getPoolIndicesNchw() {
  static const PoolIndicesNchw solver;
  return solver;
}
