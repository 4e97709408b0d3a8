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

/// Returns the configs that a solver lists, in its order, and those that can be
/// reached from them: solvers list only their cost models' favourites, and
/// accept many more. A step changes one field to the next valid one of its
/// values, which are the powers of two and those that are listed. The nearest
/// configs come first, at most policy::kMaxConfigs. If several configs lead to
/// the same launches (a block larger than the problem), only the first is
/// included.
std::vector<PerfConfig> getConfigSpace(const Solver &solver,
                                       const Problem &problem,
                                       const TargetInfo &target);

/// Returns the distinct kernels that a solution launches, by names that are
/// unique over all solvers.
std::vector<std::string> getKernels(const Solver &solver,
                                    const PerfConfig &config,
                                    const Problem &problem,
                                    const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H
