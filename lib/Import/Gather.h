//===- Gather.h - Elements and slices at indices ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_GATHER_H
#define TARPON_LIB_IMPORT_GATHER_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns the slices of `data` along `axis` at these places, which follow each
/// other in long runs.
mlir::Value selectSlices(OnnxNode &node, mlir::Value data, int64_t axis,
                         llvm::ArrayRef<int64_t> indices);

/// Returns, for each index, the element of `data` at its own place but for
/// `axis`, where it has the index: GatherElements of ONNX.
mlir::Value gatherElements(OnnxNode &node, mlir::Value data,
                           mlir::Value indices, int64_t axis);

/// Returns the slices of `data` along `axis` for which the condition holds, in
/// front of others, and their number: Compress of ONNX at run time.
mlir::Value compress(OnnxNode &node, mlir::Value data, mlir::Value condition,
                     int64_t axis, mlir::Value &count);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_GATHER_H
