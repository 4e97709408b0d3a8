//===- IndexOps.cpp - Elements selected at run time -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantFolding.h"
#include "Inference.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/ElementTypes.h"
#include "tarpon/IR/TarponOps.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

static LogicalResult checkIndices(const Reporter &report,
                                  RankedTensorType indices) {
  if (!indices.getElementType().isSignlessInteger(64))
    return report("expects indices of i64, got ", indices.getElementType());
  return success();
}

//===----------------------------------------------------------------------===//
// WhereOp
//===----------------------------------------------------------------------===//

LogicalResult WhereOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType condition = getTensorType(adaptor.getCondition()),
                   lhs = getTensorType(adaptor.getLhs()),
                   rhs = getTensorType(adaptor.getRhs());
  // C1
  if (!condition.getElementType().isInteger(1))
    return report("expects a condition of i1, got ",
                  condition.getElementType());
  // C2
  if (lhs.getElementType() != rhs.getElementType())
    return report("expects operands of the same element type, got ",
                  lhs.getElementType(), " and ", rhs.getElementType());
  // C3
  std::optional<Shape> shape = broadcastShapes(lhs.getShape(), rhs.getShape());
  if (shape)
    shape = broadcastShapes(condition.getShape(), *shape);
  if (!shape)
    return report("expects shapes that broadcast, got ", condition, ", ", lhs,
                  " and ", rhs);
  // C4
  if (failed(checkRowMajor(report, "condition", condition)) ||
      failed(checkRowMajor(report, "lhs", lhs)) ||
      failed(checkRowMajor(report, "rhs", rhs)))
    return failure();

  types.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

/// The operand that a condition selects everywhere, if it selects only one.
static Value getOnlySelected(WhereOp where, Attribute condition) {
  auto attr = dyn_cast_or_null<ElementsAttr>(condition);
  if (!attr || attr.getNumElements() == 0)
    return nullptr;
  std::vector<char> bytes = getConstantBytes(attr);
  auto isTrue = [](char byte) { return byte != 0; };
  if (llvm::all_of(bytes, isTrue))
    return where.getLhs();
  return llvm::none_of(bytes, isTrue) ? where.getRhs() : Value();
}

OpFoldResult WhereOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() && getLhs().getType() == getType())
    return getLhs();
  if (Value only = getOnlySelected(*this, adaptor.getCondition());
      only && only.getType() == getType())
    return only;
  return foldWhere(adaptor.getCondition(), adaptor.getLhs(), adaptor.getRhs(),
                   getType());
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput()),
                   indices = getTensorType(adaptor.getIndices());
  // C1
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= input.getRank())
    return report("expects an axis from 0 to below the rank ", input.getRank(),
                  ", got ", axis);
  // C2
  if (input.getDimSize(axis) == 0)
    return report("expects a dimension that is not empty, got ", input);
  // C3
  if (failed(checkIndices(report, indices)))
    return failure();
  // C4
  if (failed(checkRowMajor(report, "input", input)) ||
      failed(checkRowMajor(report, "indices", indices)))
    return failure();

  types.push_back(
      input.clone(gatherShape(input.getShape(), indices.getShape(), axis)));
  return success();
}

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  return foldGather(adaptor.getInput(), adaptor.getIndices(), getAxis(),
                    getType());
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput()),
                   indices = getTensorType(adaptor.getIndices()),
                   updates = getTensorType(adaptor.getUpdates());
  // C1
  if (input.getRank() < 1)
    return report("expects an input of rank 1 or more, got ", input);
  // C2
  if (failed(checkIndices(report, indices)))
    return failure();
  if (indices.getRank() != 1)
    return report("expects indices of rank 1, got ", indices);
  // C3
  RankedTensorType expected =
      input.clone(gatherShape(input.getShape(), indices.getShape(), 0));
  if (updates != expected)
    return report("expects updates of type ", expected, ", got ", updates);
  // C4
  Type elementType = input.getElementType();
  if (adaptor.getMode() != ScatterMode::Replace &&
      (elementType.isInteger(1) || !isa<FloatType, IntegerType>(elementType)))
    return report("expects floats or integers of 8 bits or more, got ",
                  elementType);
  // C5
  if (failed(checkRowMajor(report, "input", input)) ||
      failed(checkRowMajor(report, "indices", indices)))
    return failure();

  types.push_back(input);
  return success();
}

//===----------------------------------------------------------------------===//
// TopKOp
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (axis < 0 || axis >= input.getRank())
    return report("expects an axis from 0 to below the rank ", input.getRank(),
                  ", got ", axis);
  // C2
  if (k < 1 || k > input.getDimSize(axis))
    return report("expects k from 1 to the size ", input.getDimSize(axis),
                  " of the dimension, got ", k);
  // C3
  Type elementType = input.getElementType();
  if (elementType.isInteger(1) || !isa<FloatType, IntegerType>(elementType))
    return report("expects floats or integers of 8 bits or more, got ",
                  elementType);
  // C4
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(RankedTensorType::get(replaceDim(input.getShape(), axis, k),
                                        IntegerType::get(context, 64)));
  return success();
}
