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

/// The targets that kernels are emitted for, which do not depend on the
/// machine: x86-64 with AVX2, with AVX-512, and the GPU gfx942.
std::vector<TargetInfo> makeVersionTargets();

/// Digests of the plans and kernels of all solvers for the problems on these
/// targets, with one of their configs, or two with AVX-512.
Digests digestSolvers(const std::vector<Problem> &problems);

/// Digests of the machine code that the code generators make of two kernels.
Digests digestCodegen();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_KERNELBEHAVIOUR_H
