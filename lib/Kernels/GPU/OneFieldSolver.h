//===- OneFieldSolver.h - Configs of one field ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ONEFIELDSOLVER_H
#define TARPON_LIB_KERNELS_GPU_ONEFIELDSOLVER_H

#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// A solver whose configs are one field with a few values.
class OneFieldSolver : public Solver {
public:
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const final;

protected:
  virtual llvm::StringRef getField(const Problem &problem) const = 0;
  virtual std::vector<int64_t> getValues(const Problem &problem,
                                         const TargetInfo &target) const = 0;
  /// The default is the first value unless a solver chooses another one.
  virtual int64_t chooseValue(const Problem &problem,
                              const TargetInfo &target) const {
    return getValues(problem, target).front();
  }
  int64_t getValue(const Problem &problem, const PerfConfig &config) const {
    return config.get(getField(problem));
  }
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_ONEFIELDSOLVER_H
