//===- DepthwiseNchw.cpp - Depthwise convolution in vectors of pixels -----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/RowWindow.h"
#include "Depthwise.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {
class DepthwiseNchw final : public Solver {
public:
  StringRef id() const override { return "depthwise-conv-nchw-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    if (Applicability answer = checkDepthwise(problem); !answer)
      return answer;
    return RowWindow::check(problem);
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};
} // namespace

SolutionPlan DepthwiseNchw::plan(const Problem &problem,
                                 const TargetInfo & /*target*/,
                                 const PerfConfig & /*config*/) const {
  const TensorDesc &filter = problem.operands[1];
  std::vector<float> scales;
  if (problem.operands[0].quantized)
    scales = getDepthwiseScales(problem, filter.shape[0]);
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  RowWindow kernel(launch, problem, WindowOp::WeightedSum, filter.spatial(),
                   packDepthwiseFilter(problem, /*channelStride=*/0),
                   std::move(scales));
  launch.finish(
      joinSymbol({"depthwise_conv", kernel.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); }, kernel.tasks());
  return plan;
}

const Solver &tarpon::getDepthwiseNchw() {
  static const DepthwiseNchw solver;
  return solver;
}
