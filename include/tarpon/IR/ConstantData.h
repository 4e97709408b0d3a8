//===- ConstantData.h - The bytes of constants ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are large: values above a few elements become resource blobs, which
// MLIR neither hashes nor copies. Everything that reads or makes a constant
// goes through here.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_CONSTANTDATA_H
#define TARPON_IR_CONSTANTDATA_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// Bytes of one stored element: i1 takes one byte, a quantised type its storage
/// type.
int64_t getElementBytes(mlir::Type elementType);

/// An attribute of `type` (row-major, storage element type) that owns `bytes`,
/// in which i1 takes one byte each. Splats and small tensors become dense
/// attributes, others resource blobs.
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    std::vector<char> bytes);
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    std::string bytes);

/// Such an attribute that shares `bytes` with others, which may be of other
/// contexts.
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    std::shared_ptr<const std::string> bytes);

/// A tarpon.constant of that type, which may be quantised, from its elements in
/// row-major order; i1 takes one byte each.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type,
                           std::vector<char> bytes);

/// The elements of a constant in row-major order as raw bytes; splats are
/// expanded and i1 takes one byte each. Empty for attributes that a verified
/// tarpon.constant does not hold.
std::vector<char> getConstantBytes(mlir::ElementsAttr attr);

/// The same bytes in place; they live as long as the context. Empty for splats
/// and i1, which are stored in another way.
llvm::ArrayRef<char> getStoredBytes(mlir::ElementsAttr attr);

/// The elements converted to f32, from any integers or floats. Empty for
/// attributes that a verified tarpon.constant does not hold.
std::vector<float> getConstantFloats(mlir::ElementsAttr attr);

/// The constant that defines `value`, or null.
mlir::ElementsAttr getConstantValue(mlir::Value value);

/// Creates a tarpon.constant of f32 elements (or of another float type, to
/// which the values are rounded).
mlir::Value createFloatConstant(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::RankedTensorType type,
                                llvm::ArrayRef<float> values);

} // namespace tarpon

#endif // TARPON_IR_CONSTANTDATA_H
