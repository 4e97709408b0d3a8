//===- StaticModel.h - Estimates the time of a kernel -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts the time of a launch from the machine code of its kernel, for
// ranking candidates where there is no GPU. All formulae are in
// StaticModel.cpp. It is a bound with a few latencies, not a simulation: it has
// no bank conflicts, no cache misses beyond reading each byte from memory once,
// and the clock at which peaks are quoted.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_MODEL_STATICMODEL_H
#define TARPON_TARGETS_GPU_MODEL_STATICMODEL_H

#include "tarpon/Targets/GPU/KernelResources.h"
#include "tarpon/Targets/GPU/Model/MachineCode.h"

#include <cstdint>
#include <map>
#include <string>

namespace tarpon {

/// The instructions that one wave executes in a piece of code.
struct InstructionMix {
  int64_t matrix = 0, vector = 0, scalar = 0, scalarLoads = 0, waits = 0,
          barriers = 0;
  /// The number of instructions, by bytes per lane.
  std::map<int64_t, int64_t> ldsReads, ldsWrites, globalReads, globalWrites,
      globalToLds;
  /// Per wave: multiplications and additions, bytes from and to LDS, and those
  /// from and to the caches.
  double flops = 0, ldsBytesRead = 0, ldsBytesWritten = 0, globalBytes = 0;
  /// The clocks for which one wave occupies its SIMD's matrix unit, and its
  /// SIMD's vector issue.
  double matrixClocks = 0, vectorClocks = 0;
  /// The clocks that one wave takes if it runs alone.
  double aloneClocks = 0;
};

/// The model's data on a kernel, which do not depend on the launch.
struct KernelProfile {
  KernelResources resources;
  /// Waves per SIMD.
  int64_t occupancy = 0;
  /// True if there is a loop with floating-point work; the mix of one
  /// iteration, and that of the code outside of the loop.
  bool hasLoop = false;
  InstructionMix loop, rest;
  /// The number of results that a wave accumulates in the loop.
  double resultsPerWave = 0;
};

/// The work of a launch.
struct LaunchWork {
  int64_t workgroups = 1;
  /// Multiplications and additions, and results, of the whole launch. With 0
  /// flops, only the memory's time counts.
  double flops = 0, results = 0;
  /// The results of whole tiles, some of which reach beyond the launch's.
  double tiledResults = 0;
  /// The bytes read and written, each once.
  double bytes = 0;
  /// The number of workgroups that share the reduction of a result.
  int64_t splitK = 1;
  /// True if a workgroup does one tile after another, and for each of them what
  /// is outside of the loop.
  bool takesTurns = false;
  /// True if workgroups have equal shares of all iterations, wherever in a tile
  /// they begin.
  bool sharesSteps = false;
  /// The dtype of the peak, for a kernel without a loop that the model knows.
  runtime::DType dtype = runtime::DType::F32;
  double expectedFraction = 1;
};

/// The predicted time and its parts, in milliseconds.
struct LaunchEstimate {
  /// The greater of the times of the compute units and of the memory, plus the
  /// launch itself.
  double milliseconds = 0;
  double computeMs = 0, memoryMs = 0, launchMs = 0;
  /// True if computeMs comes from the code, false if from the peak.
  bool isFromCode = false;
  /// The iterations of the loop in one workgroup, the number of times that a
  /// compute unit is filled with workgroups, and the number that it holds.
  double iterations = 0;
  int64_t rounds = 0, groupsPerUnit = 0;
  /// The waves per SIMD in a full round.
  double waves = 0;
  /// The clocks of one iteration of all waves of a compute unit in a full
  /// round, by the unit that bounds them. The iteration takes the greatest.
  struct Terms {
    double matrix = 0, vector = 0, lds = 0, global = 0, latency = 0;

    double max() const;
    const char *getBinding() const;
  } terms;
  /// The clocks of the workgroup's code outside of the loop.
  double outsideClocks = 0;
  /// The matrix unit's clocks divided by the iteration's.
  double matrixUtilisation = 0;
};

/// Profiles a kernel that was read from its assembly.
KernelProfile profileCode(const MachineCode &code,
                          const KernelResources &resources,
                          const GpuTarget &gpu);

LaunchEstimate estimateLaunch(const KernelProfile &profile,
                              const LaunchWork &work, const GpuTarget &gpu);

/// Prints registers, occupancy, the loop's instructions, and the terms of the
/// time.
std::string printEstimate(const KernelProfile &profile, const LaunchWork &work,
                          const LaunchEstimate &estimate, const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_MODEL_STATICMODEL_H
