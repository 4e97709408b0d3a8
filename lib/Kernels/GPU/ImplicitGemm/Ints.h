//===- Ints.h - Arithmetic on i32 in GPU kernels -------------- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs have instructions for 32 bits. All numbers in these kernels fit 31 bits:
// solvers refuse tensors of 2 GiB and more.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_INTS_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_INTS_H

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

namespace tarpon::gpuigemm {

/// KernelBuilder's arithmetic with constants of i32.
class Ints {
public:
  using Value = mlir::Value;

  explicit Ints(KernelBuilder &b) : b(b) {}

  mlir::Type type() const { return b.getI32Type(); }
  Value cst(int64_t value) {
    return b.cstLike(type(), static_cast<double>(value));
  }
  /// Truncates an i64 that fits.
  Value from(Value wide);
  Value param(int64_t index) { return from(b.getParam(index)); }
  /// Widens a number that is not negative, for addresses.
  Value widen(Value value);

  Value add(Value x, Value y) { return b.add(x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : b.add(x, cst(y)); }
  Value sub(Value x, Value y) { return b.sub(x, y); }
  Value mul(Value x, Value y) { return b.mul(x, y); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : b.mul(x, cst(y)); }
  Value div(Value x, int64_t y) { return y == 1 ? x : b.div(x, cst(y)); }
  Value rem(Value x, int64_t y) { return b.rem(x, cst(y)); }
  Value exclusiveOr(Value x, Value y);
  Value exclusiveOr(Value x, int64_t y) {
    return y == 0 ? x : exclusiveOr(x, cst(y));
  }

private:
  KernelBuilder &b;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_INTS_H
