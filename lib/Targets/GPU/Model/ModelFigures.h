//===- ModelFigures.h - Assumptions of the static model ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_GPU_MODEL_MODELFIGURES_H
#define TARPON_LIB_TARGETS_GPU_MODEL_MODELFIGURES_H

#include "tarpon/Targets/GPU/Model/MachineCode.h"

#include <initializer_list>

namespace tarpon {

/// A vendor's figures that GpuTarget does not have, because only the model
/// needs them. Latencies are in clocks.
struct ModelFigures {
  /// Bytes per clock between a compute unit and its caches.
  double globalBytesPerClock;
  /// The clocks from the end of a matrix instruction until its result can be
  /// added to.
  double matrixResultClocks;
  /// From the issue of a vector instruction until its result can be read.
  double vectorLatency;
  /// The latencies of LDS, a cache hit in L2, and the scalar cache, which count
  /// only where too few waves hide them.
  double ldsLatency, globalLatency, scalarLatency;
  /// The time of a launch in a graph behind another one.
  double launchMs;
  /// The time that wgmma takes over that of its peak.
  double groupMatrixFactor;
  /// The memory's bandwidth that can be had, of that in GpuTarget.
  double memoryShare;
  /// True if a workgroup's waits do not overlap with what its own waves do
  /// between two barriers, but with the work of other workgroups alone.
  bool waitsForGroup;
  /// The clocks for which one lane's store of less than 4 bytes occupies the
  /// way to the caches.
  double narrowStoreClocks;
  /// The clocks until a workgroup's first loads have come from memory.
  double firstLoadClocks;
  /// The clocks until workgroups that share a tile's iterations have met: one
  /// stores its sums, another reads them.
  double meetingClocks;
  /// How well units overlap: their times are added up as this norm. The times
  /// of the compute units and of the memory are, too.
  double unitNorm, memoryNorm;
  /// Kernels without a loop of products are estimated from their code, too,
  /// rather than from the peak's expected fraction.
  bool modelsAllCode;
  /// The multiply-adds of a vector instruction that peaks assume, per lane.
  int64_t fmasPerInstruction;
};

const ModelFigures &getModelFigures(const GpuTarget &gpu);

/// The norm of times that overlap in part: their sum for 1, the longest for
/// kLongest.
inline constexpr double kLongest = 0;
double overlap(std::initializer_list<double> times, double norm);

/// The clocks for which the instruction occupies the matrix unit of a SIMD.
double getMatrixClocks(const MachineInstruction &instruction,
                       const GpuTarget &gpu);

/// The clocks for which a SIMD issues a plain vector instruction: 4 where 16
/// lanes execute waves of 64, 1 where 32 execute waves of 32.
double getIssueClocks(const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_GPU_MODEL_MODELFIGURES_H
