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

namespace tarpon {

/// Whether an op's mnemonic is one that an epilogue may hold.
bool isElementwiseOp(llvm::StringRef op);
bool isBinaryOp(llvm::StringRef op);
/// Whether the operands' order matters and is turned around.
bool isSwapped(const EpilogueStep &step);
/// Whether an elementwise op is defined on floats only.
bool isRealOp(llvm::StringRef op);

/// "x_backward" of a unary op x is a binary op: dy times the derivative of x
/// at its right-hand operand. Strips the ending; false if there is none.
bool consumeBackward(llvm::StringRef &op);

/// The attributes that an elementwise op reads, in a fixed order.
llvm::ArrayRef<llvm::StringLiteral> getStepAttrs(llvm::StringRef op);

} // namespace tarpon

#endif // TARPON_PROBLEM_ELEMENTWISEOPS_H
