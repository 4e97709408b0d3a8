//===- AmdInstructions.cpp - Emulated instructions of AMD GPUs ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Emulator/AmdInstructions.h"

#include "AmdOps.h"

#include "GPU/Emulator/CommonOps.h"
#include "GPU/Emulator/MathFunctions.h"
#include "GPU/Emulator/VendorInstructions.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

/// The definition of amdgpu.lds_barrier says that it orders LDS only.
static LogicalResult translateLdsBarrier(Translator &translator,
                                         Operation *op) {
  return emitBarrier(translator, op, /*ordersGlobal=*/false,
                     /*waitsForLoads=*/false);
}

/// Ignores hints for the backend's scheduler and the hardware's arbiter.
static LogicalResult translateHint(Translator &, Operation *) {
  return success();
}

namespace {

class AmdInstructions final : public VendorInstructions {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<amdgpu::AMDGPUDialect, ROCDL::ROCDLDialect>();
  }
  void addOps(OpTable &table) const override;
  /// A buffer resource is a base and a number of bytes.
  uint32_t countPointerRegisters(unsigned addressSpace) const override {
    constexpr unsigned kBufferResource = 8;
    return addressSpace == kBufferResource ? 2 : 0;
  }
};

} // namespace

void AmdInstructions::addOps(OpTable &table) const {
  addBufferOps(table);
  addMatrixOps(table);
  table["amdgpu.lds_barrier"] = translateLdsBarrier;
  for (const char *hint :
       {"rocdl.sched.barrier", "rocdl.sched.group.barrier", "rocdl.iglp.opt",
        "rocdl.s.setprio", "amdgpu.sched_barrier"})
    table[hint] = translateHint;
  for (const char *read : {"rocdl.readfirstlane", "rocdl.readlane"})
    table[read] = translateLaneBroadcast;
  // These are the instructions themselves: v_log_f32 is to base 2.
  table["rocdl.exp2"] = translateUnary<Exp2>;
  table["rocdl.log"] = translateUnary<Log2>;
  table["rocdl.rcp"] = translateUnary<Reciprocal>;
  table["rocdl.sqrt"] = translateUnary<Sqrt>;
}

const VendorInstructions &tarpon::getAmdInstructions() {
  static const AmdInstructions instructions;
  return instructions;
}
