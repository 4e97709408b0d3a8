//===- Operators.h - Operators that others are composed of ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of ONNX's operators for values that need not be inputs of the
// node. All return null after an error.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_OPERATORS_H
#define TARPON_LIB_IMPORT_OPERATORS_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns true if the node has these inputs; emits an error if one is missing.
bool requireInputs(OnnxNode &node, llvm::ArrayRef<unsigned> indices);

/// MatMul: a vector is a row on the left and a column on the right; the result
/// lacks that dimension.
mlir::Value multiplyMatrices(OnnxNode &node, mlir::Value lhs, mlir::Value rhs);

/// Gemm of the node's attributes and inputs.
mlir::Value createGemm(OnnxNode &node);

/// Conv of the node's attributes and inputs.
mlir::Value createConv(OnnxNode &node);

/// Softmax along the node's attribute `axis`, as that opset defines it.
mlir::Value createSoftmax(OnnxNode &node, mlir::Value input, int64_t opset,
                          int64_t defaultAxis);

/// LayerNormalization over the dimensions from `axis` on; `parameters` are
/// scale and bias, if there are any.
mlir::Value createLayerNorm(OnnxNode &node, mlir::Value input,
                            llvm::ArrayRef<mlir::Value> parameters,
                            int64_t axis, float epsilon);

/// RMSNormalization likewise.
mlir::Value createRmsNorm(OnnxNode &node, mlir::Value input, mlir::Value scale,
                          int64_t axis, float epsilon);

/// The pools of the node's attributes.
mlir::Value createMaxPool(OnnxNode &node, mlir::Value input);
mlir::Value createAveragePool(OnnxNode &node, mlir::Value input);

/// Moves the channels of batch x channels x positions behind the positions, or
/// back.
mlir::Value moveChannels(OnnxNode &node, mlir::Value value, bool toLast);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_OPERATORS_H
