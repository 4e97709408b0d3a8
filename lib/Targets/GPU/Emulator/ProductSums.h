//===- ProductSums.h - The sums of asynchronous products --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_PRODUCTSUMS_H
#define TARPON_TARGETS_GPU_EMULATOR_PRODUCTSUMS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tarpon::emulator {

/// The values of a kernel that are sums of asynchronous products. Those that
/// control flow passes on to each other are one accumulator: on the GPU they
/// are the same registers.
struct ProductSums {
  using Numbers = llvm::SmallVector<uint32_t, 1>;

  /// The number of each value's accumulator.
  llvm::DenseMap<mlir::Value, uint32_t> accumulators;
  uint32_t count = 0;
  /// The accumulators that an op reads, and those that it gives a value that is
  /// no sum.
  llvm::DenseMap<mlir::Operation *, Numbers> reads, writes;
};

/// Finds the sums of the ops of that name, whose operand `operand` is what they
/// add to.
ProductSums findProductSums(mlir::gpu::GPUFuncOp kernel, llvm::StringRef op,
                            unsigned operand);

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_PRODUCTSUMS_H
