//===- AmdOps.h - The emulator's tables of AMD's ops ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_EMULATOR_AMDOPS_H
#define TARPON_LIB_TARGETS_AMDGPU_EMULATOR_AMDOPS_H

#include "GPU/Emulator/Translator.h"

namespace tarpon::emulator {

/// Raw buffers, and loads to LDS.
void addBufferOps(OpTable &table);
/// MFMA and WMMA.
void addMatrixOps(OpTable &table);

} // namespace tarpon::emulator

#endif // TARPON_LIB_TARGETS_AMDGPU_EMULATOR_AMDOPS_H
