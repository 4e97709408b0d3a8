//===- IndexDivision.h - Divisions of indices in 32 bits --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_AMDGPU_INDEXDIVISION_H
#define TARPON_TARGETS_AMDGPU_INDEXDIVISION_H

#include "mlir/IR/PatternMatch.h"

namespace tarpon {

/// Narrows unsigned divisions of i64 to 32 bits if both operands are computed
/// from parameters, lanes and workgroups only: then they are indices, which
/// solvers keep below 2^31. Values loaded from memory are left alone. Otherwise
/// LLVM would make a hundred instructions of each division, since it cannot
/// know that a parameter is not negative.
void populateIndexDivisionPatterns(mlir::RewritePatternSet &patterns);

} // namespace tarpon

#endif // TARPON_TARGETS_AMDGPU_INDEXDIVISION_H
