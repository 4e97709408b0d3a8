//===- TarponDialect.cpp - The dialect --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponDialect.h"
#include "tarpon/IR/TarponOps.h"

#include "mlir/Dialect/Quant/IR/Quant.h"

using namespace mlir;
using namespace tarpon;

#include "tarpon/IR/TarponDialect.cpp.inc"

void TarponDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tarpon/IR/TarponOps.cpp.inc"
      >();
}

Operation *TarponDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!elements || !tensor)
    return nullptr;
  TypeAttr quantizedType;
  if (isa<quant::QuantizedType>(tensor.getElementType()))
    quantizedType = TypeAttr::get(tensor);
  SmallVector<Type, 1> inferred;
  ConstantOp::Properties properties;
  properties.value = elements;
  properties.quantized_type = quantizedType;
  // Folders may not produce a value for a type with a layout.
  if (failed(ConstantOp::inferReturnTypes(
          builder.getContext(), std::nullopt, ValueRange(), DictionaryAttr(),
          OpaqueProperties(&properties), RegionRange(), inferred)) ||
      inferred.front() != type)
    return nullptr;
  return ConstantOp::create(builder, location, tensor, elements, quantizedType);
}
