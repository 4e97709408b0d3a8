//===- NvidiaOps.h - The emulator's tables of NVIDIA's ops ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_EMULATOR_NVIDIAOPS_H
#define TARPON_LIB_TARGETS_NVIDIA_EMULATOR_NVIDIAOPS_H

#include "GPU/Emulator/Translator.h"
#include "GPU/Emulator/Wave.h"

namespace tarpon::emulator {

/// Asynchronous copies to LDS, and barriers, which do not wait for them.
void addCopyOps(OpTable &table);
/// mma.sync, ldmatrix, which loads its operands, and the rounding to TF32.
void addMmaOps(OpTable &table);
/// wgmma, which multiplies matrices in LDS.
void addWgmmaOps(OpTable &table);
ProductSums findWgmmaSums(mlir::gpu::GPUFuncOp kernel);

/// Returns true if all lanes of the wave are active; fails otherwise: a kernel
/// that has disabled some of them is wrong.
bool areAllActive(Wave &wave, const Instr &instr);

} // namespace tarpon::emulator

#endif // TARPON_LIB_TARGETS_NVIDIA_EMULATOR_NVIDIAOPS_H
