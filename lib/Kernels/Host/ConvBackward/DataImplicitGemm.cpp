//===- DataImplicitGemm.cpp - Transposed convolution as implicit GEMMs ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1-D and 2-D transposed convolution with any stride, dilation, padding and
// groups, in every layout and dtype that the engine supports.
//
//===----------------------------------------------------------------------===//

#include "DataPhases.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {
class DataImplicitGemm final : public DataPhasesSolver {
public:
  StringRef id() const override { return "conv-bwd-data-igemm-v1"; }

  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override {
    return igemm::isValidConfig(problem, target, config);
  }

protected:
  bool readsChannelsLast() const override { return true; }

  Applicability checkForward(const ForwardPhase &phase,
                             const TargetInfo &target) const override {
    return igemm::isSupported(phase.problem, target, phase.geometry);
  }

  SolutionPlan planForward(const ForwardPhase &phase, const TargetInfo &target,
                           const PerfConfig &config) const override {
    const igemm::Geometry &g = phase.geometry;
    igemm::FilterStrides strides = {g.channels * g.taps(), g.taps(), 1};
    return igemm::plan(phase.problem, target, config, g, strides,
                       phase.problem.operands[0].layout);
  }

  PerfConfig forwardDefault(const ForwardPhase &phase,
                            const TargetInfo &target) const override {
    return igemm::defaultConfig(phase.problem, target, phase.geometry);
  }

  std::vector<PerfConfig>
  forwardConfigs(const ForwardPhase &phase,
                 const TargetInfo &target) const override {
    return igemm::configs(phase.problem, target, phase.geometry);
  }

  double forwardFraction(const ForwardPhase &phase,
                         const TargetInfo &target) const override {
    return igemm::expectedFraction(phase.problem, target, phase.geometry);
  }
};
} // namespace

const Solver &tarpon::getConvDataImplicitGemm() {
  static const DataImplicitGemm solver;
  return solver;
}
