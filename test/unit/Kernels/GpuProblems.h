//===- GpuProblems.h - Random problems for the solvers of GPUs --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems are drawn until each solver has had enough of each dtype and layout.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_GPUPROBLEMS_H
#define TARPON_TEST_UNIT_KERNELS_GPUPROBLEMS_H

#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tarpon::test {

/// A number in the environment.
uint64_t getNumber(const char *variable, uint64_t otherwise);

/// A problem with the solvers that are to be tested with it.
struct GpuCase {
  Problem problem;
  /// "f16 nhwc": what solvers have to be tested with, each on its own.
  std::string kind;
  std::vector<const Solver *> solvers;
  /// They make the problem again.
  size_t area = 0;
  uint64_t seed = 0;

  /// "area 3, seed 17: conv(...)".
  std::string describe() const;
};

/// The number of areas, which are counted from 0.
size_t getNumGpuAreas();

/// The problem of that area and seed, if the area exists.
Problem makeGpuProblem(size_t area, uint64_t seed);

/// The solvers that are tested: all, or $TARPON_TEST_GPU_SOLVER.
std::vector<const Solver *> getTestedGpuSolvers();

/// The default, and another one.
std::vector<PerfConfig> pickConfigs(const Solver &solver,
                                    const Problem &problem,
                                    const TargetInfo &target, uint64_t seed);

/// The number of roundings to the dtype of results; see getTolerance.
double getStorageUlps(const Solver &solver);

class GpuProblems {
public:
  /// Each solver of the target gets `wanted` problems of each kind, of at most
  /// so many operations and bytes.
  GpuProblems(const TargetInfo &target, uint64_t wanted, uint64_t firstSeed,
              double maxFlops = 4e5, double maxBytes = 2e5)
      : target(target), wanted(wanted), firstSeed(firstSeed),
        maxFlops(maxFlops), maxBytes(maxBytes) {}

  /// Problems of all areas alike at first, and then, of what is rare, more.
  /// Ends early when `use` returns false.
  void draw(llvm::function_ref<bool(const GpuCase &)> use);

  /// The number of problems that were drawn, by solver and kind.
  using Counts = std::map<std::string, std::map<std::string, uint64_t>>;
  const Counts &getCounts() const { return counts; }

private:
  /// Gives a problem of an area to the solvers that still need it.
  bool offer(size_t area, uint64_t seed,
             llvm::function_ref<bool(const GpuCase &)> use);
  /// The solvers that still need problems of this kind, and take this one.
  std::vector<const Solver *> findSolvers(const Problem &problem,
                                          const std::string &kind);
  /// Returns true until the area has had the kinds of problems that solvers
  /// lack.
  bool isNeeded(size_t area) const;

  TargetInfo target;
  uint64_t wanted, firstSeed;
  double maxFlops, maxBytes;
  Counts counts;
  /// In which areas there are such problems.
  std::map<std::string, std::map<std::string, std::set<size_t>>> areasOf;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_GPUPROBLEMS_H
