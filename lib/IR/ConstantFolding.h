//===- ConstantFolding.h - Folds the bytes of constants ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights can be hundreds of megabytes: splats stay splats, elements are
// converted one by one without a copy in f64, and a fold that would turn little
// data into much is declined. Constants are row-major; a fold whose result has
// a layout is declined too.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IR_CONSTANTFOLDING_H
#define TARPON_LIB_IR_CONSTANTFOLDING_H

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tarpon::detail {

// Each takes operands from a FoldAdaptor (null if not constant) and returns the
// result, or null if it declines.

/// Computes in double; declines integers that double does not hold.
mlir::Attribute foldUnary(mlir::Attribute operand, mlir::RankedTensorType type,
                          llvm::function_ref<double(double)> compute);

/// Computes floats in double and integers in 64 bits, with NumPy's
/// broadcasting.
mlir::Attribute
foldBinary(mlir::Attribute lhs, mlir::Attribute rhs,
           mlir::RankedTensorType type,
           llvm::function_ref<double(double, double)> compute,
           llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)>
               computeInteger);

/// Converts between float and integer types.
mlir::Attribute foldConvert(mlir::Attribute operand,
                            mlir::RankedTensorType type);

/// Returns the values in f32 that the integers of a quantised constant stand
/// for.
mlir::Attribute foldDequantize(mlir::Attribute operand,
                               mlir::quant::QuantizedType quantized,
                               mlir::RankedTensorType type);

/// Gives the elements another shape, sharing the storage.
mlir::Attribute foldReshape(mlir::Attribute operand,
                            mlir::RankedTensorType type);

mlir::Attribute foldTranspose(mlir::Attribute operand,
                              llvm::ArrayRef<int64_t> permutation,
                              mlir::RankedTensorType type);

/// Selects elements of `lhs` or `rhs`, with NumPy's broadcasting.
mlir::Attribute foldWhere(mlir::Attribute condition, mlir::Attribute lhs,
                          mlir::Attribute rhs, mlir::RankedTensorType type);

/// Gathers slices along `axis`, as tarpon.gather.
mlir::Attribute foldGather(mlir::Attribute input, mlir::Attribute indices,
                           int64_t axis, mlir::RankedTensorType type);

/// Pads with a value; pads below zero remove cells. Declines quantised values.
mlir::Attribute foldPad(mlir::Attribute operand, llvm::ArrayRef<int64_t> pads,
                        double value, mlir::RankedTensorType type);

mlir::Attribute foldConcat(llvm::ArrayRef<mlir::Attribute> operands,
                           int64_t axis, mlir::RankedTensorType type);

} // namespace tarpon::detail

#endif // TARPON_LIB_IR_CONSTANTFOLDING_H
