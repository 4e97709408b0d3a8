//===- ModelFigures.h - Assumptions of the static model ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_MODEL_MODELFIGURES_H
#define TARPON_LIB_TARGETS_AMDGPU_MODEL_MODELFIGURES_H

#include "tarpon/Targets/AMDGPU/Model/MachineCode.h"

namespace tarpon::model {

/// Bytes per clock between a compute unit and its caches: the vector L1's 64
/// (AMD's white papers on CDNA 2 and 3, and on RDNA).
inline constexpr double kGlobalBytesPerClock = 64;

/// The clocks from the end of a matrix instruction until its result can be
/// added to: four quads in LLVM's scheduling models of gfx90a and gfx942, where
/// a 16x16x16 f16 takes 4 and its latency is 8.
inline constexpr double kMatrixResultClocks = 16;

/// Assumed latencies in clocks: of LDS, of a cache hit in L2, and of the scalar
/// cache. They are of the order of chipsandcheese.com's measurements on MI300X
/// and RX 7900 XTX. They count only where too few waves hide them.
inline constexpr double kLdsLatency = 64;
inline constexpr double kGlobalLatency = 500;
inline constexpr double kScalarLatency = 50;

/// Assumed: the time of a launch in a graph behind another one.
inline constexpr double kLaunchMs = 0.002;

/// The number of iterations before the period of a loop is measured.
inline constexpr int kWarmIterations = 4;

} // namespace tarpon::model

namespace tarpon {

/// The clocks for which the instruction occupies the matrix unit of a SIMD.
double getMatrixClocks(const MachineInstruction &instruction,
                       const GpuTarget &gpu);

/// The clocks for which a SIMD issues a plain vector instruction: 4 where 16
/// lanes execute waves of 64, 1 where 32 execute waves of 32.
double getIssueClocks(const GpuTarget &gpu);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_AMDGPU_MODEL_MODELFIGURES_H
