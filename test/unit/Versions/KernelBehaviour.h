//===- KernelBehaviour.h - Digests the kernels of solvers -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_KERNELBEHAVIOUR_H
#define TARPON_TEST_UNIT_VERSIONS_KERNELBEHAVIOUR_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/TargetInfo.h"

#include <map>
#include <string>
#include <vector>

namespace tarpon::test {

/// Digests by part of BehaviourVersion.h.
using Digests = std::map<std::string, std::string>;

/// A CPU of LLVM's list, with caches of common sizes, on any machine.
TargetInfo makeVersionCpu(llvm::StringRef cpu, int64_t threads);

/// The targets that kernels are emitted for, which do not depend on the
/// machine: CPUs that differ in what solvers ask of a target, and all GPUs.
std::vector<TargetInfo> makeVersionTargets();

/// Digests of the plans and kernels of all solvers for the problems on these
/// targets: on CPUs with all configs, on GPUs with each value of each field.
Digests digestSolvers(const std::vector<Problem> &problems);

/// Digests of the machine code that the code generators make of two kernels.
Digests digestCodegen();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_KERNELBEHAVIOUR_H
