//===- VendorInstructions.h - The ops of one vendor -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_VENDORINSTRUCTIONS_H
#define TARPON_TARGETS_GPU_EMULATOR_VENDORINSTRUCTIONS_H

#include "ProductSums.h"
#include "Translator.h"

#include "mlir/IR/DialectRegistry.h"

namespace tarpon::emulator {

/// The instructions of one vendor's GPUs. Stateless; lives forever.
class VendorInstructions {
public:
  virtual ~VendorInstructions() = default;

  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// Adds its ops to those that GPUs have in common.
  virtual void addOps(OpTable &table) const = 0;

  /// Finds the sums of asynchronous products; none if there are no such ones.
  virtual ProductSums findSums(mlir::gpu::GPUFuncOp /*kernel*/) const {
    return ProductSums();
  }

  /// The 64-bit registers of a pointer to an address space other than global
  /// memory and LDS; 0 if there are no such pointers.
  virtual uint32_t countPointerRegisters(unsigned /*addressSpace*/) const {
    return 0;
  }
};

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_VENDORINSTRUCTIONS_H
