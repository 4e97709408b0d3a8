//===- MicrosoftAttention.cpp - Parts of ONNX Runtime's attentions --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicrosoftAttention.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

void MicrosoftAttention::refuseInputs(unsigned first,
                                      ArrayRef<StringRef> names) {
  for (auto [index, name] : llvm::enumerate(names))
    if (node.hasInput(first + index))
      node.emitError() << "the input " << name << " is not supported";
}

void MicrosoftAttention::refuseOthers(ArrayRef<NeutralAttribute> attributes) {
  for (const NeutralAttribute &attribute : attributes) {
    int64_t value = node.getInt(attribute.name, attribute.value);
    if (value != attribute.value)
      node.emitError() << "attribute '" << attribute.name << "' is " << value
                       << ", expected " << attribute.value;
  }
}

double MicrosoftAttention::getScale() {
  float scale = node.getFloat("scale", 0);
  return scale == 0 ? defaultScale() : scale;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns bools that are true where a query may see a key. A list has the ends
/// of the keys, and perhaps their starts behind them; a table has a number for
/// each key, and perhaps for each query. Null after an error.
Value MicrosoftAttention::readMask(unsigned input) {
  Value mask = node.getInput(input);
  SmallVector<int64_t> shape(getShape(mask));
  int64_t batches = numBatches(), queries = numQueries(), keys = numKeys();
  auto isShape = [&](ArrayRef<int64_t> expected) {
    return ArrayRef(shape) == expected;
  };
  Value zero = node.createNumber(0, getTensorType(mask).getElementType());
  if (isShape({batches, keys}))
    return node.isSet(
        node.create<LessOp>(zero, node.reshape(mask, {batches, 1, 1, keys})));
  if (isShape({batches, queries, keys}))
    return node.isSet(node.create<LessOp>(
        zero, node.reshape(mask, {batches, 1, queries, keys})));
  if (!isShape({batches}) && !isShape({2 * batches})) {
    node.emitError() << "the mask " << mask.getType() << " of " << batches
                     << " batches, " << queries << " queries and " << keys
                     << " keys is not supported";
    return nullptr;
  }
  Value limits = node.convert(mask, node.getBuilder().getI64Type());
  auto getLimit = [&](int64_t first) {
    return node.reshape(node.slice(limits, 0, first, batches),
                        {batches, 1, 1, 1});
  };
  Value places = createPositions(keys, 3);
  Value isBefore = node.create<LessOp>(places, getLimit(0));
  if (isShape({batches}))
    return node.isSet(isBefore);
  Value isBehind = node.create<LessOp>(
      node.create<SubOp>(getLimit(batches), integer(1)), places);
  return node.isSet(node.create<MulOp>(isBefore, isBehind));
}

void MicrosoftAttention::addMask(Value &bias, unsigned input) {
  if (!node.hasInput(input))
    return;
  if (Value allowed = readMask(input))
    addWhere(bias, allowed, node.getFloat("mask_filter_value", -10000.0f));
}

void MicrosoftAttention::addCausalMask(Value &bias, int64_t past) {
  if (node.getBool("unidirectional", false))
    addWhere(bias,
             isAtMost(createPositions(numKeys(), 3),
                      add(createPositions(numQueries(), 2), integer(past))));
}

bool MicrosoftAttention::fitsScores(ArrayRef<int64_t> shape) {
  return (shape[0] == 1 || shape[0] == numBatches()) &&
         (shape[1] == 1 || shape[1] == numHeads());
}

void MicrosoftAttention::addAttentionBias(Value &bias, unsigned input) {
  if (!node.hasInput(input))
    return;
  Value given = node.getInput(input);
  ArrayRef<int64_t> shape = getShape(given);
  if (shape.size() != 4 || !fitsScores(shape) || shape[2] != numQueries() ||
      shape[3] != numKeys()) {
    node.emitError() << "the attention_bias " << given.getType() << " of "
                     << numQueries() << " queries and " << numKeys()
                     << " keys is not supported";
    return;
  }
  addTo(bias, node.convert(given, computeType));
}

void MicrosoftAttention::setResult(Value bias) {
  if (node.hasFailed())
    return;
  Value masked = bias ? add(scores, bias) : scores;
  node.setOutput(0, joinHeads(weighValues(createSoftmax(masked))));
}

} // namespace tarpon
