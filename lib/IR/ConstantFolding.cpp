//===- ConstantFolding.cpp - Folds the bytes of constants -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantFolding.h"

#include "ConstantView.h"
#include "tarpon/IR/ConstantData.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

/// The largest result that may have more elements than its operands.
static constexpr int64_t maxGrownElements = 1024;

static bool mayGrowTo(int64_t resultElements, int64_t storedElements) {
  return resultElements <= std::max(storedElements, maxGrownElements);
}

/// The type of the attribute that holds a constant of type `type`.
static RankedTensorType getStoredType(RankedTensorType type) {
  Type elementType = type.getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(elementType))
    elementType = quantized.getStorageType();
  return RankedTensorType::get(type.getShape(), elementType);
}

/// Maps the stored elements one by one: store(to, from).
template <typename Store>
static ElementsAttr mapElements(const ConstantView &view, RankedTensorType type,
                                int64_t resultBytes, Store store) {
  std::vector<char> bytes(view.getNumStored() * resultBytes);
  const char *from = view.getStored().data();
  for (char *to = bytes.data(), *end = to + bytes.size(); to != end;
       to += resultBytes, from += view.getAccess().bytes)
    store(to, from);
  if (view.isSplat())
    return makeSplatAttr(type, bytes);
  return makeConstantAttr(type, std::move(bytes));
}

//===----------------------------------------------------------------------===//
// Walking strided operands
//===----------------------------------------------------------------------===//

/// Calls visit(offsets) for each element of the shape in row-major order, with
/// the offsets of the element in N operands with these strides.
template <size_t N, typename Visit>
static void forEachElement(ArrayRef<int64_t> shape,
                           const std::array<SmallVector<int64_t>, N> &strides,
                           Visit visit) {
  std::array<int64_t, N> offsets{};
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t left = ShapedType::getNumElements(shape); left > 0; --left) {
    visit(offsets);
    // This counts like an odometer: the last dimension changes fastest.
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      bool carries = ++index[dim] == shape[dim];
      for (size_t operand = 0; operand < N; ++operand)
        offsets[operand] +=
            strides[operand][dim] * (carries ? 1 - shape[dim] : 1);
      if (!carries)
        break;
      index[dim] = 0;
    }
  }
}

/// Row-major strides in bytes.
static SmallVector<int64_t> getByteStrides(const ConstantView &view) {
  ArrayRef<int64_t> shape = view.getType().getShape();
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = view.isSplat() ? 0 : view.getAccess().bytes;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

/// The strides in bytes of an operand that is broadcast to a shape of that
/// rank.
static SmallVector<int64_t> getBroadcastStrides(const ConstantView &view,
                                                int64_t resultRank) {
  SmallVector<int64_t> strides = getByteStrides(view);
  for (auto [stride, size] : llvm::zip(strides, view.getType().getShape()))
    if (size == 1)
      stride = 0;
  strides.insert(strides.begin(), resultRank - strides.size(), 0);
  return strides;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Returns true if double holds all elements exactly.
static bool fitsDouble(const ConstantView &view) {
  // A larger integer may have been rounded to this one.
  constexpr double limit = 0x1p53;
  const ScalarAccess &access = view.getAccess();
  if (!access.isInteger() || access.bytes < 8)
    return true;
  ArrayRef<char> stored = view.getStored();
  for (size_t at = 0; at < stored.size(); at += access.bytes)
    if (std::abs(access.loadDouble(stored.data() + at)) >= limit)
      return false;
  return true;
}

Attribute tarpon::detail::foldUnary(Attribute operand, RankedTensorType type,
                                    function_ref<double(double)> compute) {
  std::optional<ConstantView> view = ConstantView::get(operand);
  if (!view || view->getType() != type || !fitsDouble(*view))
    return nullptr;
  const ScalarAccess &access = view->getAccess();
  return mapElements(*view, type, access.bytes,
                     [&](char *to, const char *from) {
                       double result = compute(access.loadDouble(from));
                       // The negated smallest integer wraps, as in kernels.
                       if (access.isInteger() && std::fabs(result) <= 0x1p53)
                         access.storeInteger(to, static_cast<int64_t>(result));
                       else
                         access.storeDouble(to, result);
                     });
}

namespace {

/// One binary fold: its operands, and the function of a pair of elements.
struct BinaryFold {
  ConstantView lhs, rhs;
  RankedTensorType type;
  function_ref<double(double, double)> compute;
  function_ref<std::optional<int64_t>(int64_t, int64_t)> computeInteger;

  /// Computes one element; false if it is undefined.
  bool computeElement(char *to, const char *lhsFrom, const char *rhsFrom) {
    const ScalarAccess &access = lhs.getAccess();
    if (!access.isInteger()) {
      access.storeDouble(
          to, compute(access.loadDouble(lhsFrom), access.loadDouble(rhsFrom)));
      return true;
    }
    int64_t lhsNumber = access.loadInteger(lhsFrom);
    int64_t rhsNumber = access.loadInteger(rhsFrom);
    // The function would take numbers from 2^63 on as negative ones.
    if (type.getElementType().isUnsignedInteger() &&
        (lhsNumber < 0 || rhsNumber < 0))
      return false;
    std::optional<int64_t> result = computeInteger(lhsNumber, rhsNumber);
    if (result)
      access.storeInteger(to, *result);
    return result.has_value();
  }

  Attribute foldSplats() {
    std::vector<char> element(lhs.getAccess().bytes);
    if (!computeElement(element.data(), lhs.getStored().data(),
                        rhs.getStored().data()))
      return nullptr;
    return makeSplatAttr(type, element);
  }

  Attribute foldElements() {
    const int64_t elementBytes = lhs.getAccess().bytes;
    std::vector<char> bytes(type.getNumElements() * elementBytes);
    char *to = bytes.data();
    bool defined = true;
    const char *lhsBase = lhs.getStored().data();
    const char *rhsBase = rhs.getStored().data();
    forEachElement<2>(type.getShape(),
                      {getBroadcastStrides(lhs, type.getRank()),
                       getBroadcastStrides(rhs, type.getRank())},
                      [&](const std::array<int64_t, 2> &offsets) {
                        defined &= computeElement(to, lhsBase + offsets[0],
                                                  rhsBase + offsets[1]);
                        to += elementBytes;
                      });
    if (!defined)
      return nullptr;
    return makeConstantAttr(type, std::move(bytes));
  }
};

} // namespace

Attribute tarpon::detail::foldBinary(
    Attribute lhs, Attribute rhs, RankedTensorType type,
    function_ref<double(double, double)> compute,
    function_ref<std::optional<int64_t>(int64_t, int64_t)> computeInteger) {
  std::optional<ConstantView> lhsView = ConstantView::get(lhs);
  std::optional<ConstantView> rhsView = ConstantView::get(rhs);
  if (!lhsView || !rhsView || type.getEncoding() ||
      lhsView->getType().getElementType() != type.getElementType())
    return nullptr;
  int64_t stored = std::max(lhsView->getNumStored(), rhsView->getNumStored());
  BinaryFold fold{std::move(*lhsView), std::move(*rhsView), type, compute,
                  computeInteger};
  if (fold.lhs.isSplat() && fold.rhs.isSplat())
    return fold.foldSplats();
  if (!mayGrowTo(type.getNumElements(), stored))
    return nullptr;
  return fold.foldElements();
}

Attribute tarpon::detail::foldConvert(Attribute operand,
                                      RankedTensorType type) {
  std::optional<ConstantView> view = ConstantView::get(operand);
  const ScalarAccess *result = getScalarAccess(type.getElementType());
  if (!view || !result || type.getEncoding())
    return nullptr;
  const ScalarAccess &source = view->getAccess();
  if (source.isInteger() && result->isInteger())
    return mapElements(*view, type, result->bytes,
                       [&](char *to, const char *from) {
                         result->storeInteger(to, source.loadInteger(from));
                       });
  return mapElements(*view, type, result->bytes,
                     [&](char *to, const char *from) {
                       result->storeDouble(to, source.loadDouble(from));
                     });
}

namespace {

/// Which scale an element of a quantised constant has.
struct StoredScales {
  SmallVector<float> scales;
  int64_t zeroPoint = 0;
  /// The row-major elements that share an index of the scales' dimension.
  int64_t inner = 1;

  StoredScales(quant::QuantizedType type, ArrayRef<int64_t> shape) {
    if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type)) {
      scales = {static_cast<float>(uniform.getScale())};
      zeroPoint = uniform.getZeroPoint();
      return;
    }
    auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
    llvm::append_range(scales, perAxis.getScales());
    inner = ShapedType::getNumElements(
        shape.drop_front(perAxis.getQuantizedDimension() + 1));
  }

  float getValue(int64_t stored, size_t index) const {
    return static_cast<float>(stored - zeroPoint) *
           scales[index / inner % scales.size()];
  }
};

} // namespace

Attribute tarpon::detail::foldDequantize(Attribute operand,
                                         quant::QuantizedType quantized,
                                         RankedTensorType type) {
  auto attr = dyn_cast_or_null<ElementsAttr>(operand);
  if (!attr || type.getEncoding() || !type.getElementType().isF32() ||
      !isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
          quantized))
    return nullptr;
  StoredScales scales(quantized, type.getShape());
  std::vector<char> stored = getConstantBytes(attr),
                    bytes(stored.size() * sizeof(float));
  auto *value = reinterpret_cast<float *>(bytes.data());
  for (auto [index, byte] : llvm::enumerate(stored))
    *value++ =
        scales.getValue(quantized.isSigned() ? static_cast<int8_t>(byte)
                                             : static_cast<uint8_t>(byte),
                        index);
  return makeConstantAttr(type, std::move(bytes));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

Attribute tarpon::detail::foldReshape(Attribute operand,
                                      RankedTensorType type) {
  if (type.getEncoding())
    return nullptr;
  RankedTensorType storedType = getStoredType(type);
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(operand))
    return DenseResourceElementsAttr::get(storedType, resource.getRawHandle());
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(operand))
    return dense.reshape(storedType);
  return nullptr;
}

/// Copies elements of a fixed size, so that the compiler emits one move.
template <size_t Bytes>
static void gather(const ConstantView &view, ArrayRef<int64_t> shape,
                   const SmallVector<int64_t> &strides, char *to) {
  const char *base = view.getStored().data();
  forEachElement<1>(shape, {strides}, [&](const std::array<int64_t, 1> &from) {
    std::memcpy(to, base + from[0], Bytes);
    to += Bytes;
  });
}

Attribute tarpon::detail::foldTranspose(Attribute operand,
                                        ArrayRef<int64_t> permutation,
                                        RankedTensorType type) {
  std::optional<ConstantView> view = ConstantView::get(operand);
  if (!view)
    return nullptr;
  RankedTensorType storedType = getStoredType(type);
  if (view->isSplat())
    return makeSplatAttr(storedType, view->getStored());

  SmallVector<int64_t> inputStrides = getByteStrides(*view), strides;
  for (int64_t dim : permutation)
    strides.push_back(inputStrides[dim]);
  std::vector<char> bytes(view->getStored().size());
  switch (view->getAccess().bytes) {
  case 1:
    gather<1>(*view, type.getShape(), strides, bytes.data());
    break;
  case 2:
    gather<2>(*view, type.getShape(), strides, bytes.data());
    break;
  case 4:
    gather<4>(*view, type.getShape(), strides, bytes.data());
    break;
  default:
    gather<8>(*view, type.getShape(), strides, bytes.data());
  }
  return makeConstantAttr(storedType, std::move(bytes));
}

Attribute tarpon::detail::foldPad(Attribute operand, ArrayRef<int64_t> pads,
                                  double value, RankedTensorType type) {
  std::optional<ConstantView> view = ConstantView::get(operand);
  if (!view || view->getType().getElementType() != type.getElementType() ||
      type.getEncoding() ||
      !mayGrowTo(type.getNumElements(), view->getNumStored()))
    return nullptr;
  ArrayRef<int64_t> from = view->getType().getShape(), to = type.getShape();
  const ScalarAccess &access = view->getAccess();
  SmallVector<int64_t> fromStrides = getByteStrides(*view), toStrides, common;
  int64_t fromOffset = 0, toOffset = 0, stride = access.bytes;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    int64_t before = std::max<int64_t>(pads[dim], 0);
    int64_t removed = std::max<int64_t>(-pads[dim], 0);
    common.push_back(
        std::max<int64_t>(std::min(from[dim] - removed, to[dim] - before), 0));
    int64_t below = ShapedType::getNumElements(to.drop_front(dim + 1));
    toStrides.push_back(below * stride);
    fromOffset += removed * fromStrides[dim];
    toOffset += before * toStrides.back();
  }
  std::vector<char> bytes(type.getNumElements() * stride);
  for (char *at = bytes.data(), *end = at + bytes.size(); at != end;
       at += stride)
    access.storeDouble(at, value);
  forEachElement<2>(
      common, {fromStrides, toStrides},
      [&](const std::array<int64_t, 2> &offsets) {
        std::memcpy(bytes.data() + toOffset + offsets[1],
                    view->getStored().data() + fromOffset + offsets[0], stride);
      });
  return makeConstantAttr(getStoredType(type), std::move(bytes));
}

/// Writes the operand into its place in the result: one run of bytes for each
/// index before the axis.
static void copyRuns(const ConstantView &view, int64_t axis, char *to,
                     int64_t resultRun) {
  int64_t runElements =
      ShapedType::getNumElements(view.getType().getShape().drop_front(axis));
  int64_t elementBytes = view.getAccess().bytes;
  int64_t run = runElements * elementBytes;
  if (run == 0)
    return;
  const char *from = view.getStored().data();
  int64_t runs = view.getNumElements() / runElements;
  for (int64_t i = 0; i < runs; ++i, to += resultRun) {
    if (!view.isSplat())
      std::memcpy(to, from + i * run, run);
    else
      for (int64_t at = 0; at < run; at += elementBytes)
        std::memcpy(to + at, from, elementBytes);
  }
}

Attribute tarpon::detail::foldConcat(ArrayRef<Attribute> operands, int64_t axis,
                                     RankedTensorType type) {
  SmallVector<ConstantView> views;
  int64_t stored = 0;
  for (Attribute operand : operands) {
    std::optional<ConstantView> view = ConstantView::get(operand);
    if (!view)
      return nullptr;
    stored += view->getNumStored();
    views.push_back(std::move(*view));
  }
  if (type.getEncoding() || !mayGrowTo(type.getNumElements(), stored))
    return nullptr;

  int64_t elementBytes = views.front().getAccess().bytes;
  int64_t resultRun =
      ShapedType::getNumElements(type.getShape().drop_front(axis)) *
      elementBytes;
  std::vector<char> bytes(type.getNumElements() * elementBytes);
  char *to = bytes.data();
  for (const ConstantView &view : views) {
    copyRuns(view, axis, to, resultRun);
    to +=
        ShapedType::getNumElements(view.getType().getShape().drop_front(axis)) *
        elementBytes;
  }
  return makeConstantAttr(getStoredType(type), std::move(bytes));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

Attribute tarpon::detail::foldWhere(Attribute condition, Attribute lhs,
                                    Attribute rhs, RankedTensorType type) {
  std::optional<ConstantView> conditionView = ConstantView::get(condition),
                              lhsView = ConstantView::get(lhs),
                              rhsView = ConstantView::get(rhs);
  if (!conditionView || !lhsView || !rhsView)
    return nullptr;
  int64_t stored = std::max({conditionView->getNumStored(),
                             lhsView->getNumStored(), rhsView->getNumStored()});
  if (!mayGrowTo(type.getNumElements(), stored))
    return nullptr;
  const int64_t elementBytes = lhsView->getAccess().bytes;
  std::vector<char> bytes(type.getNumElements() * elementBytes);
  char *to = bytes.data();
  const char *isSet = conditionView->getStored().data(),
             *lhsBase = lhsView->getStored().data(),
             *rhsBase = rhsView->getStored().data();
  forEachElement<3>(type.getShape(),
                    {getBroadcastStrides(*conditionView, type.getRank()),
                     getBroadcastStrides(*lhsView, type.getRank()),
                     getBroadcastStrides(*rhsView, type.getRank())},
                    [&](const std::array<int64_t, 3> &offsets) {
                      std::memcpy(to,
                                  isSet[offsets[0]] ? lhsBase + offsets[1]
                                                    : rhsBase + offsets[2],
                                  elementBytes);
                      to += elementBytes;
                    });
  return makeConstantAttr(getStoredType(type), std::move(bytes));
}

Attribute tarpon::detail::foldGather(Attribute input, Attribute indices,
                                     int64_t axis, RankedTensorType type) {
  std::optional<ConstantView> view = ConstantView::get(input),
                              indexView = ConstantView::get(indices);
  if (!view || !indexView)
    return nullptr;
  if (view->isSplat())
    return makeSplatAttr(getStoredType(type), view->getStored());
  if (!mayGrowTo(type.getNumElements(), view->getNumStored()))
    return nullptr;
  ArrayRef<int64_t> shape = view->getType().getShape();
  int64_t size = shape[axis], elementBytes = view->getAccess().bytes;
  int64_t outer = ShapedType::getNumElements(shape.take_front(axis));
  int64_t run =
      ShapedType::getNumElements(shape.drop_front(axis + 1)) * elementBytes;
  std::vector<char> bytes;
  bytes.reserve(type.getNumElements() * elementBytes);
  for (int64_t row = 0; row < outer; ++row)
    for (int64_t i = 0; i < indexView->getNumElements(); ++i) {
      const ScalarAccess &access = indexView->getAccess();
      int64_t index =
          access.loadInteger(indexView->getStored().data() +
                             (indexView->isSplat() ? 0 : i * access.bytes));
      index =
          std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
      const char *from = view->getStored().data() + (row * size + index) * run;
      bytes.insert(bytes.end(), from, from + run);
    }
  return makeConstantAttr(getStoredType(type), std::move(bytes));
}
