//===- MicrosoftNormOps.cpp - Fused normalisations ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Operators.h"
#include "Quantization.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Sums that are normalised
//===----------------------------------------------------------------------===//

/// input + skip + bias, of which the bias may be left out; null after an error.
static Value addSkip(OnnxNode &node, unsigned bias) {
  Value input = node.getInput(0);
  Value sum = node.create<AddOp>(input, node.getInput(1));
  if (node.hasInput(bias))
    sum = node.create<AddOp>(sum, node.getInput(bias));
  if (!sum || sum.getType() == input.getType())
    return sum;
  node.emitError() << "skip or bias does not broadcast to the input "
                   << input.getType();
  return nullptr;
}

/// Sets the outputs of a sum and of what it becomes.
static void setSkipOutputs(OnnxNode &node, Value result, Value sum) {
  constexpr unsigned kSum = 3; // behind statistics for training
  node.setOutput(0, result);
  node.setOutput(kSum, sum);
}

static int64_t getLastAxis(Value value) {
  return static_cast<int64_t>(getShape(value).size()) - 1;
}

void importSkipLayerNormalization(OnnxNode &node) {
  Value sum = addSkip(node, /*bias=*/4);
  if (!sum)
    return;
  SmallVector<Value> parameters = {node.getInput(2)};
  if (node.hasInput(3))
    parameters.push_back(node.getInput(3));
  setSkipOutputs(node,
                 createLayerNorm(node, sum, parameters, getLastAxis(sum),
                                 node.getFloat("epsilon", 1e-12f)),
                 sum);
}

void importSkipSimplifiedLayerNormalization(OnnxNode &node) {
  Value sum = addSkip(node, /*bias=*/3);
  if (!sum)
    return;
  setSkipOutputs(node,
                 createRmsNorm(node, sum, node.getInput(2), getLastAxis(sum),
                               node.getFloat("epsilon", 1e-12f)),
                 sum);
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

namespace {
/// Tables of embeddings, and the parameters of the norm of their sum; those of
/// segments may be null.
struct Embeddings {
  Value words, positions, segments, gamma, beta;
};
} // namespace

static Value lookUp(OnnxNode &node, Value table, Value indices) {
  OpBuilder &builder = node.getBuilder();
  return node.create<GatherOp>(table,
                               node.convert(indices, builder.getI64Type()),
                               builder.getI64IntegerAttr(0));
}

/// The sum of the embeddings of words, of positions, and of segments if the
/// node has them; null after an error.
static Value sumEmbeddings(OnnxNode &node, const Embeddings &tables,
                           Value positions) {
  Value words = node.getInput(0);
  if (getShape(words).size() != 2 || node.hasInput(1) != !!tables.segments) {
    node.emitError() << "the words " << words.getType()
                     << " are not of batch x positions, or only one of "
                        "segments and their embeddings is there";
    return nullptr;
  }
  if (!positions)
    positions = node.createRange(getShape(words)[1]);
  Value sum = node.create<AddOp>(lookUp(node, tables.words, words),
                                 lookUp(node, tables.positions, positions));
  if (!tables.segments)
    return sum;
  return node.create<AddOp>(sum,
                            lookUp(node, tables.segments, node.getInput(1)));
}

/// How many entries of each row of the mask are set: 0 without a mask.
static Value countWords(OnnxNode &node, unsigned mask) {
  OpBuilder &builder = node.getBuilder();
  if (!node.hasInput(mask))
    return node.createZeros({getShape(node.getInput(0))[0]},
                            builder.getI32Type());
  Value isWord = node.create<EqualOp>(
      node.convert(node.getInput(mask), builder.getI32Type()),
      node.createNumber(1, builder.getI32Type()));
  return node.create<ReduceSumOp>(node.convert(isWord, builder.getI32Type()),
                                  builder.getDenseI64ArrayAttr({1}),
                                  builder.getBoolAttr(false));
}

static void importEmbeddings(OnnxNode &node, const Embeddings &tables,
                             unsigned mask, Value positions) {
  Value sum = sumEmbeddings(node, tables, positions);
  if (!sum)
    return;
  node.setOutput(0, createLayerNorm(node, sum, {tables.gamma, tables.beta},
                                    getLastAxis(sum),
                                    node.getFloat("epsilon", 1e-12f)));
  if (node.isOutputUsed(1))
    node.setOutput(1, countWords(node, mask));
  node.setOutput(2, sum);
}

void importEmbedLayerNormalization(OnnxNode &node) {
  if (!requireInputs(node, {2, 3, 5, 6}))
    return;
  importEmbeddings(node,
                   {node.getInput(2), node.getInput(3), node.getInput(4),
                    node.getInput(5), node.getInput(6)},
                   /*mask=*/7, node.getInput(8));
}

/// Each table has a scale, five inputs behind it but for the mask, and a zero
/// point another five behind.
void importQEmbedLayerNormalization(OnnxNode &node) {
  constexpr unsigned kMask = 7, kTables = 5;
  if (!requireInputs(node, {2, 3, 5, 6, 8, 9, 11, 12, 13, 14, 16, 17}))
    return;
  auto read = [&](unsigned table) {
    unsigned scale = table + kTables + 1;
    return node.hasInput(table)
               ? dequantizeWhole(node, table, scale, scale + kTables)
               : Value();
  };
  Embeddings tables = {read(2), read(3), read(4), read(5), read(6)};
  if (!node.hasFailed())
    importEmbeddings(node, tables, kMask, /*positions=*/nullptr);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Normalises the groups of the channels of `input`, which are last unless the
/// node says otherwise.
static Value normalizeGroups(OnnxNode &node, Value input) {
  if (!input)
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  bool isLast = node.getBool("channels_last", true);
  bool activates = node.getBool("activation", false);
  int64_t groups = node.getInt("groups", 0);
  Type type = getTensorType(input).getElementType();
  SmallVector<Value> parameters = {node.convert(node.getInput(1), type),
                                   node.convert(node.getInput(2), type)};
  Value x = isLast ? moveChannels(node, input, /*toLast=*/false) : input;
  if (node.hasFailed() || !parameters[0] || !parameters[1])
    return nullptr;
  Value result = node.create<GroupNormOp>(
      x, ValueRange(parameters), builder.getI64IntegerAttr(groups),
      builder.getF32FloatAttr(node.getFloat("epsilon", 1e-5f)));
  if (activates)
    result = node.create<SwishOp>(result, builder.getF32FloatAttr(1));
  return isLast ? moveChannels(node, result, /*toLast=*/true) : result;
}

void importGroupNorm(OnnxNode &node) {
  node.setOutput(0, normalizeGroups(node, node.getInput(0)));
}

/// Adds skip, of which every position may have the same, and the bias first.
void importSkipGroupNorm(OnnxNode &node) {
  Value input = node.getInput(0), skip = node.getInput(3);
  ArrayRef<int64_t> shape = getShape(skip);
  if (!node.getBool("channels_last", true)) {
    node.emitError() << "attribute 'channels_last' is 0, expected 1";
    return;
  }
  if (shape.size() == 2)
    skip = node.reshape(skip, {shape[0], 1, 1, shape[1]});
  Value sum = node.create<AddOp>(input, skip);
  if (node.hasInput(4))
    sum = node.create<AddOp>(sum, node.getInput(4));
  if (sum && sum.getType() != input.getType()) {
    node.emitError() << "skip or bias does not broadcast to the input "
                     << input.getType();
    return;
  }
  node.setOutput(0, normalizeGroups(node, sum));
  node.setOutput(1, sum);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The dimensions from `axis` on are one row. With is_inner_broadcast, the bias
/// has a size of 1 in some that lie directly before them, else in the first
/// ones.
void importBiasSoftmax(OnnxNode &node) {
  Value scores = node.getInput(0), bias = node.getInput(1);
  int64_t rank = static_cast<int64_t>(getShape(scores).size());
  int64_t axis = node.getAxis("axis", 1, rank);
  (void)node.getBool("is_inner_broadcast", true);
  if (node.hasFailed())
    return;
  Value sum = node.create<AddOp>(scores, bias);
  if (sum && sum.getType() != scores.getType()) {
    node.emitError() << "the bias " << bias.getType()
                     << " does not broadcast to " << scores.getType();
    return;
  }
  if (!sum)
    return;
  SmallVector<int64_t> shape(getShape(scores));
  ArrayRef<int64_t> sizes(shape);
  Value flat = node.reshape(sum, {multiply(sizes.take_front(axis)),
                                  multiply(sizes.drop_front(axis))});
  node.setOutput(0,
                 node.reshape(node.create<SoftmaxOp>(
                                  flat, node.getBuilder().getI64IntegerAttr(1)),
                              shape));
}

} // namespace tarpon
