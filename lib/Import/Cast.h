//===- Cast.h - Conversions as the standard defines them --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_CAST_H
#define TARPON_LIB_IMPORT_CAST_H

#include "OnnxNode.h"

namespace tarpon {

/// Reads an attribute that is a TensorProto.DataType; none if it is absent, and
/// after an error.
std::optional<runtime::DType> readDType(OnnxNode &node, llvm::StringRef name);

/// Converts floats of 16 bits or more to fp8: larger numbers become the largest
/// one of their sign, and NaN stays NaN.
mlir::Value saturateTo(OnnxNode &node, mlir::Value value,
                       mlir::FloatType elementType);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_CAST_H
