//===- GpuPropertyTest.h - GPU solvers on random problems -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TARPON_TEST_GPU_PROBLEMS: how many of each. In short runs, which are those of
// the default, gfx942, gfx1100 and sm_90a share them; longer ones give all of
// them to every GPU. TARPON_TEST_SEED: the first one.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_GPUPROPERTYTEST_H
#define TARPON_TEST_UNIT_KERNELS_GPUPROPERTYTEST_H

#include "GpuProblems.h"
#include "SolverTest.h"

#include "gtest/gtest.h"

#include <memory>
#include <string>

namespace tarpon::test {

/// The GPUs that are emulated.
inline constexpr const char *kEmulatedGpus[] = {"gfx90a",  "gfx942",  "gfx950",
                                                "gfx1100", "gfx1201", "sm_90a"};

/// A property of the solvers of one of these GPUs.
class GpuPropertyTest : public testing::TestWithParam<const char *> {
protected:
  /// A short run has at most `shortRun` problems of each.
  explicit GpuPropertyTest(uint64_t shortRun) : shortRun(shortRun) {}

  void SetUp() override;

  /// Compares the results of the solvers with the host's reference.
  void check(const GpuCase &drawn);

  const uint64_t shortRun;
  uint64_t wanted = 0, firstSeed = 0;
  std::unique_ptr<SolverRunner> host, gpu;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_GPUPROPERTYTEST_H
