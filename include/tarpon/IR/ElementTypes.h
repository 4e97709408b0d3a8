//===- ElementTypes.h - The element types of kernels ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_ELEMENTTYPES_H
#define TARPON_IR_ELEMENTTYPES_H

#include "tarpon/Runtime/DType.h"

#include "mlir/IR/Types.h"

#include <optional>
#include <string>

namespace tarpon {

/// Returns the element type for a dtype: signed integers are signless, unsigned
/// ones unsigned, bool is i1.
mlir::Type getElementType(mlir::MLIRContext *context, runtime::DType dtype);

/// The inverse, which also takes signed integers; for a type that is quantised
/// uniformly to 8 bits, its storage dtype. None for types that kernels do not
/// support.
std::optional<runtime::DType> getDType(mlir::Type elementType);

/// Returns true if kernels support elements of that type.
bool isElementType(mlir::Type type);

/// Lists the floats among them from the smallest to the largest, for messages:
/// with " or " as the last separator, "f16, bf16, f32 or f64".
std::string listFloatTypes(llvm::StringRef last);

} // namespace tarpon

#endif // TARPON_IR_ELEMENTTYPES_H
