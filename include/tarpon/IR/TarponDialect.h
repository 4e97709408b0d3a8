//===- TarponDialect.h - The dialect, its attributes and enums --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONDIALECT_H
#define TARPON_IR_TARPONDIALECT_H

#include "tarpon/Problem/PerfConfig.h"
#include "tarpon/Problem/Problem.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

#include "tarpon/IR/TarponDialect.h.inc"
#include "tarpon/IR/TarponEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tarpon/IR/TarponAttrs.h.inc"

namespace tarpon {

/// The layout of a tensor type: its encoding, or nchw if it has none.
LayoutAttr getLayout(mlir::RankedTensorType type);

/// The same type in another layout; nchw is spelled by leaving the encoding
/// out.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The same type with another element type.
mlir::RankedTensorType withElementType(mlir::RankedTensorType type,
                                       mlir::Type elementType);

} // namespace tarpon

#endif // TARPON_IR_TARPONDIALECT_H
