//===- FeatureRows.h - Rows of features of one problem ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_LEARN_FEATUREROWS_H
#define TARPON_LIB_AUTOTUNE_LEARN_FEATUREROWS_H

#include "tarpon/Autotune/Learn/Features.h"

namespace tarpon {

/// Computes the common features of a problem's rows once. All references must
/// outlive it.
class FeatureRows {
public:
  FeatureRows(const FeatureSpace &space, const Problem &problem,
              const TargetInfo &target)
      : space(space), problem(problem), target(target),
        row(space.configColumns()) {
    space.fillProblem(problem, target, row);
  }

  void setSolver(const Solver &solver, double fraction) {
    space.fillSolver(problem, target, solver, fraction, row);
  }
  /// The row of the solver that was set last.
  llvm::ArrayRef<float> solverRow() const {
    return llvm::ArrayRef(row).take_front(space.solverColumns());
  }
  void appendConfig(const PerfConfig &config, size_t place,
                    std::vector<float> &rows) {
    space.fillConfig(problem, target, config, place, row);
    rows.insert(rows.end(), row.begin(), row.end());
  }

private:
  const FeatureSpace &space;
  const Problem &problem;
  const TargetInfo &target;
  std::vector<float> row;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_LEARN_FEATUREROWS_H
