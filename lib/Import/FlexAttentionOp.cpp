//===- FlexAttentionOp.cpp - Import of attention with modifiers -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

/// The type of scores and probabilities; null after an error.
static Type getScoreType(OnnxNode &node, Type elementType) {
  if (!node.hasAttribute("softmax_precision"))
    return elementType.isF64() ? elementType
                               : Type(node.getBuilder().getF32Type());
  int64_t number = node.getInt("softmax_precision", 0);
  std::optional<runtime::DType> dtype;
  if (llvm::isInt<32>(number))
    dtype = getDType(static_cast<int32_t>(number));
  if (dtype && runtime::isFloat(*dtype))
    return getElementType(node.getBuilder().getContext(), *dtype);
  node.emitError() << "attribute 'softmax_precision' is "
                   << describeOnnxType(number) << ", expected a float type";
  return nullptr;
}

/// Checks batch x heads x positions x channels of queries, keys and values.
static bool checkShapes(OnnxNode &node) {
  ArrayRef<int64_t> query = getShape(node.getInput(0)),
                    key = getShape(node.getInput(1)),
                    value = getShape(node.getInput(2));
  bool fits = query.size() == 4 && key.size() == 4 && value.size() == 4 &&
              key.take_front(3) == value.take_front(3) && query[0] == key[0] &&
              query[3] == key[3] && key[1] > 0 && query[1] % key[1] == 0;
  if (!fits)
    node.emitError() << "the queries " << node.getInput(0).getType()
                     << ", the keys " << node.getInput(1).getType()
                     << " and the values " << node.getInput(2).getType()
                     << " do not fit each other";
  return fits;
}

/// Applies the sub-graph of an attribute, if it is there; its result has the
/// type of `value`.
static Value modify(OnnxNode &node, StringRef attribute, Value value) {
  if (!value || !node.hasAttribute(attribute))
    return value;
  const onnx::GraphProto *graph = node.getGraph(attribute);
  if (!graph)
    return nullptr;
  std::optional<SmallVector<Value>> results = node.importBody(*graph, {value});
  if (!results)
    return nullptr;
  if (results->size() == 1 && results->front().getType() == value.getType())
    return results->front();
  node.emitError() << "attribute '" << attribute
                   << "' does not give one value of type " << value.getType();
  return nullptr;
}

void importFlexAttention(OnnxNode &node) {
  Value query = node.getInput(0), key = node.getInput(1),
        value = node.getInput(2);
  Type elementType = getTensorType(query).getElementType();
  Type scoreType = getScoreType(node, elementType);
  if (!scoreType || !checkShapes(node))
    return;
  SmallVector<int64_t> shape(getShape(query)), keys(getShape(key));
  double scale = node.hasAttribute("scale")
                     ? node.getFloat("scale", 1)
                     : 1 / std::sqrt(static_cast<double>(shape[3]));
  // The queries that share the keys of a head follow each other.
  int64_t shared = shape[1] / keys[1];
  OpBuilder &builder = node.getBuilder();
  Value product = node.create<MatMulOp>(
      node.reshape(query, {shape[0], keys[1], shared * shape[2], shape[3]}),
      key, builder.getBoolAttr(false), builder.getBoolAttr(true));
  if (!product)
    return;
  Value factor =
      node.createFloat(scale, getTensorType(product).getElementType());
  Value scores = node.convert(node.create<MulOp>(product, factor), scoreType);
  scores =
      modify(node, "score_mod",
             node.reshape(scores, {shape[0], shape[1], shape[2], keys[2]}));
  Value probabilities =
      node.create<SoftmaxOp>(scores, builder.getI64IntegerAttr(3));
  probabilities = modify(node, "prob_mod", probabilities);
  Value result = node.create<MatMulOp>(
      node.reshape(probabilities,
                   {shape[0], keys[1], shared * shape[2], keys[2]}),
      node.convert(value, scoreType), builder.getBoolAttr(false),
      builder.getBoolAttr(false));
  shape[3] = getShape(value)[3];
  node.setOutput(0, node.convert(node.reshape(result, shape), elementType));
}

} // namespace tarpon
