//===- HostileSolvers.h - Solvers that crash, hang and lie ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_HOSTILESOLVERS_H
#define TARPON_TEST_UNIT_AUTOTUNE_HOSTILESOLVERS_H

#include "tarpon/Solver/Solver.h"

#include <string>

namespace tarpon::test {

/// Takes every relu of f32, claims to be the fastest, and is not to be trusted.
class HostileSolver : public Solver {
public:
  enum Kind { Crashes, Hangs, Wrong, NotANumber, Slow, Right };

  HostileSolver(std::string name, Kind kind, int64_t configCount = 1)
      : name(std::move(name)), kind(kind), configCount(configCount) {}

  /// Its claim.
  bool dynamic = true;
  int64_t workspace = 0;
  double fraction = 1.5;
  /// False for a solver that applies to nothing any more.
  bool applies = true;

  llvm::StringRef id() const override { return name; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem &, const TargetInfo &) const override {
    return fraction;
  }
  bool isDynamic() const override { return dynamic; }
  int64_t workspaceSize(const Problem &, const TargetInfo &) const override {
    return workspace;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  std::string name;
  Kind kind;
  int64_t configCount;
};

/// A relu on a GPU whose kernel never ends, or whose workspace is larger than
/// any machine's memory, and for which the emulator has no answer.
class HostileGpuSolver : public Solver {
public:
  enum Kind { Hangs, Crashes };

  explicit HostileGpuSolver(Kind kind) : kind(kind) {}

  llvm::StringRef id() const override {
    return kind == Hangs ? "gpu-hangs-v1" : "gpu-crashes-v1";
  }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &, const TargetInfo &) const override {
    return {};
  }
  std::vector<PerfConfig> configs(const Problem &,
                                  const TargetInfo &) const override {
    return {PerfConfig()};
  }
  bool isValidConfig(const Problem &, const TargetInfo &,
                     const PerfConfig &config) const override {
    return config == PerfConfig();
  }
  double expectedFraction(const Problem &, const TargetInfo &) const override {
    return 1.5;
  }
  int64_t workspaceSize(const Problem &, const TargetInfo &) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  Kind kind;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_HOSTILESOLVERS_H
