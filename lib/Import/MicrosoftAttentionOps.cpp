//===- MicrosoftAttentionOps.cpp - Import of ONNX Runtime's attentions ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicrosoftAttention.h"
#include "OpTable.h"
#include "Operators.h"
#include "Quantization.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Attention and QAttention
//===----------------------------------------------------------------------===//

namespace {

/// The inputs behind the projection to queries, keys and values.
struct ProjectedInputs {
  unsigned mask, past, attentionBias;
};

/// Attention that projects its input to queries, keys and values.
class ProjectedAttention : MicrosoftAttention {
public:
  ProjectedAttention(OnnxNode &node, const ProjectedInputs &inputs)
      : MicrosoftAttention(node, node.getBuilder().getF32Type()),
        inputs(inputs) {}

  void build(Value input, Value weights, Value bias);

private:
  bool check(Value input, Value weights);
  bool split(Value projected);
  void appendToPast();

  ProjectedInputs inputs;
  SmallVector<int64_t> sizes;
  int64_t past = 0;
};

} // namespace

bool ProjectedAttention::check(Value input, Value weights) {
  refuseOthers({{"do_rotary", 0}, {"past_present_share_buffer", 0}});
  if (getShape(input).size() != 3 || getShape(weights).size() != 2) {
    node.emitError() << "expects an input of rank 3 and weights of rank 2, got "
                     << input.getType() << " and " << weights.getType();
    return false;
  }
  elementType = getTensorType(input).getElementType();
  int64_t columns = getShape(weights)[1];
  sizes = node.hasAttribute("qkv_hidden_sizes")
              ? node.getInts("qkv_hidden_sizes")
              : SmallVector<int64_t>(3, columns / 3);
  if (sizes.size() != 3 || sizes[0] != sizes[1] ||
      sizes[0] + sizes[1] + sizes[2] != columns ||
      llvm::any_of(sizes, [](int64_t size) { return size < 1; }))
    node.emitError() << "the " << columns
                     << " columns of the weights are not those of queries, "
                        "keys and values";
  return !node.hasFailed();
}

bool ProjectedAttention::split(Value projected) {
  Value *parts[] = {&query, &key, &value};
  int64_t begin = 0;
  for (auto [part, size] : llvm::zip_equal(parts, sizes)) {
    *part = projected
                ? splitHeads(node.slice(projected, 2, begin, size), "num_heads")
                : nullptr;
    begin += size;
  }
  return query && key && value;
}

/// The past has keys and values in one tensor, as the output `present`.
void ProjectedAttention::appendToPast() {
  SmallVector<Value> present;
  Value given = node.getInput(inputs.past);
  SmallVector<int64_t> shape =
      given ? SmallVector<int64_t>(getShape(given)) : SmallVector<int64_t>();
  if (given && (shape.size() != 5 || shape[0] != 2)) {
    node.emitError() << "the past " << given.getType()
                     << " is not of keys and values";
    return;
  }
  Value *parts[] = {&key, &value};
  for (auto [index, part] : llvm::enumerate(parts)) {
    if (given) {
      auto before = node.slice(given, 0, static_cast<int64_t>(index), 1);
      *part = node.concat(
          {node.reshape(before, ArrayRef(shape).drop_front()), *part}, 2);
      past = shape[3];
    }
    if (!*part)
      return;
    SmallVector<int64_t> row(getShape(*part));
    row.insert(row.begin(), 1);
    present.push_back(node.isOutputUsed(1) ? node.reshape(*part, row) : *part);
  }
  if (node.isOutputUsed(1))
    node.setOutput(1, node.concat(present, 0));
}

void ProjectedAttention::build(Value input, Value weights, Value bias) {
  if (!input || !weights || !check(input, weights))
    return;
  Value projected = multiplyMatrices(node, input, weights);
  if (bias)
    projected = add(projected, bias);
  if (!split(projected))
    return;
  appendToPast();
  if (node.hasFailed())
    return;
  scores = computeScores(getScale());
  Value sum;
  addMask(sum, inputs.mask);
  addCausalMask(sum, past);
  addAttentionBias(sum, inputs.attentionBias);
  setResult(sum);
}

void importMicrosoftAttention(OnnxNode &node) {
  if (node.hasInput(6)) {
    node.emitError() << "the input past_sequence_length is not supported";
    return;
  }
  ProjectedAttention(node, {/*mask=*/3, /*past=*/4, /*attentionBias=*/5})
      .build(node.getInput(0), node.getInput(1), node.getInput(2));
}

void importQAttention(OnnxNode &node) {
  Value input = dequantizeWhole(node, 0, 3, 6);
  Value weights = input ? dequantize(node, {1, 4, 7, /*axis=*/1}) : nullptr;
  constexpr unsigned kNone = 9; // behind all inputs
  ProjectedAttention(node, {/*mask=*/5, /*past=*/8, /*attentionBias=*/kNone})
      .build(input, weights, node.getInput(2));
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

namespace {

class MultiHeadAttention : MicrosoftAttention {
public:
  explicit MultiHeadAttention(OnnxNode &node)
      : MicrosoftAttention(node,
                           getTensorType(node.getInput(0)).getElementType()) {}

  void build();

private:
  enum Input { Query, Key, Val, Bias, Mask, AttentionBias, PastKey, PastValue };

  bool readParts();
  Value unpack(Input input, int64_t index);
  Value getHeads(Input input);
  Value addProjectionBias(Value part, int64_t begin);
  void addProjectionBiases();
  Value append(Input past, Value part);
};

} // namespace

/// Takes one of the tensors that are packed in the fourth dimension.
Value MultiHeadAttention::unpack(Input input, int64_t index) {
  Value packed = node.getInput(input);
  SmallVector<int64_t> shape(getShape(packed));
  if (index >= shape[3]) {
    node.emitError() << "the packed input " << packed.getType() << " has "
                     << shape[3] << " parts, expected more than " << index;
    return nullptr;
  }
  Value part = node.reshape(node.slice(packed, 3, index, 1),
                            {shape[0], shape[1], shape[2], shape[4]});
  return node.transpose(part, {0, 2, 1, 3});
}

/// Keys and values of rank 4 have their heads first already.
Value MultiHeadAttention::getHeads(Input input) {
  Value given = node.getInput(input);
  size_t rank = given ? getShape(given).size() : 0;
  if (rank == 4 && input != Query)
    return given;
  if (rank == 3)
    return splitHeads(given, "num_heads");
  node.emitError() << "input " << static_cast<int>(input)
                   << " is missing or does not have the rank 3";
  return nullptr;
}

bool MultiHeadAttention::readParts() {
  auto isPacked = [&](Input input) {
    return node.hasInput(input) && getShape(node.getInput(input)).size() == 5;
  };
  if (isPacked(Query)) {
    query = unpack(Query, 0);
    key = unpack(Query, 1);
    value = unpack(Query, 2);
  } else {
    query = getHeads(Query);
    key = isPacked(Key) ? unpack(Key, 0) : getHeads(Key);
    value = isPacked(Key) ? unpack(Key, 1) : getHeads(Val);
  }
  return query && key && value && !node.hasFailed();
}

/// Adds the part of the bias from `begin` on, a number for each channel.
Value MultiHeadAttention::addProjectionBias(Value part, int64_t begin) {
  ArrayRef<int64_t> shape = getShape(part);
  int64_t size = shape[1] * shape[3];
  Value bias = node.getInput(Bias);
  if (getShape(bias).size() != 1 || getShape(bias)[0] < begin + size) {
    node.emitError() << "the bias " << bias.getType()
                     << " is not that of queries, keys and values";
    return part;
  }
  return add(part, node.reshape(node.slice(bias, 0, begin, size),
                                {1, shape[1], 1, shape[3]}));
}

/// Keys and values that come with their heads have their bias already.
void MultiHeadAttention::addProjectionBiases() {
  if (!node.hasInput(Bias))
    return;
  int64_t hidden = numHeads() * getShape(query)[3];
  auto isDone = [&](Input input) {
    return node.hasInput(input) && getShape(node.getInput(input)).size() == 4;
  };
  query = addProjectionBias(query, 0);
  if (!isDone(Key))
    key = addProjectionBias(key, hidden);
  if (!isDone(Val))
    value = addProjectionBias(value, 2 * hidden);
}

Value MultiHeadAttention::append(Input past, Value part) {
  return node.hasInput(past) ? node.concat({node.getInput(past), part}, 2)
                             : part;
}

void MultiHeadAttention::build() {
  refuseInputs(8, {"past_sequence_length", "cache_indirection"});
  if (node.hasInput(PastKey) != node.hasInput(PastValue))
    node.emitError() << "only one of past_key and past_value is there";
  if (node.hasInput(PastKey) && getShape(node.getInput(PastKey)).size() != 4)
    node.emitError() << "past_key is " << node.getInput(PastKey).getType()
                     << ", expected the rank 4";
  if (node.hasFailed() || !readParts())
    return;
  addProjectionBiases();
  int64_t past =
      node.hasInput(PastKey) ? getShape(node.getInput(PastKey))[2] : 0;
  key = append(PastKey, key);
  value = append(PastValue, value);
  if (!query || !key || !value)
    return;
  scores = computeScores(getScale());
  Value sum;
  addMask(sum, Mask);
  addCausalMask(sum, past);
  addAttentionBias(sum, AttentionBias);
  setResult(sum);
  node.setOutput(1, key);
  node.setOutput(2, value);
}

void importMultiHeadAttention(OnnxNode &node) {
  MultiHeadAttention(node).build();
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

/// The positions as batch x positions. One number is the position of the first
/// query. Null after an error.
static Value readPositions(OnnxNode &node, int64_t batches, int64_t count) {
  Value given = node.convert(node.getInput(1), node.getBuilder().getI64Type());
  if (!given || getShape(given) == ArrayRef<int64_t>({batches, count}))
    return given;
  if (multiply(getShape(given)) != 1) {
    node.emitError() << "the positions " << node.getInput(1).getType()
                     << " do not fit " << batches << " x " << count;
    return nullptr;
  }
  Value places = node.reshape(node.createRange(count), {1, count});
  return node.broadcast(node.create<AddOp>(places, node.reshape(given, {1, 1})),
                        {batches, count});
}

/// Returns the input as batch x positions x heads x channels. Without a number
/// of heads, each has the channels that the caches have angles for. Null after
/// an error.
static Value splitRotated(OnnxNode &node, int64_t angles) {
  Value input = node.getInput(0);
  SmallVector<int64_t> shape(getShape(input));
  if (shape.size() == 4)
    return node.transpose(input, {0, 2, 1, 3});
  int64_t heads = node.getInt("num_heads", 0);
  if (heads == 0 && shape.size() == 3 && angles > 0)
    heads = shape[2] / (2 * angles);
  if (shape.size() == 3 && heads > 0 && shape[2] % heads == 0)
    return node.reshape(input, {shape[0], shape[1], heads, shape[2] / heads});
  node.emitError() << "the input " << input.getType() << " does not have "
                   << heads << " heads";
  return nullptr;
}

/// ONNX Runtime ignores the scale.
void importMicrosoftRotaryEmbedding(OnnxNode &node) {
  if (node.getBool("is_packed_batching", false))
    node.emitError() << "attribute 'is_packed_batching' is 1, expected 0";
  Value cos = node.getInput(2), sin = node.getInput(3);
  if (getShape(cos).size() != 2) {
    node.emitError() << "the cache " << cos.getType()
                     << " does not have the rank 2";
    return;
  }
  Value x = splitRotated(node, getShape(cos)[1]);
  if (!x)
    return;
  SmallVector<int64_t> shape(getShape(node.getInput(0)));
  int64_t channels = getShape(x)[3];
  int64_t width = readRotatedWidth(node, channels);
  if (node.hasFailed())
    return;
  Value positions = readPositions(node, getShape(x)[0], getShape(x)[1]);
  if (!positions)
    return;
  Value rotated = rotate(node, x,
                         {selectAngles(node, cos, positions),
                          selectAngles(node, sin, positions),
                          node.getBool("interleaved", false)},
                         width);
  node.setOutput(0, shape.size() == 3 ? node.reshape(rotated, shape)
                                      : node.transpose(rotated, {0, 2, 1, 3}));
}

} // namespace tarpon
