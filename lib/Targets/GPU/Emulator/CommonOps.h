//===- CommonOps.h - Translations for vendors' tables -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_COMMONOPS_H
#define TARPON_TARGETS_GPU_EMULATOR_COMMONOPS_H

#include "Translator.h"

namespace tarpon::emulator {

/// Emits a barrier of the workgroup, which may order global memory, too, and
/// wait for asynchronous loads to LDS.
mlir::LogicalResult emitBarrier(Translator &translator, mlir::Operation *op,
                                bool ordersGlobal, bool waitsForLoads);

/// Translates an op that gives all lanes its operand in the lane of the second
/// operand, or in the first active lane if there is none.
mlir::LogicalResult translateLaneBroadcast(Translator &translator,
                                           mlir::Operation *op);

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_COMMONOPS_H
