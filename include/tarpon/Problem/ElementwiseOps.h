//===- ElementwiseOps.h - The elementwise operations ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_ELEMENTWISEOPS_H
#define TARPON_PROBLEM_ELEMENTWISEOPS_H

#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace tarpon {

/// Returns true if an epilogue may hold the op.
bool isElementwiseOp(OpKind op);
bool isBinaryOp(OpKind op);
/// Returns true if the operands' order matters and they are swapped.
bool isSwapped(const EpilogueStep &step);
/// Returns true if the elementwise op is defined on floats only.
bool isRealOp(OpKind op);

/// The unary op whose gradient the op is (see getGradient); none for others.
std::optional<OpKind> getForward(OpKind op);

/// The attributes that an elementwise op reads, in a fixed order.
llvm::ArrayRef<llvm::StringLiteral> getStepAttrs(OpKind op);

} // namespace tarpon

#endif // TARPON_PROBLEM_ELEMENTWISEOPS_H
