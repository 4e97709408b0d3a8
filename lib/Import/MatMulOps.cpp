//===- MatMulOps.cpp - Import of matrix products ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockWeights.h"
#include "IntegerProducts.h"
#include "OpTable.h"
#include "Operators.h"

using namespace mlir;

namespace tarpon {

static Value createMatMul(OnnxNode &node, Value lhs, Value rhs, bool transposeL,
                          bool transposeR) {
  OpBuilder &builder = node.getBuilder();
  return node.create<MatMulOp>(lhs, rhs, builder.getBoolAttr(transposeL),
                               builder.getBoolAttr(transposeR));
}

Value multiplyMatrices(OnnxNode &node, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return nullptr;
  Type elementType = getTensorType(lhs).getElementType();
  bool vectorL = getShape(lhs).size() == 1, vectorR = getShape(rhs).size() == 1;
  if (vectorL)
    lhs = node.reshape(lhs, {1, getShape(lhs)[0]});
  if (vectorR)
    rhs = node.reshape(rhs, {getShape(rhs)[0], 1});
  Value result = multiplyByBlocks(node, lhs, rhs, /*transposeRhs=*/false);
  if (!result)
    result = createMatMul(node, lhs, rhs, false, false);
  if (!result)
    return nullptr;
  SmallVector<int64_t> shape(getShape(result));
  if (vectorR)
    shape.pop_back();
  if (vectorL)
    shape.erase(shape.end() - (vectorR ? 1 : 2));
  return node.convert(node.reshape(result, shape), elementType);
}

void importMatMul(OnnxNode &node) {
  node.setOutput(0, multiplyMatrices(node, node.getInput(0), node.getInput(1)));
}

/// Returns `value` times `factor`, which is usually 1.
static Value scale(OnnxNode &node, Value value, float factor) {
  if (!value || factor == 1.0f)
    return value;
  Type elementType = getTensorType(value).getElementType();
  if (!isa<FloatType>(elementType)) {
    node.emitError() << "alpha and beta are supported for floats only";
    return nullptr;
  }
  return node.create<MulOp>(value, node.createFloat(factor, elementType));
}

/// Adds beta * C, which must broadcast to the product's shape.
static Value addMatrix(OnnxNode &node, Value product, float beta) {
  Value matrix = node.getInput(2);
  if (!product || !matrix || beta == 0.0f)
    return product;
  Type elementType = getTensorType(product).getElementType();
  matrix = scale(node, node.convert(matrix, elementType), beta);
  Value sum = node.create<AddOp>(product, matrix);
  if (sum && sum.getType() != product.getType()) {
    node.emitError() << "the input C of type " << matrix.getType()
                     << " does not broadcast to " << product.getType();
    return nullptr;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

void importMatMulInteger(OnnxNode &node) {
  if (getShape(node.getInput(0)).size() < 2 ||
      getShape(node.getInput(1)).size() < 2) {
    node.emitError() << "expects matrices, got " << node.getInput(0).getType()
                     << " and " << node.getInput(1).getType();
    return;
  }
  if (Value product = multiplyBytes(node))
    return node.setOutput(0, product);
  int64_t rowAxis = getShape(node.getInput(0)).size() - 2;
  int64_t columnAxis = getShape(node.getInput(1)).size() - 1;
  Value lhs = subtractZeroPoint(node, 0, rowAxis);
  Value rhs = lhs ? subtractZeroPoint(node, 1, columnAxis) : nullptr;
  if (!rhs)
    return;
  int64_t leftAxis = getShape(lhs).size() - 1;
  int64_t rightAxis = getShape(rhs).size() - 2;
  int64_t depth = getShape(lhs)[leftAxis];
  if (getShape(rhs)[rightAxis] != depth) {
    node.emitError() << "the dimensions " << depth << " and "
                     << getShape(rhs)[rightAxis] << " differ";
    return;
  }
  Value total;
  for (int64_t first = 0; first < depth; first += kExactDepth) {
    int64_t length = std::min(kExactDepth, depth - first);
    Value part =
        createMatMul(node, node.slice(lhs, leftAxis, first, length),
                     node.slice(rhs, rightAxis, first, length), false, false);
    part = node.convert(part, node.getBuilder().getI32Type());
    total = total ? node.create<AddOp>(total, part) : part;
  }
  node.setOutput(0, total);
}

Value createGemm(OnnxNode &node) {
  Value a = node.getInput(0), b = node.getInput(1);
  if (getShape(a).size() != 2 || getShape(b).size() != 2) {
    node.emitError() << "expects matrices, got " << a.getType() << " and "
                     << b.getType();
    return nullptr;
  }
  float alpha = node.getFloat("alpha", 1.0f);
  float beta = node.getFloat("beta", 1.0f);
  bool transposeA = node.getBool("transA", false),
       transposeB = node.getBool("transB", false);
  Value product =
      transposeA ? Value() : multiplyByBlocks(node, a, b, transposeB);
  if (!product)
    product = createMatMul(node, a, b, transposeA, transposeB);
  Value sum = addMatrix(node, scale(node, product, alpha), beta);
  return node.convert(sum, getTensorType(a).getElementType());
}

void importGemm(OnnxNode &node) { node.setOutput(0, createGemm(node)); }

} // namespace tarpon
