//===- GraphChecks.h - Checks the values of a graph -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_GRAPHCHECKS_H
#define TARPON_LIB_IMPORT_GRAPHCHECKS_H

#include "ModelReader.h"

namespace tarpon {

/// Checks that every value of the graph has a name and one definition, and that
/// definitions precede uses. The error distinguishes a cycle from nodes that
/// are merely not sorted.
mlir::LogicalResult checkValues(ModelReader &model);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_GRAPHCHECKS_H
