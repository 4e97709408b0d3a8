//===- Locations.h - Reads the locations of operations ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_LOCATIONS_H
#define TARPON_IR_LOCATIONS_H

#include "mlir/IR/Location.h"

namespace tarpon {

/// The name of the ONNX node that an operation comes from: the first name in
/// its location, or "". The context owns the text.
llvm::StringRef getLocationName(mlir::Location location);

} // namespace tarpon

#endif // TARPON_IR_LOCATIONS_H
