//===- ElementTypes.cpp - The element types of kernels ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ElementTypes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <limits>

using namespace mlir;
using tarpon::runtime::DType;
using tarpon::runtime::isFloat;

/// A bool is one bit here.
template <typename T>
static Type getIntegerType(MLIRContext *context) {
  using Limits = std::numeric_limits<T>;
  constexpr bool isUnsigned = !Limits::is_signed && !std::is_same_v<T, bool>;
  return IntegerType::get(context, Limits::digits + Limits::is_signed,
                          isUnsigned ? IntegerType::Unsigned
                                     : IntegerType::Signless);
}

Type tarpon::getElementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, type, \
                     ...)                                                      \
  case DType::enumerator:                                                      \
    return type::get(context);
#define TARPON_INTEGER(enumerator, spelling, type, ...)                        \
  case DType::enumerator:                                                      \
    return getIntegerType<type>(context);
#include "tarpon/Runtime/DTypes.def"
  }
  llvm_unreachable("unknown dtype");
}

std::optional<DType> tarpon::getDType(Type elementType) {
  if (isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
          elementType)) {
    auto quantized = cast<quant::QuantizedType>(elementType);
    if (quantized.getStorageTypeIntegralWidth() != 8)
      return std::nullopt;
    return quantized.isSigned() ? DType::I8 : DType::U8;
  }
  if (auto integer = dyn_cast<IntegerType>(elementType))
    if (integer.isSigned() && integer.getWidth() > 1)
      elementType =
          IntegerType::get(elementType.getContext(), integer.getWidth());
  for (DType dtype : runtime::kDTypes)
    if (getElementType(elementType.getContext(), dtype) == elementType)
      return dtype;
  return std::nullopt;
}

bool tarpon::isElementType(Type type) { return getDType(type).has_value(); }

std::string tarpon::listFloatTypes(StringRef last) {
  SmallVector<DType> floats;
  llvm::copy_if(runtime::kDTypes, std::back_inserter(floats), isFloat);
  llvm::stable_sort(floats, [](DType a, DType b) {
    return runtime::dtypeBits(a) < runtime::dtypeBits(b);
  });
  std::string text;
  for (DType dtype : floats) {
    if (!text.empty())
      text += dtype == floats.back() ? last : ", ";
    text += runtime::dtypeName(dtype);
  }
  return text;
}
