//===- Views.h - Which memory a value lies in -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape lies where its operand does, and a slice in it. What is joined lies
// in the result of the join, so that one piece of memory may have several
// producers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_VIEWS_H
#define TARPON_IR_VIEWS_H

#include "tarpon/IR/TarponOps.h"

namespace tarpon {

/// Memory that is planned as a whole, and where in it a value starts.
struct View {
  /// The result of an op that is neither a reshape nor a slice nor joined, or
  /// an argument.
  mlir::Value storage;
  /// In elements.
  int64_t offset = 0;
};

View getView(mlir::Value value);

/// The join that the value is an operand of, or null.
JoinOp getJoin(mlir::Value value);

} // namespace tarpon

#endif // TARPON_IR_VIEWS_H
