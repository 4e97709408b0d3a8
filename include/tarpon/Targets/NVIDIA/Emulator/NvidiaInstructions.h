//===- NvidiaInstructions.h - Emulated instructions of NVIDIA ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_EMULATOR_NVIDIAINSTRUCTIONS_H
#define TARPON_TARGETS_NVIDIA_EMULATOR_NVIDIAINSTRUCTIONS_H

namespace tarpon {

namespace emulator {
class VendorInstructions;
} // namespace emulator

/// The ops of the nvvm dialect, for EmulatorOptions::instructions. Every GPU of
/// the table has them.
const emulator::VendorInstructions &getNvidiaInstructions();

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_EMULATOR_NVIDIAINSTRUCTIONS_H
