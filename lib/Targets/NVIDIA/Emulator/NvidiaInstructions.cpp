//===- NvidiaInstructions.cpp - Emulated instructions of NVIDIA -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Emulator/NvidiaInstructions.h"

#include "NvidiaOps.h"

#include "GPU/Emulator/VendorInstructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

bool emulator::areAllActive(Wave &wave, const Instr &instr) {
  uint64_t missing = wave.fullMask() & ~wave.exec;
  if (missing)
    wave.fail(instr, std::countr_zero(missing),
              "needs this lane, which is not active");
  return missing == 0;
}

namespace {

class NvidiaInstructions final : public VendorInstructions {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<NVVM::NVVMDialect>();
  }
  void addOps(OpTable &table) const override {
    addCopyOps(table);
    addMmaOps(table);
    addWgmmaOps(table);
  }
  ProductSums findSums(gpu::GPUFuncOp kernel) const override {
    return findWgmmaSums(kernel);
  }
};

} // namespace

const VendorInstructions &tarpon::getNvidiaInstructions() {
  static const NvidiaInstructions instructions;
  return instructions;
}
