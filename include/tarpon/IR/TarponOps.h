//===- TarponOps.h - The ops and interfaces of the dialect ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONOPS_H
#define TARPON_IR_TARPONOPS_H

#include "tarpon/IR/TarponDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tarpon/IR/TarponInterfaces.h.inc"

namespace tarpon {
namespace detail {
/// Fails, with one error, if the op's types are not what its inference says.
llvm::LogicalResult verifyInferredTypes(mlir::Operation *op);
/// Fails, with one error, if a tensor's elements are of a type that no kernel
/// knows.
llvm::LogicalResult verifyElementTypes(mlir::Operation *op);
} // namespace detail

/// Verifies an op by its type inference.
template <typename ConcreteType>
class VerifiedByInference // NOLINT: Op derives from it, not ConcreteType.
    : public mlir::OpTrait::TraitBase<ConcreteType, VerifiedByInference> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyInferredTypes(op);
  }
};

/// Verifies that operands and results hold elements that kernels know.
template <typename ConcreteType>
class HoldsKnownElements // NOLINT: Op derives from it, not ConcreteType.
    : public mlir::OpTrait::TraitBase<ConcreteType, HoldsKnownElements> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyElementTypes(op);
  }
};
} // namespace tarpon

#define GET_OP_CLASSES
#include "tarpon/IR/TarponOps.h.inc"

#endif // TARPON_IR_TARPONOPS_H
