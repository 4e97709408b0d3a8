//===- AmdInstructions.h - Emulated instructions of AMD GPUs ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_EMULATOR_AMDINSTRUCTIONS_H
#define TARPON_TARGETS_AMDGPU_EMULATOR_AMDINSTRUCTIONS_H

namespace tarpon {

namespace emulator {
class VendorInstructions;
} // namespace emulator

/// The ops of the amdgpu and rocdl dialects, for EmulatorOptions::instructions.
/// Their EmulatorOptions::matrixFamilies is a set of MatrixFamily.
const emulator::VendorInstructions &getAmdInstructions();

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_EMULATOR_AMDINSTRUCTIONS_H
