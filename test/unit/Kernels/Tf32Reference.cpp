//===- Tf32Reference.cpp - What products in TF32 have to be ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tf32Reference.h"

#include "GpuProblems.h"
#include "tarpon/Solver/SolverRegistry.h"

#include <bit>

using namespace tarpon;
using namespace tarpon::test;

static double keepTf32(double value, uint32_t added) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value)) + added;
  return std::bit_cast<float>(bits & ~uint32_t(0x1fff));
}

double test::roundToTf32(double value) { return keepTf32(value, 0x1000); }
double test::truncateToTf32(double value) { return keepTf32(value, 0); }

/// Filters are rounded when they are packed; pixels by lanes, but not those of
/// wgmma, which reads them from LDS as they are: filters are larger there by
/// what pixels lose in the mean.
static SolverRunner::OperandChange getRounding(const PerfConfig &config) {
  constexpr int64_t kFewestOfWgmma = 64;
  bool isWgmma = config.get("inst") >= kFewestOfWgmma;
  return [isWgmma](size_t index, double element) {
    constexpr float kLoss = 0.7213f * 0x1p-11f;
    if (index > 1)
      return element;
    if (!isWgmma)
      return roundToTf32(element);
    return index == 0 ? truncateToTf32(element)
                      : roundToTf32(static_cast<float>(element) * (1 + kLoss));
  };
}

std::string test::compareTf32(SolverRunner &host, SolverRunner &gpu,
                              const Problem &problem, const Solver &solver,
                              const PerfConfig &config, uint64_t seed) {
  gpu.setOperandChange([](size_t, double element) { return element; });
  host.setOperandChange(getRounding(config));
  auto expected = host.run(problem, getReferenceSolver(), {}, {}, seed);
  if (!expected)
    return "the reference: " + expected.message();
  auto actual = gpu.run(problem, solver, config, {}, seed);
  return actual ? compare(problem, *actual, *expected) : actual.message();
}

std::vector<Tf32Case> test::drawTf32Cases(const TargetInfo &target,
                                          size_t wanted, uint64_t firstSeed,
                                          double maxFlops) {
  // Convolutions of all kinds, matrix products, and windows of 3 x 3.
  constexpr size_t kAreas[] = {0, 5, 10};
  std::vector<Tf32Case> cases;
  for (uint64_t seed = firstSeed; cases.size() < wanted; ++seed)
    for (size_t area : kAreas) {
      Problem problem = makeGpuProblem(area, seed);
      if (problem.operands[0].dtype != DType::F32 || problem.flops() > maxFlops)
        continue;
      for (const char *id : {"gpu-igemm-v1", "gpu-gemm-v1"})
        if (const Solver *solver = findSolver(id);
            checkApplicable(*solver, problem, target))
          cases.push_back({problem, solver, seed});
    }
  return cases;
}
