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

#define GET_OP_CLASSES
#include "tarpon/IR/TarponOps.cpp.inc"
