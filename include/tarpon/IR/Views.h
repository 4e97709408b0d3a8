//===- Views.h - The memory that a value lies in ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape or a bitcast lies in the memory of its operand, and a slice in a
// part of it. The operands of a join lie in its result, so that one piece of
// memory may have several producers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_VIEWS_H
#define TARPON_IR_VIEWS_H

#include "tarpon/IR/TarponOps.h"

namespace tarpon {

/// Memory that is planned as a whole, and the offset of a value in it.
struct View {
  /// The result of an op that is neither a reshape, a bitcast nor a slice nor
  /// joined, or an argument.
  mlir::Value storage;
  /// The offset, in elements.
  int64_t offset = 0;
};

View getView(mlir::Value value);

/// Returns the join that has the value as operand, or null.
JoinOp getJoin(mlir::Value value);

} // namespace tarpon

#endif // TARPON_IR_VIEWS_H
