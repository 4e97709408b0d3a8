//===- TargetAttribute.h - Targets in the IR --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_REGISTRY_TARGETATTRIBUTE_H
#define TARPON_TARGETS_REGISTRY_TARGETATTRIBUTE_H

#include "tarpon/IR/TargetAttr.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace tarpon {

/// On modules and functions: the target of the code, a #tarpon.target.
inline constexpr llvm::StringLiteral kTargetAttrName = "tarpon.target";

/// The target that the attribute names.
runtime::Result<std::shared_ptr<const Target>> findTarget(TargetAttr attribute);

/// The attribute of the op, or of the innermost op around it that has one, or
/// null.
TargetAttr getTargetAttr(mlir::Operation *op);

/// Makes an attribute that names no registered target an error where it is
/// parsed.
void registerTargetCheck(mlir::DialectRegistry &registry);

} // namespace tarpon

#endif // TARPON_TARGETS_REGISTRY_TARGETATTRIBUTE_H
