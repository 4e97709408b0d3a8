//===- Quantize.cpp - Stores activations and filters in 8 bits --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns types from ranges that were calibrated before; calibration, which
// runs the model, is not part of this pass.
//
//===----------------------------------------------------------------------===//

#include "FilterRounding.h"
#include "QuantizedScale.h"
#include "RegionPrecision.h"
#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::Precision;

namespace tarpon {
#define GEN_PASS_DEF_QUANTIZEPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// Types from ranges
//===----------------------------------------------------------------------===//

namespace {

/// The range of a tensor's values; it always includes 0.
struct Interval {
  float low = 0, high = 0;

  void include(float value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

} // namespace

/// Makes a u8 type, asymmetric, with an exact 0.
static quant::UniformQuantizedType makeActivationType(MLIRContext *context,
                                                      Interval range) {
  float scale = makeScale(range.high - range.low, 255);
  int64_t zeroPoint =
      std::clamp(std::nearbyint(-range.low / scale), 0.f, 255.f);
  return quant::UniformQuantizedType::get(
      /*flags=*/0, IntegerType::get(context, 8), Float32Type::get(context),
      scale, zeroPoint, /*storageTypeMin=*/0, /*storageTypeMax=*/255);
}

/// The range that a type covers.
static Interval getRange(quant::UniformQuantizedType type) {
  auto real = [&](int64_t stored) {
    return static_cast<float>(type.getScale() * (stored - type.getZeroPoint()));
  };
  return {real(type.getStorageTypeMin()), real(type.getStorageTypeMax())};
}

//===----------------------------------------------------------------------===//
// Types that a region computes in
//===----------------------------------------------------------------------===//

/// Returns true if the root can multiply, or pass on, 8-bit numbers.
static bool readsIntegers(Operation *root) {
  auto quantizable = dyn_cast<QuantizableInterface>(root);
  return quantizable &&
         (!quantizable.accumulates() || quantizable.getFilterOperand() >= 0);
}

/// Returns true if the region computes in f32 and its result leaves the
/// function, so that rounding its operands would cost accuracy for little
/// traffic.
static bool isPreciseTail(FusedOp op) {
  return !readsIntegers(op.getRoot()) &&
         !isa<ElementwiseInterface>(op.getRoot()) &&
         leavesFunction(op.getResult());
}

/// The value that a reshape is a view of.
static Value getSource(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The operand of the region that is the given operand of its root, or null if
/// the root reads it through a convert.
static Value getRootInput(FusedOp op, unsigned index) {
  auto argument = dyn_cast<BlockArgument>(op.getRoot()->getOperand(index));
  return argument ? op.getInputs()[argument.getArgNumber()] : Value();
}

/// Returns true if the region has only converts beside the root.
static bool isRootAlone(FusedOp op) {
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  return yield.getValue() == op.getRoot()->getResult(0);
}

namespace {

/// Retypes one region after the other.
class Quantizer {
public:
  Quantizer(func::FuncOp function, RegionPrecisions precisions)
      : function(function), context(function.getContext()),
        precisions(precisions) {}

  LogicalResult run() {
    return values.retypeFunction(function,
                                 [&](FusedOp op) { return retype(op); });
  }

private:
  FailureOr<StoredValues::Values> retype(FusedOp op) {
    SmallVector<Value> operands;
    for (unsigned index = 0; index < op.getInputs().size(); ++index)
      operands.push_back(getOperand(op, index));
    RegionTypes types;
    if (failed(chooseRootOperands(op, operands, types)) ||
        failed(chooseResult(op, types)))
      return failure();
    types.operands = operands;
    OpBuilder builder(op);
    FailureOr<FusedOp> retyped = retypeRegion(builder, op, types);
    if (failed(retyped))
      return failure();
    // They are of no use to any other pass, and long.
    (*retyped)->removeAttr(kInputMeansAttrName);
    (*retyped)->removeAttr(kStoredMeansAttrName);
    return StoredValues::Values((*retyped)->getResults());
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  bool computesInFloats(FusedOp op) const {
    return precisions.get(op) != Precision::I8;
  }

  Value getOperand(FusedOp op, unsigned index) {
    Value operand = op.getInputs()[index];
    // Converts were in the model before: the types of their operands must not
    // change. Nor must those of a root that would compute on 8 bits otherwise.
    bool keepsType = isConvertRegion(op) ||
                     (computesInFloats(op) && readsStored(op.getRoot()) &&
                      isRootOperand(op, index));
    return keepsType ? values.getAs(operand, getTensorType(operand))
                     : values.get(operand);
  }

  /// Returns true if the value is, or may become, u8.
  bool isQuantizable(Value value) {
    if (isa<quant::UniformQuantizedType>(getElement(values.get(value))))
      return true;
    Value source = getSource(value);
    auto fused = source.getDefiningOp<FusedOp>();
    // Ranges are those of first results.
    bool isOurs =
        fused && source == fused.getResult() && !isConvertRegion(fused);
    return isF32(value) && (isa<BlockArgument>(source) || isOurs);
  }

  static Type getElement(Value value) {
    return getTensorType(value).getElementType();
  }

  /// The filter operand of a root that can multiply 8-bit numbers, or none.
  std::optional<unsigned> getFilterOperand(FusedOp op) {
    auto root = dyn_cast<QuantizableInterface>(op.getRoot());
    if (!root || !root.accumulates() || root.getFilterOperand() < 0)
      return std::nullopt;
    unsigned filter = root.getFilterOperand();
    for (unsigned index = 0; index < root->getNumOperands(); ++index) {
      Value input = getRootInput(op, index);
      if (!input || !isF32(root->getOperand(index)) ||
          (index == filter ? !getConstantValue(input) : !isQuantizable(input)))
        return std::nullopt;
    }
    return filter;
  }

  /// Returns true if the root only passes on, or averages, values that are, or
  /// may become, u8.
  bool passesQuantized(FusedOp op) {
    auto root = dyn_cast<QuantizableInterface>(op.getRoot());
    if (!root || root.accumulates())
      return false;
    bool anyQuantizable = false;
    for (unsigned index = 0; index < root->getNumOperands(); ++index) {
      Value input = getRootInput(op, index);
      if (!input || !isF32(input))
        return false;
      if (!getConstantValue(input) && !isQuantizable(input))
        return false;
      anyQuantizable |= !getConstantValue(input);
    }
    return anyQuantizable;
  }

  LogicalResult chooseRootOperands(FusedOp op, SmallVector<Value> &operands,
                                   RegionTypes &types) {
    if (computesInFloats(op))
      return success();
    std::optional<unsigned> filter = getFilterOperand(op);
    types.rootReadsStored = filter || passesQuantized(op);
    if (!types.rootReadsStored)
      return success();
    for (auto [index, operand] : llvm::enumerate(op.getRoot()->getOperands())) {
      unsigned position = cast<BlockArgument>(operand).getArgNumber();
      Value &input = operands[position];
      if (filter && *filter == index) {
        FailureOr<RoundedFilter> rounded = getFilter(op, input);
        if (failed(rounded))
          return failure();
        input = rounded->filter;
        correctBias(op, rounded->correction, operands);
      } else if (!getConstantValue(input)) {
        FailureOr<Type> element =
            getActivationElement(op.getInputs()[position]);
        if (failed(element))
          return failure();
        input = values.getAs(op.getInputs()[position], *element);
      }
    }
    return success();
  }

  /// Filters without means of their inputs are shared by the regions that read
  /// them.
  FailureOr<RoundedFilter> getFilter(FusedOp op, Value filter) {
    Operation *root = op.getRoot();
    int64_t axis = cast<QuantizableInterface>(root).getFilterChannelAxis();
    auto exact = op->getAttrOfType<DenseF32ArrayAttr>(kInputMeansAttrName);
    auto stored = op->getAttrOfType<DenseF32ArrayAttr>(kStoredMeansAttrName);
    OpBuilder builder(context);
    builder.setInsertionPointAfterValue(filter);
    if (!exact || !stored) {
      Value &shared = filters[{filter, axis}];
      if (!shared)
        shared = roundFilter(builder, filter, axis).filter;
      return RoundedFilter{shared, {}};
    }
    std::optional<FilterInputs> inputs = FilterInputs::create(root);
    int64_t expected = inputs ? inputs->getNumInputChannels() : 0;
    for (DenseF32ArrayAttr means : {exact, stored})
      if (means.size() != expected)
        return op.emitOpError("has means of ")
               << means.size() << " channels for a filter that reads "
               << expected;
    return roundFilter(builder, filter, axis, *inputs,
                       {exact.asArrayRef(), stored.asArrayRef()});
  }

  /// Adds the correction of the filter to the constant that the region adds to
  /// its root's result. Regions without one do without: rounding has balanced
  /// most of it.
  void correctBias(FusedOp op, ArrayRef<float> corrections,
                   SmallVector<Value> &operands) {
    Value result = op.getRoot()->getResult(0);
    auto add = dyn_cast<AddOp>(*result.getUsers().begin());
    if (!add || corrections.empty())
      return;
    auto argument = dyn_cast<BlockArgument>(
        add->getOperand(add->getOperand(0) == result ? 1 : 0));
    if (!argument)
      return;
    Value bias = operands[argument.getArgNumber()];
    ElementsAttr constant = getConstantValue(bias);
    if (!constant || !isF32(bias) || !isPerChannel(op.getRoot(), bias))
      return;
    std::vector<float> values = getConstantFloats(constant);
    for (auto [value, correction] : llvm::zip_equal(values, corrections))
      value += correction;
    OpBuilder builder(context);
    builder.setInsertionPointAfterValue(bias);
    operands[argument.getArgNumber()] = createFloatConstant(
        builder, bias.getLoc(), getTensorType(bias), values);
  }

  /// Returns true if the constant has one element per channel of the result.
  static bool isPerChannel(Operation *root, Value bias) {
    RankedTensorType type = getTensorType(bias);
    RankedTensorType result = getTensorType(root->getResult(0));
    int64_t axis = isa<LayoutInterface>(root) ? 1 : result.getRank() - 1;
    int64_t behind = result.getRank() - axis;
    return type.getRank() >= behind &&
           type.getNumElements() == result.getDimSize(axis) &&
           type.getDimSize(type.getRank() - behind) == type.getNumElements();
  }

  /// The u8 type of a value that is quantizable.
  FailureOr<Type> getActivationElement(Value value) {
    Type element = getElement(values.get(value));
    if (isa<quant::UniformQuantizedType>(element))
      return element;
    Value source = getSource(value);
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      unsigned index = argument.getArgNumber();
      auto range =
          function.getArgAttrOfType<DenseF32ArrayAttr>(index, kRangeAttrName);
      return makeElement(
          range, [&] { return function.emitError("argument ") << index; });
    }
    return getResultType(source.getDefiningOp<FusedOp>());
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// The precision in which a region wants what it reads. Converts take
  /// anything, and an int8 region that computes in f32 at the end of the model
  /// does not benefit from 8 bits.
  std::optional<Precision> getWish(FusedOp reader) const {
    if (isConvertRegion(reader) ||
        (!computesInFloats(reader) && isPreciseTail(reader)))
      return std::nullopt;
    return precisions.get(reader);
  }

  /// Returns true if the region's result is best stored in 8 bits.
  bool isWorthQuantizing(FusedOp op) const {
    return !leavesFunction(op.getResult()) &&
           precisions.getStored(op, [&](FusedOp reader) {
             return getWish(reader);
           }) == Precision::I8;
  }

  /// Returns the u8 type of a region's result, which is the same whatever the
  /// regions around it compute in. Means of what filters read were measured
  /// with all regions in int8: they correct the rounding to this type, and
  /// would add an error of their own to what is rounded to another one. What
  /// passes on values gives the type that covers theirs; means have a range of
  /// their own.
  FailureOr<Type> getResultType(FusedOp op) {
    auto root = dyn_cast<QuantizableInterface>(op.getRoot());
    bool hasOwnRange = root && root.averages();
    if (hasOwnRange || !passesQuantized(op) || !isRootAlone(op))
      return makeElement(op->getAttrOfType<DenseF32ArrayAttr>(kRangeAttrName),
                         [&] { return op.emitOpError("result"); });
    if (Type known = passedOn.lookup(op))
      return known;
    FailureOr<Type> common = getCommonElement(op);
    if (succeeded(common))
      passedOn[op] = *common;
    return common;
  }

  FailureOr<Type> makeElement(DenseF32ArrayAttr attr,
                              function_ref<InFlightDiagnostic()> emitError) {
    if (!attr || attr.size() != 2 || !(attr[0] <= attr[1]) ||
        !std::isfinite(attr[0]) || !std::isfinite(attr[1]))
      return emitError() << " needs an attribute " << kRangeAttrName
                         << " of two numbers, the lower one first";
    Interval range;
    range.include(attr[0]);
    range.include(attr[1]);
    return Type(makeActivationType(context, range));
  }

  LogicalResult chooseResult(FusedOp op, RegionTypes &types) {
    types.resultElement = op.getType().getElementType();
    if (!isF32(op.getResult()) || isConvertRegion(op) || !isWorthQuantizing(op))
      return success();
    FailureOr<Type> element = getResultType(op);
    if (failed(element))
      return failure();
    types.resultElement = *element;
    return success();
  }

  /// The u8 type that all operands of the region have, or one that covers their
  /// ranges.
  FailureOr<Type> getCommonElement(FusedOp op) {
    SmallVector<Type> elements;
    Interval range;
    for (Value input : op.getInputs()) {
      if (ElementsAttr constant = getConstantValue(input)) {
        elements.push_back(getElement(input));
        for (float value : getConstantFloats(constant))
          range.include(value);
        continue;
      }
      FailureOr<Type> element = getActivationElement(input);
      if (failed(element))
        return failure();
      elements.push_back(*element);
      Interval covered = getRange(cast<quant::UniformQuantizedType>(*element));
      range.include(covered.low);
      range.include(covered.high);
    }
    return llvm::all_equal(elements) ? elements.front()
                                     : makeActivationType(context, range);
  }

  func::FuncOp function;
  MLIRContext *context;
  RegionPrecisions precisions;
  StoredValues values;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> filters;
  /// The types of what regions pass on.
  llvm::DenseMap<Operation *, Type> passedOn;
};

struct QuantizePass : tarpon::impl::QuantizePassBase<QuantizePass> {
  using QuantizePassBase::QuantizePassBase;

  void runOnOperation() override {
    std::optional<Precision> unmarked =
        runtime::parsePrecision(dtype.getValue());
    if (!unmarked) {
      getOperation().emitError(
          "expects the dtype to be fp32, fp16, bf16 or int8, got '")
          << dtype << "'";
      return signalPassFailure();
    }
    FailureOr<RegionPrecisions> precisions =
        RegionPrecisions::read(getOperation(), *unmarked);
    if (failed(precisions) ||
        failed(Quantizer(getOperation(), *precisions).run()))
      return signalPassFailure();
  }
};

} // namespace
