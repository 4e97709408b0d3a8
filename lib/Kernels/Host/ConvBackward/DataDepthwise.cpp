//===- DataDepthwise.cpp - Transposed depthwise convolution ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses the forward solvers of depthwise convolution: channels last or blocked,
// and nchw.
//
//===----------------------------------------------------------------------===//

#include "DataPhases.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {
class DataDepthwise final : public DataPhasesSolver {
public:
  DataDepthwise(StringRef name, const Solver &forward)
      : name(name), forward(forward) {}

  StringRef id() const override { return name; }

  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override {
    return forward.isValidConfig(problem, target, config);
  }

protected:
  bool readsChannelsLast() const override { return false; }

  Applicability checkForward(const ForwardPhase &phase,
                             const TargetInfo &target) const override {
    const igemm::Geometry &g = phase.geometry;
    if (g.padFront < 0 || g.padTop < 0 || g.padLeft < 0)
      return Applicability::no("needs padding of no more than the kernel "
                               "reaches over");
    return forward.isApplicable(phase.problem, target);
  }

  SolutionPlan planForward(const ForwardPhase &phase, const TargetInfo &target,
                           const PerfConfig &config) const override {
    return forward.plan(phase.problem, target, config);
  }

  PerfConfig forwardDefault(const ForwardPhase &phase,
                            const TargetInfo &target) const override {
    return forward.defaultConfig(phase.problem, target);
  }

  std::vector<PerfConfig>
  forwardConfigs(const ForwardPhase &phase,
                 const TargetInfo &target) const override {
    return forward.configs(phase.problem, target);
  }

  double forwardFraction(const ForwardPhase &phase,
                         const TargetInfo &target) const override {
    return forward.expectedFraction(phase.problem, target);
  }

private:
  StringRef name;
  const Solver &forward;
};
} // namespace

const Solver &tarpon::getConvDataDepthwiseNhwc() {
  static const DataDepthwise solver("conv-bwd-data-depthwise-v1",
                                    getDepthwiseNhwc());
  return solver;
}

const Solver &tarpon::getConvDataDepthwiseNchw() {
  static const DataDepthwise solver("conv-bwd-data-depthwise-nchw-v1",
                                    getDepthwiseNchw());
  return solver;
}
