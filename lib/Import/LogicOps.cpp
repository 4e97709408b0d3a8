//===- LogicOps.cpp - Import of comparisons, logic and bits ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include <limits>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// The dialect's comparisons give 1 and 0 of the type that they compare.
static void setTruth(OnnxNode &node, Value truth) {
  node.setOutput(0, node.convert(truth, node.getBuilder().getI1Type()));
}

static void importLess(OnnxNode &node, unsigned lhs, unsigned rhs,
                       bool orEqual) {
  Value left = node.getInput(lhs), right = node.getInput(rhs);
  Value truth = node.create<LessOp>(left, right);
  // The negation of the opposite would be true of a NaN.
  if (orEqual)
    truth = node.create<AddOp>(truth, node.create<EqualOp>(left, right));
  setTruth(node, truth);
}

void importEqual(OnnxNode &node) {
  setTruth(node, node.create<EqualOp>(node.getInput(0), node.getInput(1)));
}

void importLess(OnnxNode &node) { importLess(node, 0, 1, false); }
void importLessOrEqual(OnnxNode &node) { importLess(node, 0, 1, true); }
void importGreater(OnnxNode &node) { importLess(node, 1, 0, false); }
void importGreaterOrEqual(OnnxNode &node) { importLess(node, 1, 0, true); }

/// Only NaN does not equal itself.
void importIsNaN(OnnxNode &node) {
  Value input = node.getInput(0);
  Value truth = node.create<EqualOp>(input, input);
  if (!truth)
    return;
  Type elementType = getTensorType(truth).getElementType();
  setTruth(node,
           node.create<EqualOp>(truth, node.createNumber(0, elementType)));
}

void importIsInf(OnnxNode &node) {
  Value input = node.getInput(0);
  bool negative = node.getBool("detect_negative", true),
       positive = node.getBool("detect_positive", true);
  Type elementType = getTensorType(input).getElementType();
  if (!isa<FloatType>(elementType)) {
    node.emitError() << "the input is not of floats";
    return;
  }
  if (negative && positive)
    input = node.create<AbsOp>(input);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double wanted = negative && !positive ? -infinity : infinity;
  Value truth =
      node.create<EqualOp>(input, node.createNumber(wanted, elementType));
  if (!negative && !positive)
    truth = node.splat(node.createNumber(0, elementType), getShape(input));
  setTruth(node, truth);
}

//===----------------------------------------------------------------------===//
// Logic and bits
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void importLogic(OnnxNode &node) {
  for (unsigned i = 0; i < 2; ++i)
    if (!getTensorType(node.getInput(i)).getElementType().isInteger(1))
      node.emitError() << "input " << i << " is not of bool";
  node.setOutput(0, node.create<OpTy>(node.getInput(0), node.getInput(1)));
}

void importAnd(OnnxNode &node) { importLogic<BitAndOp>(node); }
void importOr(OnnxNode &node) { importLogic<BitOrOp>(node); }
void importXor(OnnxNode &node) { importLogic<BitXorOp>(node); }

template <typename OpTy>
static void importBits(OnnxNode &node) {
  node.setOutput(0, node.create<OpTy>(node.getInput(0), node.getInput(1)));
}

void importBitwiseAnd(OnnxNode &node) { importBits<BitAndOp>(node); }
void importBitwiseOr(OnnxNode &node) { importBits<BitOrOp>(node); }
void importBitwiseXor(OnnxNode &node) { importBits<BitXorOp>(node); }

void importNot(OnnxNode &node) {
  Value input = node.getInput(0);
  if (!getTensorType(input).getElementType().isInteger(1))
    node.emitError() << "the input is not of bool";
  Type elementType = node.getBuilder().getI1Type();
  node.setOutput(
      0, node.create<BitXorOp>(input, node.createNumber(1, elementType)));
}

/// Changes all bits, of which -1 - x is another name.
void importBitwiseNot(OnnxNode &node) {
  Value input = node.getInput(0);
  Type elementType = getTensorType(input).getElementType();
  if (!isa<IntegerType>(elementType)) {
    node.emitError() << "the input is not of integers";
    return;
  }
  Value ones =
      node.convert(node.createInts({-1}, /*scalar=*/true), elementType);
  node.setOutput(0, node.create<BitXorOp>(input, ones));
}

void importBitShift(OnnxNode &node) {
  std::string direction = node.getString("direction", "");
  if (direction == "LEFT")
    return importBits<ShiftLeftOp>(node);
  if (direction == "RIGHT")
    return importBits<ShiftRightOp>(node);
  node.emitError() << "attribute 'direction' is '" << direction
                   << "', expected LEFT or RIGHT";
}

//===----------------------------------------------------------------------===//
// Where
//===----------------------------------------------------------------------===//

void importWhere(OnnxNode &node) {
  node.setOutput(0, node.create<WhereOp>(node.getInput(0), node.getInput(1),
                                         node.getInput(2)));
}

} // namespace tarpon
