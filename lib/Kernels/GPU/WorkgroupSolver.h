//===- WorkgroupSolver.h - Configs of a workgroup ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_WORKGROUPSOLVER_H
#define TARPON_LIB_KERNELS_GPU_WORKGROUPSOLVER_H

#include "ElementWork.h"
#include "OneFieldSolver.h"

namespace tarpon {

/// A solver whose kernels may have any number of lanes in a workgroup.
class WorkgroupSolver : public OneFieldSolver {
protected:
  llvm::StringRef getField(const Problem & /*problem*/) const final {
    return "workgroup";
  }
  std::vector<int64_t> getValues(const Problem & /*problem*/,
                                 const TargetInfo &target) const final {
    return getWorkgroups(*target.gpu);
  }
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_WORKGROUPSOLVER_H
