//===- Reduction.h - The dimensions that a node reduces ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_REDUCTION_H
#define TARPON_LIB_IMPORT_REDUCTION_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns the axes to reduce of an input of that rank: an attribute, or an
/// input since opset 13 (ReduceSum) and 18; all axes if there are none. Emits
/// an error and returns none if they are not known.
std::optional<llvm::SmallVector<int64_t>> readReducedAxes(OnnxNode &node,
                                                          int64_t rank);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_REDUCTION_H
