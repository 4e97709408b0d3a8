//===- BehaviourDigest.h - Digests the computation of IR --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_BEHAVIOURDIGEST_H
#define TARPON_TEST_UNIT_VERSIONS_BEHAVIOURDIGEST_H

#include "mlir/IR/Operation.h"

#include <string>

namespace tarpon::test {

/// A digest of the computation of an operation and its regions. It does not
/// depend on the names and locations of values, on the symbol's name, nor on
/// the order of operations without side effects, which depends on the compiler
/// that evaluates the arguments of a call. Reads may be reordered with each
/// other, but not with writes.
std::string digestBehaviour(mlir::Operation *op);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_BEHAVIOURDIGEST_H
