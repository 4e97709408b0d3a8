//===- ConstantData.cpp - The bytes of constants ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ConstantData.h"

#include "ConstantView.h"
#include "tarpon/IR/TarponOps.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <memory>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

/// Up to this many elements are stored in the attribute, where they are uniqued
/// and print readably.
static constexpr int64_t maxInlineElements = 64;

static Type getStorageType(Type elementType) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType))
    return quantized.getStorageType();
  return elementType;
}

int64_t tarpon::getElementBytes(Type elementType) {
  unsigned bits = getStorageType(elementType).getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

//===----------------------------------------------------------------------===//
// ConstantView
//===----------------------------------------------------------------------===//

static std::vector<char> unpackBools(DenseElementsAttr attr) {
  if (attr.isSplat())
    return {static_cast<char>(attr.getSplatValue<bool>())};
  auto bools = attr.getValues<bool>();
  return {bools.begin(), bools.end()};
}

/// Returns true for signed integers of less than 8 bits, whose upper bits of a
/// byte are zero in dense attributes, and those of the sign elsewhere.
static bool isNarrowSigned(Type elementType) {
  return elementType.isSignlessInteger() && !elementType.isInteger(1) &&
         elementType.getIntOrFloatBitWidth() < 8;
}

static std::vector<char> extendSigns(ArrayRef<char> bytes, Type elementType) {
  const ScalarAccess &access = *getScalarAccess(elementType);
  std::vector<char> extended(bytes.size());
  for (auto [to, from] : llvm::zip_equal(extended, bytes))
    access.storeInteger(&to, from);
  return extended;
}

std::optional<ConstantView> ConstantView::get(Attribute attr) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attr);
  if (!elements)
    return std::nullopt;
  ConstantView view;
  view.type = dyn_cast<RankedTensorType>(elements.getShapedType());
  if (!view.type || view.type.getEncoding() || !view.type.hasStaticShape())
    return std::nullopt;
  view.access = getScalarAccess(view.type.getElementType());
  if (!view.access)
    return std::nullopt;

  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(attr)) {
    view.splat = dense.isSplat();
    if (view.type.getElementType().isInteger(1))
      view.unpacked = unpackBools(dense);
    else if (isNarrowSigned(view.type.getElementType()))
      view.unpacked =
          extendSigns(dense.getRawData(), view.type.getElementType());
    else
      view.data = dense.getRawData();
    return view;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  if (!resource)
    return std::nullopt;
  view.data = resource.getData();
  int64_t expected = view.type.getNumElements() * view.access->bytes;
  if (static_cast<int64_t>(view.data.size()) != expected)
    return std::nullopt;
  return view;
}

//===----------------------------------------------------------------------===//
// Making constants
//===----------------------------------------------------------------------===//

/// Makes a dense attribute of all elements, or of one that fills the type.
static ElementsAttr makeDenseAttr(RankedTensorType type, ArrayRef<char> bytes) {
  Type elementType = type.getElementType();
  if (isNarrowSigned(elementType)) {
    SmallVector<char> values;
    for (char byte : bytes)
      values.push_back(static_cast<char>(
          byte & ((1 << elementType.getIntOrFloatBitWidth()) - 1)));
    return cast<ElementsAttr>(
        DenseElementsAttr::getFromRawBuffer(type, values));
  }
  if (!elementType.isInteger(1))
    return cast<ElementsAttr>(DenseElementsAttr::getFromRawBuffer(type, bytes));
  SmallVector<bool> bools;
  for (char byte : bytes)
    bools.push_back(byte != 0);
  return cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(bools)));
}

ElementsAttr tarpon::detail::makeSplatAttr(RankedTensorType type,
                                           ArrayRef<char> element) {
  return makeDenseAttr(type, element);
}

/// Returns true if all elements are equal: each then equals the previous one.
static bool isSplatData(ArrayRef<char> bytes, size_t elementBytes) {
  return bytes.size() > elementBytes &&
         std::memcmp(bytes.data(), bytes.data() + elementBytes,
                     bytes.size() - elementBytes) == 0;
}

/// Makes a blob that the context holds as long as it lives, and with it the
/// owner of the data.
template <typename Owner>
static ElementsAttr makeResourceAttr(RankedTensorType type, Owner owner) {
  ArrayRef<char> data(owner->data(), owner->size());
  AsmResourceBlob blob(
      data, /*dataAlignment=*/alignof(std::max_align_t),
      [owner = std::move(owner)](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, "tarpon", std::move(blob));
}

/// `bytes` points to them, and owns them.
template <typename Owner>
static ElementsAttr makeAttr(RankedTensorType type, Owner bytes) {
  Type storage = getStorageType(type.getElementType());
  auto storedType = RankedTensorType::get(type.getShape(), storage);
  size_t elementBytes = getElementBytes(storage);
  assert(bytes->size() == storedType.getNumElements() * elementBytes &&
         "wrong number of bytes");
  ArrayRef<char> data(bytes->data(), bytes->size());
  if (isSplatData(data, elementBytes))
    return makeSplatAttr(storedType, data.take_front(elementBytes));
  if (storedType.getNumElements() <= maxInlineElements)
    return makeDenseAttr(storedType, data);
  return makeResourceAttr(storedType, std::move(bytes));
}

ElementsAttr tarpon::makeConstantAttr(RankedTensorType type,
                                      std::vector<char> bytes) {
  return makeAttr(type, std::make_unique<std::vector<char>>(std::move(bytes)));
}

ElementsAttr tarpon::makeConstantAttr(RankedTensorType type,
                                      std::string bytes) {
  return makeAttr(type, std::make_unique<std::string>(std::move(bytes)));
}

ElementsAttr
tarpon::makeConstantAttr(RankedTensorType type,
                         std::shared_ptr<const std::string> bytes) {
  return makeAttr(type, std::move(bytes));
}

Value tarpon::createConstant(OpBuilder &builder, Location location,
                             RankedTensorType type, std::vector<char> bytes) {
  TypeAttr quantizedType;
  if (isa<quant::QuantizedType>(type.getElementType()))
    quantizedType = TypeAttr::get(type);
  return ConstantOp::create(builder, location, type,
                            makeConstantAttr(type, std::move(bytes)),
                            quantizedType);
}

Value tarpon::createFloatConstant(OpBuilder &builder, Location location,
                                  RankedTensorType type,
                                  ArrayRef<float> values) {
  const ScalarAccess *access = getScalarAccess(type.getElementType());
  assert(access && "expects a float type");
  std::vector<char> bytes(values.size() * access->bytes);
  char *to = bytes.data();
  for (float value : values) {
    access->storeDouble(to, value);
    to += access->bytes;
  }
  return createConstant(builder, location, type, std::move(bytes));
}

//===----------------------------------------------------------------------===//
// Reading constants
//===----------------------------------------------------------------------===//

std::vector<char> tarpon::getConstantBytes(ElementsAttr attr) {
  std::optional<ConstantView> view = ConstantView::get(attr);
  if (!view)
    return {};
  ArrayRef<char> stored = view->getStored();
  if (!view->isSplat())
    return stored.vec();
  size_t elementBytes = stored.size();
  std::vector<char> bytes(view->getNumElements() * elementBytes);
  for (size_t at = 0; at < bytes.size(); at += elementBytes)
    std::memcpy(bytes.data() + at, stored.data(), elementBytes);
  return bytes;
}

ArrayRef<char> tarpon::getStoredBytes(ElementsAttr attr) {
  std::optional<ConstantView> view = ConstantView::get(attr);
  if (!view || view->isSplat() || view->isUnpacked())
    return {};
  return view->getStored();
}

std::vector<float> tarpon::getConstantFloats(ElementsAttr attr) {
  std::optional<ConstantView> view = ConstantView::get(attr);
  if (!view)
    return {};
  const ScalarAccess &access = view->getAccess();
  const char *from = view->getStored().data();
  std::vector<float> floats(view->getNumElements());
  if (view->isSplat()) {
    std::fill(floats.begin(), floats.end(),
              static_cast<float>(access.loadDouble(from)));
    return floats;
  }
  if (view->getType().getElementType().isF32()) {
    std::memcpy(floats.data(), from, floats.size() * sizeof(float));
    return floats;
  }
  for (float &value : floats) {
    value = static_cast<float>(access.loadDouble(from));
    from += access.bytes;
  }
  return floats;
}

ElementsAttr tarpon::getConstantValue(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue();
  return nullptr;
}
