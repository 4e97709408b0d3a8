//===- StaticModel.h - What a kernel should take ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts the time of a launch from the machine code of its kernel, for
// ranking candidates where there is no GPU. All formulae are in
// StaticModel.cpp. It is a bound with a few latencies, not a simulation: no
// bank conflicts, no cache misses beyond each byte being read from memory once,
// and the clock that peaks are quoted at.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_STATICMODEL_H
#define TARPON_TARGETS_AMDGPU_STATICMODEL_H

#include "tarpon/Targets/AMDGPU/CodeObject.h"
#include "tarpon/Targets/AMDGPU/MachineCode.h"

#include <cstdint>
#include <map>
#include <string>

namespace tarpon {

/// What one wave executes of a piece of code.
struct InstructionMix {
  int64_t matrix = 0, vector = 0, scalar = 0, scalarLoads = 0, waits = 0,
          barriers = 0;
  /// How many instructions there are, by bytes per lane.
  std::map<int64_t, int64_t> ldsReads, ldsWrites, globalReads, globalWrites,
      globalToLds;
  /// Of one wave: multiplications and additions, and bytes to and from LDS and
  /// the caches.
  double flops = 0, ldsBytes = 0, globalBytes = 0;
  /// Clocks for which one wave keeps its SIMD's matrix unit, and its SIMD's
  /// vector issue.
  double matrixClocks = 0, vectorClocks = 0;
  /// Clocks that one wave takes if it is alone.
  double aloneClocks = 0;
};

/// All that the model knows of a kernel, whatever it is launched for.
struct KernelProfile {
  KernelResources resources;
  /// Waves per SIMD.
  int64_t occupancy = 0;
  /// Whether there is a loop with floating-point work: an iteration of it, and
  /// the code outside of it.
  bool hasLoop = false;
  InstructionMix loop, rest;
  /// Results that a wave accumulates in the loop.
  double resultsPerWave = 0;
};

/// What a launch is for.
struct LaunchWork {
  int64_t workgroups = 1;
  /// Of the whole launch. What its loop does not account for if flops is 0.
  double flops = 0, results = 0;
  /// Read and written once.
  double bytes = 0;
  /// How many workgroups share the reduction of a result.
  int64_t splitK = 1;
  /// Of the peak, for a kernel without a loop that the model knows.
  runtime::DType dtype = runtime::DType::F32;
  double expectedFraction = 1;
};

/// Milliseconds and what they come from.
struct LaunchEstimate {
  /// The greater of the work in the compute units and of the memory, and the
  /// launch itself.
  double milliseconds = 0;
  double computeMs = 0, memoryMs = 0, launchMs = 0;
  /// Whether computeMs comes from the inner loop, or from the peak.
  bool isFromLoop = false;
  /// Iterations of the loop in one workgroup, times that a compute unit is
  /// filled with workgroups, and how many it holds.
  double iterations = 0;
  int64_t rounds = 0, groupsPerUnit = 0;
  /// Waves per SIMD in a full round.
  double waves = 0;
  /// Clocks of one iteration of all waves of a compute unit in a full round, by
  /// what binds them. The iteration takes the greatest.
  struct Terms {
    double matrix = 0, vector = 0, lds = 0, global = 0, latency = 0;

    double max() const;
    const char *getBinding() const;
  } terms;
  /// Of the workgroup's code outside of the loop.
  double outsideClocks = 0;
  /// Matrix clocks over the iteration's.
  double matrixUtilisation = 0;
};

/// Profiles a kernel whose assembly is given.
runtime::Result<KernelProfile> profileAssembly(llvm::StringRef assembly,
                                               const KernelResources &resources,
                                               const GpuTarget &gpu);

/// The same of a kernel in a code object.
runtime::Result<KernelProfile> profileKernel(llvm::ArrayRef<char> codeObject,
                                             llvm::StringRef symbol,
                                             const GpuTarget &gpu);

LaunchEstimate estimateLaunch(const KernelProfile &profile,
                              const LaunchWork &work, const GpuTarget &gpu);

/// Registers, occupancy, the loop's instructions, and the terms of the time.
std::string printEstimate(const KernelProfile &profile, const LaunchWork &work,
                          const LaunchEstimate &estimate, const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_STATICMODEL_H
