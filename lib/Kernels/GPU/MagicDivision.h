//===- MagicDivision.h - Division without dividing --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPUs have no instruction that divides integers. If a divisor is known when a
// launch is planned, a multiplication and a shift replace the division; both
// numbers are parameters, so that shapes stay run-time arguments.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_MAGICDIVISION_H
#define TARPON_LIB_KERNELS_GPU_MAGICDIVISION_H

#include "Common/LaunchBuilder.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"

#include <cstdint>
#include <utility>

namespace tarpon {

/// n / d = (2 * n * multiplier >> 32) >> shift for n and d in [0, 2^31), d > 0.
///
/// Round-up method (Granlund and Montgomery, Division by Invariant Integers
/// using Multiplication, 1994) for numerators of 31 bits: with 2^shift >= d,
/// multiplier = ceil(2^(31 + shift) / d) fits into 32 bits, and its error times
/// n, over 2^(31 + shift), is less than 1 / d.
struct MagicNumbers {
  uint32_t multiplier;
  int32_t shift;
};

MagicNumbers getMagicNumbers(int64_t divisor);

/// A divisor as launch parameters. Captured by value in KernelSource::emit.
class MagicDivisor {
public:
  /// Adds three parameters: the divisor and its magic numbers.
  MagicDivisor(LaunchBuilder &launch, int64_t divisor);

  /// The divisor in an emitted kernel. Numerators are i64 or i32, below 2^31
  /// and not negative; quotients and remainders have their type.
  class Bound {
  public:
    mlir::Value div(KernelBuilder &b, mlir::Value numerator) const;
    mlir::Value rem(KernelBuilder &b, mlir::Value numerator) const {
      return divRem(b, numerator).second;
    }
    std::pair<mlir::Value, mlir::Value> divRem(KernelBuilder &b,
                                               mlir::Value numerator) const;
    /// The divisor as i64.
    mlir::Value getDivisor() const { return divisor; }

  private:
    friend class MagicDivisor;
    mlir::Value divisor, multiplier, shift;
  };
  Bound bind(KernelBuilder &b) const;

private:
  int64_t firstParam;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_MAGICDIVISION_H
