//===- BodyResults.h - Results of nodes with sub-graphs ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_BODYRESULTS_H
#define TARPON_LIB_IMPORT_BODYRESULTS_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns true if `value` holds one bool; emits an error otherwise.
bool checkCondition(OnnxNode &node, mlir::Value value);

/// Returns true if a condition of one bool holds.
bool isTrue(mlir::ElementsAttr condition);

/// Sets the outputs, the last of which a node may leave out.
void setOutputs(OnnxNode &node, llvm::ArrayRef<mlir::Value> values);

/// Joins values of one shape, those of all iterations, along a new dimension.
mlir::Value stackValues(OnnxNode &node, llvm::ArrayRef<mlir::Value> values,
                        int64_t axis, bool reverse = false);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_BODYRESULTS_H
