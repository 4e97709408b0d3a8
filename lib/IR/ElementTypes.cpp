//===- ElementTypes.cpp - The elements that kernels know --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ElementTypes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

bool tarpon::isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({8U, 16U, 32U, 64U}, integer.getWidth()) ||
           integer.isSignlessInteger(1);
  if (isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
          type))
    return cast<quant::QuantizedType>(type).getStorageTypeIntegralWidth() == 8;
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}
