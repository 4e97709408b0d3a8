//===- SpillProblems.h - Convolutions for the test of spills ------*- C++
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_SPILLPROBLEMS_H
#define TARPON_TEST_UNIT_KERNELS_SPILLPROBLEMS_H

#include "tarpon/Problem/Problem.h"

#include <vector>

namespace tarpon::test {

/// Dtypes, layouts and epilogues as networks have them, and shapes for which
/// solvers prefer different tiles. `moreActivations` adds activations of many
/// instructions, which take about as long as all others.
std::vector<Problem> makeSpillProblems(bool moreActivations);

/// Adds `count` convolutions of any direction that `seed` and its successors
/// make.
void addRandomConvolutions(uint64_t count, uint64_t seed,
                           std::vector<Problem> &problems);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_SPILLPROBLEMS_H
