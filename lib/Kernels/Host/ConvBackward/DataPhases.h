//===- DataPhases.h - Transposed convolution by forward solvers -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a stride of 1, a transposed convolution is a forward one with the filter
// reversed. Otherwise each phase (see Phases.h) is a forward convolution, whose
// results go into the workspace; a last launch interleaves them and applies the
// epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONVBACKWARD_DATAPHASES_H
#define TARPON_LIB_KERNELS_HOST_CONVBACKWARD_DATAPHASES_H

#include "Phases.h"

namespace tarpon {

/// A phase as a forward convolution: as a problem, and as the engine's
/// geometry, which also supports negative padding.
struct ForwardPhase {
  Problem problem;
  igemm::Geometry geometry;
};

class DataPhasesSolver : public Solver {
public:
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const final;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const final;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final {
    return forwardDefault(getLargest(problem), target);
  }
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final {
    return forwardConfigs(getLargest(problem), target);
  }
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const final;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const final;

protected:
  /// Returns true if an nchw input is rewritten as nhwc.
  virtual bool readsChannelsLast() const = 0;
  virtual Applicability checkForward(const ForwardPhase &phase,
                                     const TargetInfo &target) const = 0;
  virtual SolutionPlan planForward(const ForwardPhase &phase,
                                   const TargetInfo &target,
                                   const PerfConfig &config) const = 0;
  virtual PerfConfig forwardDefault(const ForwardPhase &phase,
                                    const TargetInfo &target) const = 0;
  virtual std::vector<PerfConfig>
  forwardConfigs(const ForwardPhase &phase, const TargetInfo &target) const = 0;
  virtual double forwardFraction(const ForwardPhase &phase,
                                 const TargetInfo &target) const = 0;

private:
  ForwardPhase getForward(const Problem &problem, const Phases &phases,
                          int64_t phase) const;
  ForwardPhase getLargest(const Problem &problem) const;
  std::vector<PhasePlace> placePhases(class Workspace &workspace,
                                      const Problem &problem,
                                      const Phases &phases) const;
  void appendPhase(SolutionPlan &plan, const Problem &problem,
                   const Phases &phases, int64_t phase,
                   const TargetInfo &target, const PerfConfig &config,
                   BufferSlot input, BufferSlot result) const;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_CONVBACKWARD_DATAPHASES_H
