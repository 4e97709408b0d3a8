//===- Tf32Reference.h - What products in TF32 have to be -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of numbers with 11 bits are exact in f32, so that a solution in TF32
// agrees with the reference on rounded factors as closely as one in f32 does on
// the factors themselves.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_TF32REFERENCE_H
#define TARPON_TEST_UNIT_KERNELS_TF32REFERENCE_H

#include "SolverTest.h"

namespace tarpon::test {

/// The nearest TF32 of a number in f32, halves away from zero, and the nearest
/// one towards zero.
double roundToTf32(double value);
double truncateToTf32(double value);

/// "" if the solution agrees with the reference on factors that are rounded as
/// the instructions of its config round them; else a sentence.
std::string compareTf32(SolverRunner &host, SolverRunner &gpu,
                        const Problem &problem, const Solver &solver,
                        const PerfConfig &config, uint64_t seed);

/// Problems of f32 that the target makes tiled products of.
struct Tf32Case {
  Problem problem;
  const Solver *solver;
  uint64_t seed;
};
std::vector<Tf32Case> drawTf32Cases(const TargetInfo &target, size_t wanted,
                                    uint64_t firstSeed, double maxFlops);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_TF32REFERENCE_H
