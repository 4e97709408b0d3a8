//===- ComputeKind.h - The type that a problem computes in ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_COMPUTEKIND_H
#define TARPON_PROBLEM_COMPUTEKIND_H

#include "tarpon/Problem/Problem.h"

#include <cstdint>

namespace tarpon {

/// The type that a problem computes in: F32 unless its data are f64 or integers
/// that are not quantised; U64 differs from I64 in comparisons and divisions
/// only.
enum class ComputeKind : uint8_t { F32, F64, I64, U64 };

bool isFloat(ComputeKind kind);

/// The kind for elements of `desc`, whatever the problem.
ComputeKind computeKindOf(const TensorDesc &desc);
/// The kind of a problem: that of operand 0, but f32 where the op defines its
/// result that way (conv, matmul, averages of integers).
ComputeKind computeKindOf(const Problem &problem);

} // namespace tarpon

#endif // TARPON_PROBLEM_COMPUTEKIND_H
