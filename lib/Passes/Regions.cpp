//===- Regions.cpp - Clones and retypes fused regions -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool tarpon::detail::isConvertRegion(FusedOp op) {
  return isa<ConvertOp>(op.getRoot());
}

bool tarpon::detail::isRootOperand(FusedOp op, unsigned index) {
  return llvm::is_contained(op.getRoot()->getOperands(),
                            op.getBody().getArgument(index));
}

bool tarpon::detail::readsStored(Operation *root) {
  return isa<QuantizableInterface>(root) &&
         llvm::all_of(root->getOperands(), isF32);
}

SmallVector<Operation *> tarpon::detail::getReaders(Value value) {
  SmallVector<Operation *> readers;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers())
      if (auto reshape = dyn_cast<ReshapeOp>(user))
        worklist.push_back(reshape.getResult());
      else
        readers.push_back(user);
  return readers;
}

bool tarpon::detail::leavesFunction(Value value) {
  return llvm::any_of(getReaders(value), llvm::IsaPred<func::ReturnOp>);
}

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

/// The result type of a clone of a convert to `type` on an operand of another
/// layout.
static RankedTensorType getConvertedType(RankedTensorType type, Value operand) {
  if (type.getRank() < 3)
    return type;
  return withLayout(type, getLayout(getTensorType(operand)));
}

FailureOr<Operation *> tarpon::detail::cloneRetyped(OpBuilder &builder,
                                                    Operation *op,
                                                    IRMapping &mapping) {
  Operation *clone = builder.clone(*op, mapping);
  if (auto convert = dyn_cast<ConvertOp>(clone)) {
    Value result = convert.getResult();
    result.setType(getConvertedType(getTensorType(result), convert.getInput()));
  } else if (auto infer = dyn_cast<InferTypeOpInterface>(clone)) {
    SmallVector<Type, 1> types;
    if (failed(infer.inferReturnTypes(
            clone->getContext(), clone->getLoc(), clone->getOperands(),
            clone->getDiscardableAttrDictionary(),
            clone->getPropertiesStorage(), clone->getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip_equal(clone->getResults(), types))
      result.setType(type);
  }
  return clone;
}

FusedOp tarpon::detail::createRegionLike(OpBuilder &builder, FusedOp op,
                                         ValueRange operands,
                                         TypeRange resultTypes) {
  auto copy = FusedOp::create(builder, op.getLoc(), resultTypes, operands);
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &block = copy.getBody().emplaceBlock();
  for (auto [operand, argument] :
       llvm::zip_equal(operands, op.getBody().getArguments()))
    block.addArgument(operand.getType(), argument.getLoc());
  return copy;
}

//===----------------------------------------------------------------------===//
// Element types inside a region
//===----------------------------------------------------------------------===//

namespace {

/// Builds the copy of one region.
class RegionRetyper {
public:
  RegionRetyper(OpBuilder &outer, FusedOp source, const RegionTypes &types)
      : source(source), types(types),
        copy(createRegionLike(outer, source, types.operands,
                              getResultTypes(source, types.resultElement))),
        builder(OpBuilder::atBlockBegin(getBlock())) {
    mapping.map(source.getBody().getArguments(), getBlock()->getArguments());
  }

  FailureOr<FusedOp> run() {
    for (Operation &op : source.getBody().front().without_terminator()) {
      if (auto convert = dyn_cast<ConvertOp>(op))
        cloneConvert(convert);
      else if (failed(cloneOp(op)))
        return failure();
    }
    auto yield = cast<YieldOp>(source.getBody().front().getTerminator());
    Value result = mapping.lookup(yield.getValue());
    SmallVector<Value> others;
    for (Value other : yield.getMoreValues())
      others.push_back(mapping.lookup(other));
    YieldOp::create(builder, yield.getLoc(),
                    convert(result, types.resultElement), others);
    return copy;
  }

private:
  static SmallVector<Type> getResultTypes(FusedOp op, Type first) {
    SmallVector<Type> types(op.getResultTypes());
    types.front() = withElementType(op.getType(), first);
    return types;
  }

  Block *getBlock() { return &copy.getBody().front(); }

  /// Converts the value to another element type. Converts of arguments come
  /// first, so that they are recognised as the way an operand is stored.
  Value convert(Value value, Type elementType) {
    RankedTensorType type = getTensorType(value);
    if (type.getElementType() == elementType)
      return value;
    if (!isa<BlockArgument>(value))
      return ConvertOp::create(builder, value.getLoc(),
                               withElementType(type, elementType), value);
    Value &cached = argumentConverts[{value, elementType}];
    if (cached)
      return cached;
    OpBuilder::InsertionGuard guard(builder);
    if (lastArgumentConvert)
      builder.setInsertionPointAfter(lastArgumentConvert);
    else
      builder.setInsertionPointToStart(getBlock());
    auto op = ConvertOp::create(builder, value.getLoc(),
                                withElementType(type, elementType), value);
    lastArgumentConvert = op;
    return cached = op;
  }

  /// A convert has the same result type as before; at the end of a region that
  /// only converts, it has the type in which the result is stored.
  void cloneConvert(ConvertOp op) {
    Value input = mapping.lookup(op.getInput());
    Type element = op.getType().getElementType();
    bool isWhole = op == source.getRoot() && isa<YieldOp>(op->getNextNode());
    if (isWhole)
      element = types.resultElement;
    auto type = withElementType(getConvertedType(op.getType(), input), element);
    if (input.getType() != type || isWhole)
      input = ConvertOp::create(builder, op.getLoc(), type, input);
    mapping.map(op.getResult(), input);
  }

  /// Returns true if the root reads its operands as stored.
  bool takesStored(Operation &op) {
    if (!types.rootReadsStored || &op != source.getRoot())
      return false;
    if (cast<QuantizableInterface>(op).accumulates())
      return true;
    return llvm::all_equal(llvm::map_range(op.getOperands(), [&](Value value) {
      return getTensorType(mapping.lookup(value)).getElementType();
    }));
  }

  /// The element type that `op` needs for an operand that had type `original`.
  Type getWantedElement(Operation &op, Value original) {
    if (types.rootReadsStored && &op == source.getRoot())
      return types.resultElement;
    return getTensorType(original).getElementType();
  }

  LogicalResult cloneOp(Operation &op) {
    IRMapping operands = mapping;
    if (!takesStored(op))
      for (Value operand : op.getOperands())
        operands.map(operand, convert(mapping.lookup(operand),
                                      getWantedElement(op, operand)));
    FailureOr<Operation *> clone = cloneRetyped(builder, &op, operands);
    if (failed(clone))
      return failure();
    mapping.map(op.getResults(), (*clone)->getResults());
    return success();
  }

  FusedOp source;
  const RegionTypes &types;
  FusedOp copy;
  OpBuilder builder;
  IRMapping mapping;
  llvm::DenseMap<std::pair<Value, Type>, Value> argumentConverts;
  Operation *lastArgumentConvert = nullptr;
};

} // namespace

FailureOr<FusedOp> tarpon::detail::retypeRegion(OpBuilder &builder, FusedOp op,
                                                const RegionTypes &types) {
  return RegionRetyper(builder, op, types).run();
}

//===----------------------------------------------------------------------===//
// StoredValues
//===----------------------------------------------------------------------===//

Value StoredValues::get(Value original) const {
  Value value = stored.lookup(original);
  return value ? value : original;
}

Value StoredValues::getAs(Value original, RankedTensorType type) {
  Value value = get(original);
  if (value.getType() == type)
    return value;
  Value &convert = converts[{value, type}];
  if (!convert) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    convert = builder.createOrFold<ConvertOp>(value.getLoc(), type, value);
  }
  return convert;
}

Value StoredValues::getAs(Value original, Type elementType) {
  return getAs(original,
               withElementType(getTensorType(get(original)), elementType));
}

bool StoredValues::has(Value original, RankedTensorType type) const {
  Value value = get(original);
  return value.getType() == type || converts.contains({value, type});
}

Value StoredValues::retypeReshape(ReshapeOp op) {
  // The element type follows the operand, the layout does not.
  Value operand = get(op.getInput());
  if (operand == op.getInput())
    return op;
  Type element = getTensorType(operand).getElementType();
  operand =
      getAs(op.getInput(), withElementType(op.getInput().getType(), element));
  OpBuilder builder(op);
  return ReshapeOp::create(builder, op.getLoc(),
                           withElementType(op.getType(), element), operand);
}

LogicalResult StoredValues::retypeFunction(func::FuncOp function,
                                           RetypeFn retype) {
  if (function.isExternal())
    return success();
  SmallVector<Operation *> replaced;
  auto replace = [&](Operation *op, ArrayRef<Value> values) {
    if (llvm::equal(op->getResults(), values))
      return;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      stored[result] = value;
    replaced.push_back(op);
  };
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (auto fused = dyn_cast<FusedOp>(op)) {
      FailureOr<Values> values = retype(fused);
      if (failed(values))
        return failure();
      replace(fused, *values);
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      replace(reshape, retypeReshape(reshape));
    } else {
      for (OpOperand &operand : op.getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()))
          operand.set(getAs(operand.get(), getTensorType(operand.get())));
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  // Filters in their old type are unused now.
  for (auto constant : llvm::make_early_inc_range(
           function.getBody().front().getOps<ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
  return success();
}
