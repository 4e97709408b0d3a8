//===- RowSolver.h - Configs of lanes per row -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ROWSOLVER_H
#define TARPON_LIB_KERNELS_GPU_ROWSOLVER_H

#include "OneFieldSolver.h"
#include "RowWork.h"

namespace tarpon {

/// A solver whose kernels fold each row by a wave or by a workgroup.
class RowSolver : public OneFieldSolver {
protected:
  /// The elements of a row.
  virtual int64_t getRowSize(const Problem &problem) const = 0;

private:
  llvm::StringRef getField(const Problem & /*problem*/) const final {
    return "lanes";
  }
  std::vector<int64_t> getValues(const Problem & /*problem*/,
                                 const TargetInfo &target) const final {
    return GpuRowWork::getLaneChoices(target);
  }
  int64_t chooseValue(const Problem &problem,
                      const TargetInfo &target) const final {
    int64_t size = getRowSize(problem);
    return GpuRowWork::chooseLanes(target, size,
                                   chooseRowVector(problem, size, target));
  }
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_ROWSOLVER_H
