//===- TarponOps.cpp - Definitions generated from TableGen ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponOps.h"

#include "ConstantFolding.h"
#include "Inference.h"

#include "mlir/IR/Builders.h"

#include "tarpon/IR/TarponInterfaces.cpp.inc"

using namespace mlir;

LogicalResult tarpon::detail::verifyInferredTypes(Operation *op) {
  auto inferring = cast<InferTypeOpInterface>(op);
  SmallVector<Type> types(op->getResultTypes());
  return inferring.refineReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(),
      op->getRawDictionaryAttrs(), op->getPropertiesStorage(), op->getRegions(),
      types);
}

LogicalResult tarpon::detail::verifyElementTypes(Operation *op) {
  auto verify = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || isElementType(tensor.getElementType()))
      return success();
    return op->emitOpError("expects elements that kernels know: i1, i8 to i64, "
                           "f16, bf16, f32, f64 or quantised ones of 8 bits, "
                           "got ")
           << tensor.getElementType();
  };
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (failed(verify(type)))
        return failure();
  return success();
}

#define GET_OP_CLASSES
#include "tarpon/IR/TarponOps.cpp.inc"
