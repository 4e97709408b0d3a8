//===- ElementTypes.h - The elements that kernels know ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_ELEMENTTYPES_H
#define TARPON_IR_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace tarpon {

/// Whether kernels know elements of that type: i1, integers of 8, 16, 32 and 64
/// bits, f16, bf16, f32, f64, and integers of 8 bits that are quantised
/// uniformly.
bool isElementType(mlir::Type type);

} // namespace tarpon

#endif // TARPON_IR_ELEMENTTYPES_H
