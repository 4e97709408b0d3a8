//===- NumberRanges.cpp - Bounds of numbers -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberRanges.h"

#include "OnnxNode.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace tarpon {

using Range = NumberRange;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr Range kAny = {-kInfinity, kInfinity};

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Moves the bounds apart by more than results of that type are rounded.
static Range widen(Range range, Type type) {
  if (std::isnan(range.least) || std::isnan(range.most))
    return kAny;
  double part = type.getIntOrFloatBitWidth() < 32 ? 1e-2 : 1e-6;
  return {range.least - part * std::fabs(range.least),
          range.most + part * std::fabs(range.most)};
}

/// The bounds of some numbers, which are any if one of them is NaN.
static Range cover(ArrayRef<double> numbers) {
  if (llvm::any_of(numbers, [](double x) { return std::isnan(x); }))
    return kAny;
  auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return {*least, *most};
}

static Range join(Range lhs, Range rhs) {
  return {std::min(lhs.least, rhs.least), std::max(lhs.most, rhs.most)};
}

static Range multiplyRanges(Range lhs, Range rhs) {
  return cover({lhs.least * rhs.least, lhs.least * rhs.most,
                lhs.most * rhs.least, lhs.most * rhs.most});
}

static Range divideRanges(Range lhs, Range rhs) {
  if (rhs.least <= 0 && rhs.most >= 0)
    return kAny;
  return cover({lhs.least / rhs.least, lhs.least / rhs.most,
                lhs.most / rhs.least, lhs.most / rhs.most});
}

/// A narrower type rounds numbers, and those that f16 cannot hold become Inf.
/// The smallest types round by more than bounds are widened by.
static Range convertToFloat(Range range, Type from, FloatType to) {
  auto old = dyn_cast<FloatType>(from);
  if (old && old.getFPMantissaWidth() <= to.getFPMantissaWidth() &&
      old.getWidth() <= to.getWidth())
    return range;
  bool fits = to.getWidth() >= 16 &&
              (!to.isF16() || (range.least > -65000 && range.most < 65000));
  return fits ? widen(range, to) : kAny;
}

/// Integers that a type cannot hold may wrap.
static Range convertRange(Range range, Type from, Type to) {
  if (auto type = dyn_cast<FloatType>(to))
    return convertToFloat(range, from, type);
  if (to.isInteger(1))
    return {0, 1};
  if (isa<FloatType>(from))
    range = {std::trunc(range.least), std::trunc(range.most)};
  bool fits = (to.isInteger(64) || to.isInteger(32)) && range.least > -0x1p31 &&
              range.most < 0x1p31;
  return fits ? range : kAny;
}

/// Integer results of long sums and products might wrap.
static Range keepExact(Range range, Type type) {
  if (isa<FloatType>(type))
    return widen(range, type);
  bool fits = range.least > -0x1p31 && range.most < 0x1p31;
  return type.isInteger(64) && fits ? range : kAny;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Long constants are not looked at.
static Range findConstantRange(ElementsAttr attr) {
  constexpr int64_t mostElements = 1 << 12;
  if (attr.getNumElements() == 0 || attr.getNumElements() > mostElements)
    return kAny;
  SmallVector<double> numbers;
  if (attr.getElementType().isIntOrIndex()) {
    for (int64_t number : readInts(attr))
      numbers.push_back(static_cast<double>(number));
  } else if (isa<FloatType>(attr.getElementType()) &&
             !attr.getElementType().isF64()) {
    std::vector<float> floats = getConstantFloats(attr);
    numbers.assign(floats.begin(), floats.end());
  }
  return numbers.empty() ? kAny : cover(numbers);
}

/// Computes the bounds of a result from those of the operands.
static Range computeRange(Operation *op, ArrayRef<Range> in) {
  Type type = getTensorType(op->getResult(0)).getElementType();
  return llvm::TypeSwitch<Operation *, Range>(op)
      .Case([&](AddOp) {
        return keepExact({in[0].least + in[1].least, in[0].most + in[1].most},
                         type);
      })
      .Case([&](SubOp) {
        return keepExact({in[0].least - in[1].most, in[0].most - in[1].least},
                         type);
      })
      .Case(
          [&](MulOp) { return keepExact(multiplyRanges(in[0], in[1]), type); })
      .Case([&](DivOp) {
        Range range = keepExact(divideRanges(in[0], in[1]), type);
        return isa<FloatType>(type) ? range : join(range, {0, 0});
      })
      .Case([&](MinOp) {
        return Range{std::min(in[0].least, in[1].least),
                     std::min(in[0].most, in[1].most)};
      })
      .Case([&](MaxOp) {
        return Range{std::max(in[0].least, in[1].least),
                     std::max(in[0].most, in[1].most)};
      })
      .Case([&](ClipOp clip) {
        double low = clip.getLow().convertToDouble(),
               high = clip.getHigh().convertToDouble();
        auto bound = [&](double x) { return std::min(std::max(x, low), high); };
        return widen({bound(in[0].least), bound(in[0].most)}, type);
      })
      .Case([&](ConvertOp convert) {
        return convertRange(
            in[0], getTensorType(convert.getOperand()).getElementType(), type);
      })
      .Case([&](WhereOp) { return join(in[1], in[2]); })
      .Case([&](PadOp pad) {
        bool cuts =
            llvm::all_of(pad.getPads(), [](int64_t p) { return p <= 0; });
        double value = pad.getValue().convertToDouble();
        return cuts ? in[0] : join(in[0], {value, value});
      })
      .Case([&](GatherOp) { return in[0]; })
      .Case<ReshapeOp, TransposeOp, ReduceMaxOp, ReduceMinOp, MaxPoolOp>(
          [&](Operation *) { return in[0]; })
      .Case([&](FloorOp) {
        return Range{std::floor(in[0].least), std::floor(in[0].most)};
      })
      .Case<CeilOp, RoundOp>([&](Operation *) {
        return Range{std::floor(in[0].least), std::ceil(in[0].most)};
      })
      .Case<EqualOp, LessOp, SigmoidOp>(
          [&](Operation *) { return Range{0, 1}; })
      .Case([&](ConcatOp) {
        Range range = in[0];
        for (Range part : in)
          range = join(range, part);
        return range;
      })
      .Default([](Operation *) { return kAny; });
}

/// Visits operands before results, without recursion: graphs are deep.
Range NumberRanges::find(Value value,
                         const llvm::DenseMap<Value, int64_t> &limits) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.back();
    if (known.contains(next)) {
      open.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    ElementsAttr attr = OnnxNode::getConstant(next);
    if (auto it = limits.find(next); it != limits.end())
      known[next] = {0, static_cast<double>(it->second)};
    else if (attr)
      known[next] = findConstantRange(attr);
    else if (!op || op->getNumResults() != 1)
      known[next] = kAny;
    if (known.contains(next))
      continue;
    size_t before = open.size();
    for (Value operand : op->getOperands())
      if (!known.contains(operand))
        open.push_back(operand);
    if (open.size() > before)
      continue;
    SmallVector<Range> in;
    for (Value operand : op->getOperands())
      in.push_back(known[operand]);
    known[next] = computeRange(op, in);
  }
  return known[value];
}

} // namespace tarpon
