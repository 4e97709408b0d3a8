//===- SizeElements.cpp - Integers that shapes are computed from ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeElements.h"

#include "OnnxNode.h"
#include "tarpon/IR/ConstantData.h"

#include "mlir/IR/OperationSupport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tarpon {

using Elements = SizeElements::List;
using MaybeElements = std::optional<Elements>;

/// Shapes are short, and so is what computes them.
static constexpr int64_t maxListed = 64;
static constexpr int maxDepth = 64;

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

using Compute = std::optional<SizeElement> (*)(const SizeElement &,
                                               const SizeElement &);

static std::optional<SizeElement> makeElement(int64_t least, int64_t most) {
  return SizeElement{least, most, nullptr};
}

static bool isConstant(const SizeElement &element, int64_t value) {
  return element.least == value && element.most == value;
}

static std::optional<SizeElement> add(const SizeElement &lhs,
                                      const SizeElement &rhs) {
  if (isConstant(lhs, 0))
    return rhs;
  if (isConstant(rhs, 0))
    return lhs;
  int64_t least, most;
  if (llvm::AddOverflow(lhs.least, rhs.least, least) ||
      llvm::AddOverflow(lhs.most, rhs.most, most))
    return std::nullopt;
  return makeElement(least, most);
}

static std::optional<SizeElement> subtract(const SizeElement &lhs,
                                           const SizeElement &rhs) {
  if (isConstant(rhs, 0))
    return lhs;
  int64_t least, most;
  if (llvm::SubOverflow(lhs.least, rhs.most, least) ||
      llvm::SubOverflow(lhs.most, rhs.least, most))
    return std::nullopt;
  return makeElement(least, most);
}

static std::optional<SizeElement> multiplyElements(const SizeElement &lhs,
                                                   const SizeElement &rhs) {
  if (isConstant(lhs, 1))
    return rhs;
  if (isConstant(rhs, 1))
    return lhs;
  int64_t products[4];
  if (llvm::MulOverflow(lhs.least, rhs.least, products[0]) ||
      llvm::MulOverflow(lhs.least, rhs.most, products[1]) ||
      llvm::MulOverflow(lhs.most, rhs.least, products[2]) ||
      llvm::MulOverflow(lhs.most, rhs.most, products[3]))
    return std::nullopt;
  auto [least, most] = std::minmax_element(products, products + 4);
  return makeElement(*least, *most);
}

/// Sizes are divided by positive constants only.
static std::optional<SizeElement> divide(const SizeElement &lhs,
                                         const SizeElement &rhs) {
  if (isConstant(rhs, 1))
    return lhs;
  if (!rhs.isKnown() || rhs.least < 1)
    return std::nullopt;
  return makeElement(lhs.least / rhs.least, lhs.most / rhs.least);
}

static std::optional<SizeElement> getSmaller(const SizeElement &lhs,
                                             const SizeElement &rhs) {
  if (lhs.most <= rhs.least)
    return lhs;
  if (rhs.most <= lhs.least)
    return rhs;
  return makeElement(std::min(lhs.least, rhs.least),
                     std::min(lhs.most, rhs.most));
}

static std::optional<SizeElement> getLarger(const SizeElement &lhs,
                                            const SizeElement &rhs) {
  if (lhs.least >= rhs.most)
    return lhs;
  if (rhs.least >= lhs.most)
    return rhs;
  return makeElement(std::max(lhs.least, rhs.least),
                     std::max(lhs.most, rhs.most));
}

static std::optional<SizeElement> compareEqual(const SizeElement &lhs,
                                               const SizeElement &rhs) {
  bool isSame = lhs.isKnown() && isConstant(rhs, lhs.least);
  bool isApart = lhs.most < rhs.least || rhs.most < lhs.least;
  return makeElement(isSame, !isApart);
}

static std::optional<SizeElement> compareLess(const SizeElement &lhs,
                                              const SizeElement &rhs) {
  return makeElement(lhs.most < rhs.least, lhs.least < rhs.most);
}

static Compute findBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case([](AddOp) { return &add; })
      .Case([](SubOp) { return &subtract; })
      .Case([](MulOp) { return &multiplyElements; })
      .Case([](DivOp) { return &divide; })
      .Case([](MinOp) { return &getSmaller; })
      .Case([](MaxOp) { return &getLarger; })
      .Case([](EqualOp) { return &compareEqual; })
      .Case([](LessOp) { return &compareLess; })
      .Default([](Operation *) { return nullptr; });
}

static Compute findReduction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case([](ReduceSumOp) { return &add; })
      .Case([](ReduceProdOp) { return &multiplyElements; })
      .Case([](ReduceMinOp) { return &getSmaller; })
      .Case([](ReduceMaxOp) { return &getLarger; })
      .Default([](Operation *) { return nullptr; });
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// One element goes with all of the other list, as in broadcasts.
static const SizeElement &pick(const Elements &list, size_t i) {
  return list.size() == 1 ? list.front() : list[i];
}

static MaybeElements combine(Compute compute, const Elements &lhs,
                             const Elements &rhs) {
  size_t count = std::max(lhs.size(), rhs.size());
  if ((lhs.size() != count && lhs.size() != 1) ||
      (rhs.size() != count && rhs.size() != 1))
    return std::nullopt;
  Elements result;
  for (size_t i = 0; i < count; ++i) {
    std::optional<SizeElement> element = compute(pick(lhs, i), pick(rhs, i));
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

static MaybeElements reduce(Compute compute, const Elements &list) {
  if (list.empty())
    return std::nullopt;
  std::optional<SizeElement> result = list.front();
  for (const SizeElement &element : llvm::drop_begin(list))
    if (result)
      result = compute(*result, element);
  if (!result)
    return std::nullopt;
  return Elements{*result};
}

static MaybeElements chooseElements(const Elements &condition,
                                    const Elements &lhs, const Elements &rhs) {
  size_t count = std::max({condition.size(), lhs.size(), rhs.size()});
  for (const Elements *list : {&condition, &lhs, &rhs})
    if (list->size() != count && list->size() != 1)
      return std::nullopt;
  Elements result;
  for (size_t i = 0; i < count; ++i) {
    const SizeElement &a = pick(lhs, i), &b = pick(rhs, i);
    if (const SizeElement &chosen = pick(condition, i); chosen.isKnown())
      result.push_back(chosen.least != 0 ? a : b);
    else
      result.push_back(
          {std::min(a.least, b.least), std::max(a.most, b.most), nullptr});
  }
  return result;
}

/// A pad of a vector adds cells, or removes some.
static MaybeElements padElements(PadOp op, const Elements &list) {
  ArrayRef<int64_t> pads = op.getPads();
  if (pads.size() != 2 || op.getMode() != PadMode::Constant)
    return std::nullopt;
  auto size = static_cast<int64_t>(list.size());
  Elements result;
  for (int64_t i = -pads[0]; i < size + pads[1]; ++i) {
    if (i < 0 || i >= size)
      return std::nullopt;
    result.push_back(list[i]);
  }
  return result;
}

/// An index that is out of range is moved to the nearest end.
static MaybeElements gatherElements(const Elements &list,
                                    const Elements &indices) {
  auto size = static_cast<int64_t>(list.size());
  Elements result;
  for (const SizeElement &index : indices) {
    if (!index.isKnown() || size == 0)
      return std::nullopt;
    int64_t place = index.least < 0 ? index.least + size : index.least;
    result.push_back(list[std::clamp<int64_t>(place, 0, size - 1)]);
  }
  return result;
}

/// A narrower type would wrap.
static MaybeElements convertElements(Type type, const Elements &list) {
  if (type.isInteger(64))
    return list;
  bool isBool = type.isInteger(1);
  if (!isBool && !type.isInteger(32))
    return std::nullopt;
  Elements result;
  for (SizeElement element : list) {
    if (isBool) {
      bool isZero = isConstant(element, 0);
      bool maybeZero = element.least <= 0 && element.most >= 0;
      element = {!maybeZero, !isZero, nullptr};
    } else if (!llvm::isInt<32>(element.least) ||
               !llvm::isInt<32>(element.most)) {
      return std::nullopt;
    }
    result.push_back(element);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

/// Looks at the operations that compute a value, up to a limit: each may be met
/// along many ways.
class Walk {
public:
  explicit Walk(const llvm::DenseMap<Value, int64_t> &limits,
                NumberRanges &ranges)
      : limits(limits), ranges(ranges) {}

  MaybeElements compute(Value value, int depth);
  /// Returns true if two values are computed alike.
  bool isSame(Value lhs, Value rhs, int depth);

private:
  std::optional<SmallVector<Elements>> computeOperands(Operation *op,
                                                       int depth);
  MaybeElements computeResult(Operation *op, int depth);

  MaybeElements findBounds(Value value);

  const llvm::DenseMap<Value, int64_t> &limits;
  NumberRanges &ranges;
  int stepsLeft = 4096;
};

} // namespace

std::optional<SmallVector<Elements>> Walk::computeOperands(Operation *op,
                                                           int depth) {
  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    MaybeElements elements = compute(operand, depth);
    if (!elements)
      return std::nullopt;
    operands.push_back(std::move(*elements));
  }
  return operands;
}

MaybeElements Walk::computeResult(Operation *op, int depth) {
  auto operands = computeOperands(op, depth);
  if (!operands || operands->empty() || op->getNumResults() != 1)
    return std::nullopt;
  ArrayRef<Elements> in = *operands;
  RankedTensorType type = getTensorType(op->getResult(0));
  if (Compute compute = findBinary(op))
    return combine(compute, in[0], in[1]);
  if (Compute compute = findReduction(op))
    return reduce(compute, in[0]);
  return llvm::TypeSwitch<Operation *, MaybeElements>(op)
      .Case([&](ReshapeOp) { return in[0]; })
      .Case([&](ConvertOp) {
        return convertElements(type.getElementType(), in[0]);
      })
      .Case([&](PadOp pad) { return padElements(pad, in[0]); })
      .Case([&](WhereOp) { return chooseElements(in[0], in[1], in[2]); })
      .Case([&](GatherOp gather) -> MaybeElements {
        if (getShape(gather.getInput()).size() != 1)
          return std::nullopt;
        return gatherElements(in[0], in[1]);
      })
      .Case([&](ConcatOp) -> MaybeElements {
        if (type.getRank() != 1)
          return std::nullopt;
        Elements result;
        for (const Elements &part : in)
          llvm::append_range(result, part);
        return result;
      })
      .Default([](Operation *) { return MaybeElements(); });
}

MaybeElements Walk::compute(Value value, int depth) {
  RankedTensorType type = getTensorType(value);
  if (!type.getElementType().isIntOrIndex() ||
      type.getNumElements() > maxListed)
    return std::nullopt;
  if (depth == 0 || stepsLeft-- <= 0)
    return findBounds(value);
  if (auto it = limits.find(value); it != limits.end())
    return Elements{{0, it->second, value}};
  if (ElementsAttr attr = OnnxNode::getConstant(value)) {
    Elements elements;
    for (int64_t number : readInts(attr))
      elements.push_back({number, number, nullptr});
    return elements;
  }
  Operation *op = value.getDefiningOp();
  MaybeElements result = op ? computeResult(op, depth - 1) : std::nullopt;
  // Columns and rows that broadcast to a matrix are not followed.
  if (!result || static_cast<int64_t>(result->size()) != type.getNumElements())
    return findBounds(value);
  return result;
}

/// All elements of a value lie between the same bounds, which have to be those
/// of sizes.
MaybeElements Walk::findBounds(Value value) {
  NumberRange range = ranges.find(value, limits);
  if (!(range.least > -0x1p31 && range.most < 0x1p31))
    return std::nullopt;
  SizeElement element{static_cast<int64_t>(std::ceil(range.least)),
                      static_cast<int64_t>(std::floor(range.most)), nullptr};
  return Elements(getTensorType(value).getNumElements(), element);
}

/// Equal constants may be different attributes. Long ones are not compared.
static bool isSameConstant(ElementsAttr lhs, ElementsAttr rhs) {
  constexpr int64_t mostCompared = 1 << 16;
  return lhs.getType() == rhs.getType() &&
         lhs.getNumElements() <= mostCompared &&
         getConstantBytes(lhs) == getConstantBytes(rhs);
}

bool Walk::isSame(Value lhs, Value rhs, int depth) {
  if (lhs == rhs)
    return true;
  ElementsAttr left = OnnxNode::getConstant(lhs),
               right = OnnxNode::getConstant(rhs);
  if (left && right && isSameConstant(left, right))
    return true;
  Operation *a = lhs.getDefiningOp(), *b = rhs.getDefiningOp();
  if (!a || !b || depth == 0 || stepsLeft-- <= 0 ||
      cast<OpResult>(lhs).getResultNumber() !=
          cast<OpResult>(rhs).getResultNumber())
    return false;
  auto compare = [&](Value x, Value y) {
    return success(isSame(x, y, depth - 1));
  };
  return OperationEquivalence::isEquivalentTo(
      a, b, compare, /*markEquivalent=*/nullptr,
      OperationEquivalence::Flags::IgnoreLocations);
}

/// Where values are apart, they soon differ. An operator that would lower a
/// limit may be in a sub-graph that does not run.
Value SizeElements::add(Value size, int64_t most) {
  for (Value known : sizes)
    if (Walk(limits, ranges).isSame(size, known, maxDepth))
      return known;
  sizes.push_back(size);
  limits[size] = most;
  return size;
}

MaybeElements SizeElements::find(Value value) {
  if (!value || empty())
    return std::nullopt;
  return Walk(limits, ranges).compute(value, maxDepth);
}

} // namespace tarpon
