//===- ConfigSpace.h - All configs of a solver ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H

#include "tarpon/Solver/Solver.h"

#include <string>
#include <vector>

namespace tarpon {

/// The configs that a solver lists, in its order, and those that can be reached
/// from them: solvers list what their cost models like best, and take much
/// more. A step changes one field to the next valid one of its values, which
/// are the powers of two and those that are listed. Nearest first, at most
/// policy::kMaxConfigs. Of configs that come to the same launches (a block that
/// is larger than the problem) only the first is there.
std::vector<PerfConfig> getConfigSpace(const Solver &solver,
                                       const Problem &problem,
                                       const TargetInfo &target);

/// The kernels that a solution launches, each once, by names that are unique
/// over all solvers.
std::vector<std::string> getKernels(const Solver &solver,
                                    const PerfConfig &config,
                                    const Problem &problem,
                                    const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H
