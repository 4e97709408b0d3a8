//===- ConfigSpace.h - All configs of a solver ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H

#include "tarpon/Autotune/Store/CandidateDigests.h"
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

/// Returns the candidates of a search of the problem, as findings have them:
/// all applicable solvers but the reference, which is none (ProblemSearch). A
/// digest covers the configs that the solver lists, in any order, and those
/// that one step leads to, so that it changes with the list and with what the
/// solver accepts. The rest of the space is left out: this is computed whenever
/// a problem is looked up, and comparing launches takes long.
CandidateDigests describeCandidates(const Problem &problem,
                                    const TargetInfo &target);

/// Returns the distinct kernels that a solution launches, by names that are
/// unique over all solvers.
std::vector<std::string> getKernels(const Solver &solver,
                                    const PerfConfig &config,
                                    const Problem &problem,
                                    const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_CONFIGSPACE_H
